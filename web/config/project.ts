import { RegistryError } from '../../wasm/js/shared/registry-error.ts'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { maxText } from './draft.ts'
import { fill } from './placeholders.ts'
import { readConfig } from './read.ts'
import type { FileHandle, FolderHandle, ProjectFile } from './types.ts'
import { headerNames, writeConfig } from './write.ts'

/** The files of a project's folder that may hold its servers, in this order. */
const names = ['.mcp.json', '.wiggum/mcp.json', '.vscode/mcp.json']

/** Adds the servers of a project's file to a registry. New ones are off until the user switches them on. */
export async function openProject(
  registry: Registry,
  source: string | FileHandle | FolderHandle,
): Promise<ProjectFile> {
  if (!(registry as Registry | undefined)?.project)
    throw fault('the registry has no project', 'Create it with the option project, or connect to one that has it.')
  const { text, file } = typeof source === 'string' ? { text: source, file: undefined } : await fileOf(source)
  const { entries, kind, problem } = readConfig(text)
  const code = kind === 'empty' ? kind : problem?.code
  if (code && code !== 'too_many')
    throw fault(`the project's file cannot be read: ${code}`, 'Compare it with docs/recipes.md.')
  const found: ProjectFile = { added: [], changed: [], missing: [], skipped: [], headers: Object.create(null), save }
  const { servers } = registry.getSnapshot()
  for (const entry of entries) {
    const { name } = entry
    if (!entry.config) {
      found.skipped.push(name)
      continue
    }
    const { headers: written = {}, ...rest } = entry.config
    const { headers = {} } = fill(entry)
    const missing = Object.keys(written).filter((header) => !headers[header])
    if (missing.length) found.headers[name] = missing
    const config = { ...rest, ...(Object.keys(headers).length && { headers }) }
    const known = servers[name]?.scope === 'project' ? servers[name] : undefined
    if (known?.config.url === config.url) continue
    // The file is another person's text: its servers wait for the user, who sees name and host.
    try {
      if (known) await registry.updateServer(name, { ...config, enabled: false })
      else await registry.addServer(name, { ...config, enabled: false }, { scope: 'project' })
    } catch (e) {
      if ((e as RegistryError).code !== 'invalid_config') throw e
      found.skipped.push(name)
      continue
    }
    found[known ? 'changed' : 'added'].push({ name, host: new URL(config.url).host })
  }
  const named = new Set(entries.map((e) => e.name))
  for (const [name, { scope }] of Object.entries(servers))
    if (scope === 'project' && !named.has(name)) found.missing.push(name)
  return found

  /** Writes the project's servers without secrets. */
  async function save(): Promise<string> {
    const now = Object.entries(registry.getSnapshot().servers).filter(([, s]) => s.scope === 'project')
    const text = writeConfig(Object.fromEntries(now.map(([name, { config }]) => {
      const given = headerNames(config).map((header) => header.toLowerCase())
      const missing = found.headers[name]?.filter((header) => !given.includes(header.toLowerCase())) ?? []
      return [name, { ...config, enabled: true, missingHeaders: [...config.missingHeaders ?? [], ...missing] }]
    })))
    if (file) {
      const writable = await file.createWritable()
      await writable.write(text)
      await writable.close()
    }
    return text
  }
}

const fault = (message: string, hint: string) => new RegistryError('invalid_config', message, { hint })

/** The text of a file, or of the first known file of a folder. */
async function fileOf(
  source: FileHandle | FolderHandle,
): Promise<{ text: string; file: FileHandle | undefined }> {
  const kind = (source as FileHandle | null | undefined)?.kind as string | undefined
  if (kind !== 'file' && kind !== 'directory') // such as a File, or the array of showOpenFilePicker()
    throw fault('the source is neither a text nor a handle', 'Pass the text, or the handle of the file or the folder.')
  const file = source.kind === 'file' ? source : await within(source)
  if (!file) throw fault('the folder has no file with servers', `It is one of ${names.join(', ')}.`)
  const content = await file.getFile()
  if (content.size > maxText * 3) throw fault('the project’s file is too large', `It may have ${maxText} characters.`)
  return { text: await content.text(), file }
}

async function within(folder: FolderHandle): Promise<FileHandle | undefined> {
  for (const path of names) {
    const parts = path.split('/')
    try {
      let at = folder
      for (const part of parts.slice(0, -1)) at = await at.getDirectoryHandle(part)
      return await at.getFileHandle(parts.at(-1)!)
    } catch (e) {
      if ((e as Error).name !== 'NotFoundError' && (e as Error).name !== 'TypeMismatchError') throw e
    }
  }
  return undefined
}
