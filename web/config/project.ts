import { applyEdits, modify } from 'jsonc-parser'
import { RegistryError } from '../../wasm/js/shared/registry-error.ts'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { maxText } from './draft.ts'
import { get, isObject, parseJSON, type JsonObject } from './json.ts'
import { fill } from './placeholders.ts'
import { readConfig } from './read.ts'
import type { FileHandle, FolderHandle, ProjectFile, Reading } from './types.ts'
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
  const file = typeof source === 'string' ? undefined : await fileOf(source)
  const textNow = async () => (file ? textOf(file) : source as string)
  const { entries } = read(await textNow())
  /** The servers that the file has described. */
  const described = new Set<string>()
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
    described.add(name)
    if (known?.config.url === config.url) continue
    // The file is another person's text: its servers wait for the user, who sees name and host.
    try {
      if (known) await registry.updateServer(name, { ...config, enabled: false })
      else await registry.addServer(name, { ...config, enabled: false }, { scope: 'project' })
    } catch (e) {
      if ((e as RegistryError).code !== 'invalid_config') throw e
      described.delete(name)
      found.skipped.push(name)
      continue
    }
    found[known ? 'changed' : 'added'].push({ name, host: new URL(config.url).host })
  }
  const named = new Set(entries.map((e) => e.name))
  for (const [name, { scope }] of Object.entries(servers))
    if (scope === 'project' && !named.has(name)) found.missing.push(name)
  return found

  /** Writes the project's servers without secrets into the file as it is now. */
  async function save(): Promise<string> {
    const before = await textNow()
    const { kind } = read(before)
    const now = Object.entries(registry.getSnapshot().servers).filter(([, s]) => s.scope === 'project')
    const written = writeConfig(
      Object.fromEntries(now.map(([name, { config }]) => {
        const given = headerNames(config).map((header) => header.toLowerCase())
        const missing = found.headers[name]?.filter((header) => !given.includes(header.toLowerCase())) ?? []
        return [name, { ...config, enabled: true, missingHeaders: [...config.missingHeaders ?? [], ...missing] }]
      })),
      kind === 'vscode' ? kind : 'mcpServers',
    )
    const text = kind === 'vscode' || kind === 'mcp-json' ? replaced(before, written, described) : written
    for (const [name] of now) described.add(name)
    if (file) {
      const writable = await file.createWritable()
      await writable.write(text)
      await writable.close()
    }
    return text
  }
}

/** Reads a project's file. Throws if it cannot be read, or is empty. */
function read(text: string): Reading {
  const reading = readConfig(text)
  const code = reading.kind === 'empty' ? reading.kind : reading.problem?.code
  if (code && code !== 'too_many')
    throw fault(`the project's file cannot be read: ${code}`, 'Compare it with docs/recipes.md.')
  return reading
}

/** The text of a file with the servers of `written` in place of the `described` ones. All else in it stays. */
function replaced(before: string, written: string, described: ReadonlySet<string>): string {
  const { mcpServers, servers, inputs = [] } = JSON.parse(written) as Record<'mcpServers' | 'servers', JsonObject> & {
    inputs?: JsonObject[]
  }
  const [member, now] = servers ? ['servers', servers] as const : ['mcpServers', mcpServers] as const
  const parsed = parseJSON(before)
  const old = 'value' in parsed ? parsed.value : undefined
  if (!isObject(old)) return written
  const formattingOptions = { insertSpaces: !/^\t/m.test(before), tabSize: 2 }
  let text = before
  const put = (path: (string | number)[], value: unknown) => {
    text = applyEdits(text, modify(text, path, value, { formattingOptions }))
  }
  for (const [key, server] of Object.entries(get(old, member) ?? {})) {
    const [entry] = readConfig(JSON.stringify({ [member]: { [key]: server } })).entries
    if (entry && described.has(entry.name) && !Object.hasOwn(now, key)) put([member, key], undefined)
  }
  for (const [name, server] of Object.entries(now)) put([member, name], server)
  const known = get(old, 'inputs')
  for (const input of inputs)
    put(['inputs', Array.isArray(known) ? known.findIndex((i) => get(i, 'id') === input['id']) : -1], input)
  return text
}

const fault = (message: string, hint: string) => new RegistryError('invalid_config', message, { hint })

/** The file, or the first known one of a folder. */
async function fileOf(source: FileHandle | FolderHandle): Promise<FileHandle> {
  const kind = (source as FileHandle | null | undefined)?.kind as string | undefined
  if (kind !== 'file' && kind !== 'directory') // such as a File, or the array of showOpenFilePicker()
    throw fault('the source is neither a text nor a handle', 'Pass the text, or the handle of the file or the folder.')
  const file = source.kind === 'file' ? source : await within(source)
  if (!file) throw fault('the folder has no file with servers', `It is one of ${names.join(', ')}.`)
  return file
}

async function textOf(file: FileHandle): Promise<string> {
  const content = await file.getFile()
  if (content.size > maxText * 3) throw fault('the project’s file is too large', `It may have ${maxText} characters.`)
  return content.text()
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
