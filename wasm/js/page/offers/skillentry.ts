import { fromBase64, toBase64 } from '../../shared/base64.ts'
import { isObject } from '../../shared/object.ts'
import { plain } from '../../shared/plaintext.ts'
import type * as types from '../../shared/types.ts'
import { cleanly } from '../cleanly.ts'

// The entry of a server's skill, and the paths of its files (SEP-2640).

/** The least that every host takes, and the most of this one (SEP-2640, Limits): files of a skill, and their bytes. */
export const mostFiles = 512, mostBytes = 16 << 20

/** An entry that may be loaded. `frontmatter` is as the server sent it. */
export interface Entry extends Pick<types.SkillInfo, 'server' | 'uri' | 'name' | 'frontmatter'> {
  /** The URI of the directory, without a slash at the end. */
  root: string
  files: Map<string, types.SkillEntry> | undefined
  pin: string
  info: types.SkillInfo
  /** That of its server, see Skills.#stateOf. */
  state: string
  /** The files of a dynamic skill that were read: the bytes of each URI. */
  sizes: Map<string, number>
}

/** The server's words about a skill: `info` is clean, `frontmatter` is as the server sent it. */
export interface Known {
  info: types.SkillInfo
  frontmatter: Record<string, unknown>
}

export const noDigests = 'this page cannot compute digests'

export const rootOf = (uri: string) => uri.slice(0, uri.lastIndexOf('/'))

export const pathIn = ({ root }: Pick<Entry, 'root'>, uri: string) => uri.slice(root.length + 1)

const hexDigest = /^sha256:[0-9a-f]{64}$/

/** A skill's name: what the rules of Agent Skills allow, and a little more. */
const nameRule = /^[\p{L}\p{N}._-]{1,64}$/u

/** Undefined if it cannot be shown: its URI, name or description is not there, or its URI has hidden characters. */
export async function knownOf(server: string, definition: Record<string, unknown>): Promise<Known | undefined> {
  const flags: types.Flag[] = []
  const { uri, frontmatter } = cleanly(definition, flags)
  if (typeof uri !== 'string' || uri !== definition['uri'] || !isObject(frontmatter)) return undefined
  const { name, description } = frontmatter
  if (typeof name !== 'string' || typeof description !== 'string' || !name || !description) return undefined
  const raw = definition['frontmatter'] as Known['frontmatter']
  const files = filesIn(uri, definition['resources'])
  const refused = nameFault(uri, raw['name'] as string) ??
    (typeof files === 'string' && files !== 'dynamic' ? files : undefined)
  const info = { server, uri, name, description, frontmatter, ...(flags.length && { flags }) }
  if (refused !== undefined) return { frontmatter: raw, info: { ...info, files: [], refused } }
  const pin = await pinOf(uri, files as types.SkillInfo['files'], raw)
  const state = pin ? { pin } : { refused: noDigests } // without a pin nobody can approve it
  return { frontmatter: raw, info: { ...info, files: files as types.SkillInfo['files'], ...state } }
}

/**
 * The subject of an approval: the URI and the digest of each file (SEP-2640, Content-bound approval). Models see the
 * name and the description before the frontmatter is compared, so these count too. Undefined in a page that is not
 * secure.
 */
async function pinOf(
  skill: string,
  files: types.SkillInfo['files'],
  frontmatter: Known['frontmatter'],
): Promise<string | undefined> {
  if (!globalThis.crypto?.subtle) return undefined
  const { name, description } = frontmatter
  const lines = files === 'dynamic'
    ? [files, skill, JSON.stringify(frontmatter)]
    : [JSON.stringify([name, description]), ...files.map(({ uri, digest }) => JSON.stringify([uri, digest])).sort()]
  return toBase64(await sha256(new TextEncoder().encode(lines.join('\n'))))
    .replaceAll('+', '-').replaceAll('/', '_').replace('=', '')
}

export const keyOf = ({ server, uri }: { server: string; uri: string }) => JSON.stringify([server, uri])

/** The reason why the name of a skill and its URI do not fit. */
function nameFault(uri: string, name: string): string | undefined {
  const path = /^[a-z][a-z0-9+.-]*:\/{0,3}(.*)$/is.exec(uri)?.[1]?.split('/') ?? []
  if (!nameRule.test(name)) return 'the name is not as Agent Skills want it'
  if (path.at(-1) !== 'SKILL.md' || !path.every(isPlain)) return 'the URI is not that of a SKILL.md'
  return decoded(path.at(-2) ?? '') === name ? undefined : 'the name is not that of the directory in the URI'
}

/** The files of an entry, or why they are refused. */
function filesIn(uri: string, resources: unknown): types.SkillEntry[] | string {
  if (resources === 'dynamic') return resources
  if (!Array.isArray(resources)) return 'the entry does not say which files the skill has'
  if (resources.length > mostFiles) return `the skill has ${resources.length} files, and at most ${mostFiles} are taken`
  const root = rootOf(uri), files = new Map<string, types.SkillEntry>()
  let bytes = 0
  for (const file of resources as unknown[]) {
    if (!isObject(file)) return 'an entry of a file is no object'
    const { uri, digest, size } = file
    if (typeof uri !== 'string' || !uri.startsWith(`${root}/`) || !isInside(uri, root) || plain(uri).at >= 0)
      return 'a file is not in the directory of the skill'
    if (files.has(uri)) return 'a file is listed twice'
    if (typeof digest !== 'string' || !hexDigest.test(digest)) return 'a file has no sound digest'
    if (!Number.isSafeInteger(size) || size as number < 0) return 'a file has no sound size'
    bytes += size as number
    files.set(uri, { path: pathIn({ root }, uri), uri, digest, size: size as number })
  }
  if (bytes > mostBytes) return `the files have ${bytes} bytes, and at most ${mostBytes} are taken`
  return files.has(uri) ? [...files.values()] : 'the entry does not list its SKILL.md'
}

/** Whether a part of a path leads nowhere else. */
const isPlain = (part: string) => !!part && !/[\\?#\s]/.test(part) && !/^\.{1,2}$|[/\\]/.test(decoded(part))

/** Whether the path of a URI below a directory leads nowhere else. */
export const isInside = (uri: string, root: string) => uri.slice(root.length + 1).split('/').every(isPlain)

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return '..' // no name at all
  }
}

/** The URI of a path relative to the skill's directory, or of a URI in it. Undefined if it leads out of it. */
export function uriIn({ root, files }: Entry, path: string): string | undefined {
  if (path.startsWith(`${root}/`)) return isInside(path, root) ? path : undefined
  if (/^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(path)) return undefined
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && !parts.length) return undefined
    if (part === '..') parts.pop()
    else if (part && part !== '.') parts.push(part)
  }
  if (!parts.length) return root
  const plainly = `${root}/${parts.join('/')}`
  if (files?.has(plainly)) return plainly
  const uri = `${root}/${parts.map((part) => encodeURIComponent(decoded(part))).join('/')}`
  const found = files?.has(uri) || !isInside(plainly, root) ? uri : plainly
  return isInside(found, root) ? found : undefined
}

export function bytesOf({ text, blob }: types.ResourceContents): Uint8Array<ArrayBuffer> | undefined {
  if (text !== undefined) return new TextEncoder().encode(text)
  try {
    return fromBase64(blob!)
  } catch {
    return undefined
  }
}

/** The text of a file; undefined if it is no text in UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

export const sha256 = async (bytes: Uint8Array<ArrayBuffer>) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

export const hex = (bytes: Uint8Array) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
