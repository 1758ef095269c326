import { applyEdits, modify } from 'jsonc-parser'
import { RegistryError } from '../../wasm/js/shared/registry-error.ts'
import type { RedactedConfig, Registry } from '../../wasm/js/shared/types.ts'
import { maxText } from './draft.ts'
import { withoutSecrets } from './headers.ts'
import { get, isObject, parseJSON, type JsonObject } from './json.ts'
import { fill, idsOf, missing as inputsOf } from './placeholders.ts'
import { readConfig } from './read.ts'
import { read as readFields } from './server.ts'
import type { Entry, FileHandle, FolderHandle, ProjectFile, Reading } from './types.ts'
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
  /** The project's servers as they were when the file was read or written last. */
  let settled = new Map<string, string>()
  const projectsNow = () => Object.entries(registry.getSnapshot().servers).filter(([, s]) => s.scope === 'project')
  const formsNow = () => new Map(projectsNow().map(([name, { config }]) => [name, formOf(config)]))
  const found: ProjectFile = { added: [], changed: [], missing: [], skipped: [], headers: Object.create(null), save }
  const { servers } = registry.getSnapshot()
  for (const entry of entries) {
    const { name } = entry
    // Without a value in its url, a server would be another one.
    if (!entry.config || inputsOf(entry, {}).some((input) => !input.header)) {
      found.skipped.push(name)
      continue
    }
    const config = fill(entry)
    const missing = openHeaders(entry)
    if (missing.length) found.headers[name] = missing
    const known = servers[name]?.scope === 'project' ? servers[name] : undefined
    described.add(name)
    if (known?.config.url === config.url) continue
    // The file is another person's text: its servers wait for the user, who sees name and host.
    try {
      if (known) {
        // The user has trusted another address.
        const isTrusted = known.config.trust === 'trust'
        await registry.updateServer(name, { ...config, enabled: false, ...(isTrusted && { trust: 'ask-on-change' }) })
      } else await registry.addServer(name, { ...config, enabled: false }, { scope: 'project' })
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
  settled = formsNow()
  return found

  /** Writes the project's servers without secrets into the file as it is now. */
  async function save(): Promise<string> {
    const before = await textNow()
    const { kind, entries } = read(before)
    const forms = formsNow()
    const now = new Map(
      projectsNow().map(([name, { config }]) => {
        const given = headerNames(config).map((header) => header.toLowerCase())
        const missing = found.headers[name]?.filter((header) => !given.includes(header.toLowerCase())) ?? []
        return [name, { ...config, enabled: true, missingHeaders: [...config.missingHeaders ?? [], ...missing] }]
      }),
    )
    const written = writeConfig(Object.fromEntries(now), kind === 'vscode' ? kind : 'mcpServers')
    const isKept = (entry: Entry) =>
      isWithoutSecrets(entry) &&
      (forms.get(entry.name) === settled.get(entry.name) || isAs(entry, now.get(entry.name)!))
    const text = kind === 'vscode' || kind === 'mcp-json'
      ? replaced(before, entries, written, isKept, described)
      : written
    for (const name of now.keys()) described.add(name)
    if (file) {
      const writable = await file.createWritable()
      await writable.write(text)
      await writable.close()
    }
    settled = forms
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

/** The headers of an entry whose values it leaves open. */
function openHeaders(entry: Entry): string[] {
  const { headers = {} } = fill(entry)
  return Object.keys(entry.config?.headers ?? {}).filter((header) => !headers[header])
}

/**
 * The text of a file with the servers of `written` in place of the `described` ones. A server that is kept stays as it
 * is written there, and so does all else. `entries` are those of the file.
 */
function replaced(
  before: string,
  entries: readonly Entry[],
  written: string,
  isKept: (entry: Entry) => boolean,
  described: ReadonlySet<string>,
): string {
  const { mcpServers, servers, inputs = [] } = JSON.parse(written) as Record<'mcpServers' | 'servers', JsonObject> & {
    inputs?: JsonObject[]
  }
  const parsed = parseJSON(before)
  const old = 'value' in parsed ? parsed.value : undefined
  if (!isObject(old)) return written
  const member = servers && !get(old, 'mcpServers') ? 'servers' : 'mcpServers'
  const left = new Map(Object.entries(servers ?? mcpServers) as [string, JsonObject][])
  const formattingOptions = { insertSpaces: !/^\t/m.test(before), tabSize: 2 }
  let text = before
  const put = (path: (string | number)[], value: unknown) => {
    text = applyEdits(text, modify(text, path, value, { formattingOptions }))
  }
  const all = Object.entries(get(old, member) ?? {}).filter((e): e is [string, JsonObject] => isObject(e[1]))
  for (const [i, [key, was]] of all.entries()) {
    const entry = entries[i]
    const server = entry && left.get(entry.name)
    if (server && !isKept(entry)) put([member, key], merged(was, entry, server))
    else if (entry && !server && described.has(entry.name)) put([member, key], undefined)
    if (server) left.delete(entry.name)
  }
  for (const [name, server] of left) put([member, name], server)
  const known = get(old, 'inputs')
  for (const input of inputs) {
    const isKnown = Array.isArray(known) && known.some((i) => get(i, 'id') === input['id'])
    if (!isKnown && text.includes(`\${input:${String(input['id'])}}`)) put(['inputs', -1], input)
  }
  return text
}

/** A server as a file describes it: without values of headers, and whether it is on. */
const formOf = (c: RedactedConfig): string => {
  const missingHeaders = headerNames(c).map((header) => header.toLowerCase()).sort()
  return writeConfig({ '': { ...c, headers: {}, missingHeaders, enabled: true } })
}

/** Whether the file's entry says what the registry has. */
const isAs = (entry: Entry, config: RedactedConfig): boolean =>
  formOf({ ...fill(entry), missingHeaders: openHeaders(entry) }) === formOf(config)

/** Whether the file's entry has a server, and no value that may be a secret. */
const isWithoutSecrets = ({ config }: Entry): boolean =>
  !!config && Object.values(config.headers ?? {}).every((value) => idsOf(value).length) &&
  withoutSecrets(config.url, () => '') === config.url

/** A changed server with those members of the file that Portolan does not read, and with the file's placeholders. */
function merged(was: JsonObject, { config }: Entry, server: JsonObject): JsonObject {
  const others = Object.entries(was).filter(([field]) => !readFields.includes(field))
  const placeholders = new Map(
    Object.entries(config?.headers ?? {}).filter(([, value]) => idsOf(value).length)
      .map(([header]) => [header.toLowerCase(), get(get(was, 'headers'), header)]),
  )
  const headers = Object.entries(server['headers'] ?? {}).map(([header, value]) => [
    header,
    placeholders.get(header.toLowerCase()) ?? value,
  ])
  return { ...Object.fromEntries(others), ...server, ...(headers.length && { headers: Object.fromEntries(headers) }) }
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
