import { toBase64 } from '../../shared/base64.ts'
import { isObject } from '../../shared/object.ts'
import { excerptAt, plain } from '../../shared/plaintext.ts'
import { fromWire, type WireError } from '../../shared/errors.ts'
import type { Called, OfferReply } from '../../shared/protocol.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import type { Scanner } from '../../shared/scan.ts'
import type * as types from '../../shared/types.ts'
import { invalidSkillError, unknownSkillError } from '../../shared/wire.gen.ts'
import { checkName, checkNames } from '../checkrequest.ts'
import { checkFields } from '../../shared/fields.ts'
import { frontmatterFault } from './frontmatter.ts'
import { arrayOf, checkText, isContents, originAt, valueOf } from './offered.ts'
import {
  bytesOf,
  hex,
  isInside,
  keyOf,
  knownOf,
  mostBytes,
  mostFiles,
  noDigests,
  pathIn,
  rootOf,
  sha256,
  textOf,
  uriIn,
  type Entry,
  type Known,
} from './skillentry.ts'
import { fenced, filesOf, indexOf, lineOf, saidOf, saidOfIndex } from './skilltext.ts'
import { skillTools } from '../models/toolnames.ts'
import { aborted, type Requests } from '../requests.ts'
import type { Results } from '../models/results.ts'

// Skills of servers (SEP-2640). A skill is text of a stranger: it is checked against its entry, and never executed.

/** The registry, as far as the part uses it. */
export interface SkillSource {
  requests: Requests
  /** Another realm owns the registry and has made the results. */
  remote: boolean
  results(): Promise<Results>
  resultBytes(): number
  snapshot(): types.Snapshot
  scanner: Scanner | undefined
  /** The flags for secrets in arguments for a server. Throws where they are blocked. */
  leaks(args: string, server: string): types.Flag[] | undefined
  /** The error of a call that the user does not allow. */
  admit(tool: types.ToolInfo, args: string, signal: AbortSignal | undefined): Promise<WireError | undefined>
}

/** The bounds of a directory of a dynamic skill. */
const mostPages = 20, mostChildren = 1000

/** The most skills that models go on with, and the most bytes of kept files. */
const mostActing = 100, mostKept = 4 << 20

/** The most entries of skills/get that are kept beside the lists. */
const mostAsked = 100

/** The time that an entry of skills/get counts as current if the server does not say it, in ms. */
const leastMs = 1000

/** The most characters of a URI that a server is asked for. */
const mostUri = 8 << 10

/** The hint for a skill that is held. */
const heldHint = 'Look at skills({ held: true }), and approve it: approveSkills(server).'

type Options = { signal?: AbortSignal | undefined }

export class Skills {
  readonly #source: SkillSource
  /** The entries that models have loaded, by server and URI. */
  readonly #acting = new Map<string, Entry>()
  /** Entries of skills/get, in place of listed ones whose pin was `over`. They are current until a time, in ms. */
  readonly #asked = new Map<string, { known: Known; over: string | undefined; state: string; until: number }>()
  /** Files that were read, by server, its connection, URI and digest. */
  readonly #kept = new Map<string, { bytes: Uint8Array<ArrayBuffer>; mimeType: string | undefined }>()
  #keptBytes = 0
  #last = 0

  constructor(source: SkillSource) {
    this.#source = source
  }

  /** The state that a loaded skill depends on: the server's address, and a signed-in user. "" while it is off. */
  #stateOf(server: string): string {
    const { status = 'disabled', config, signIn } = this.#source.snapshot().servers[server] ?? {}
    return status === 'disabled' ? '' : `${config!.url} ${signIn === 'signed-in'}`
  }

  /** The connection, on which kept answers depend too. Another one may be that of another user. */
  #connectionOf(server: string): string {
    return `${this.#stateOf(server)} ${this.#source.snapshot().servers[server]?.lastConnected}`
  }

  #checkState({ server, name, state }: Entry): void {
    if (state !== this.#stateOf(server))
      throw new RegistryError('gone', `${server} has changed since ${name} was loaded`, {
        server,
        hint: 'Load the skill again.',
      })
  }

  async list(
    options: types.ListOptions & { held?: boolean; format?: 'text' } = {},
  ): Promise<types.SkillInfo[] | string> {
    checkFields('skills', options, 'servers signal held format')
    const { servers, signal, held, format } = options
    checkNames('servers', servers)
    if (format !== undefined && (format !== 'text' || held))
      throw new RegistryError('invalid_option', "format is 'text', and not for skills that are held")
    const infos = await this.#infos(!!held, servers, signal)
    return format === 'text' ? indexOf(infos) : infos
  }

  async #infos(
    held: boolean,
    servers: string[] | undefined,
    signal: AbortSignal | undefined,
  ): Promise<types.SkillInfo[]> {
    if (this.#source.remote) {
      const method = held ? 'heldSkills' : 'skills'
      return this.#source.requests.ask({ method, servers }, { signal })
    }
    return (await this.#listed(servers, signal)).map((known) => known.info).filter((s) => !!s.held === held)
  }

  /** The skills of servers, with what skills/get has said of them since the list came. */
  async #listed(servers: string[] | undefined, signal: AbortSignal | undefined): Promise<Known[]> {
    const reply = await this.#source.requests.ask<OfferReply[]>(
      { method: 'skills', servers },
      { signal },
    )
    const listed = new Map<string, Known>()
    for (const offer of reply) {
      const known = await knownOf(offer.server, offer.definition)
      if (known) listed.set(keyOf(known.info), known)
    }
    for (const [key, { known, over, state }] of this.#asked) {
      const { server } = known.info
      if (servers && !servers.includes(server)) continue
      if (state === this.#connectionOf(server) && listed.get(key)?.info.pin === over) listed.set(key, known)
      else this.#asked.delete(key)
    }
    return this.#reviewed([...listed.values()], signal)
  }

  /** Asks the module which skills are held. Those of a server that was removed meanwhile are left out. */
  async #reviewed(all: Known[], signal: AbortSignal | undefined): Promise<Known[]> {
    const names = [...new Set(all.map(({ info }) => info.server))]
    const reviewed = await Promise.all(names.map(async (name) => {
      const known = all.filter(({ info }) => info.server === name)
      const skills = known.flatMap(({ info: { uri, pin } }) => pin ? [uri, pin] : [])
      const request = this.#source.requests.ask<string[]>({ method: 'reviewSkills', name, skills }, { signal })
      const reasons = await request.catch((e: RegistryError) => {
        if (e.code !== 'unknown_server') throw e
      })
      return reasons ? known.map((k) => k.info.pin ? heldFor(k, reasons.shift()) : k) : []
    }))
    return reviewed.flat()
  }

  async approve(server: string, skills?: string[]): Promise<void> {
    checkName(server)
    checkNames('skills', skills)
    const { requests, remote } = this.#source
    if (remote) return requests.ask({ method: 'approveSkills', name: server, ...(skills && { skills }) })
    const held = await this.#infos(true, [server], undefined)
    const isNamed = ({ uri, pin }: types.SkillInfo, name: string) => name === uri || name === `pin:${pin}`
    const chosen = skills ? held.filter((s) => skills.some((name) => isNamed(s, name))) : held
    const missing = skills?.find((name) => !held.some((s) => isNamed(s, name)))
    if (missing !== undefined) {
      throw missing.startsWith('pin:')
        ? new RegistryError('held', 'it is another version than the one that was shown', {
          server,
          hint: heldHint,
        })
        : new RegistryError('unknown_skill', 'not all of these are held', { server, hint: unknownSkillError.hint })
    }
    const list = chosen.flatMap(({ uri, pin }) => [uri, pin!])
    const reasons = await requests.ask<string[]>({ method: 'reviewSkills', name: server, skills: list, approve: true })
    const left = reasons.filter(Boolean).length
    if (left)
      throw new RegistryError('too_large', `there is no room to keep the approvals of ${left} skills`, {
        server,
        hint: "Set the server's trust to 'trust', or ask its maker for fewer skills.",
      })
  }

  async get(server: string, skill: string, options: Options & { held?: boolean } = {}): Promise<types.Skill> {
    checkName(server)
    checkText('skill', skill)
    checkFields('getSkill', options, 'signal held')
    const { signal, held: review = false } = options
    if (!this.#source.remote) return this.#load(await this.#uriOf(server, skill, signal), server, signal, review)
    const { requests } = this.#source
    const held = ++this.#last
    const request = { method: 'getSkill', name: server, uri: skill, held, review } as const
    const rest = await requests.ask<types.Skill>(request, { signal })
    return {
      ...rest,
      ...methods((path, signal, list) => requests.ask<never>({ method: 'useSkill', held, path, list }, { signal })),
    }
  }

  /** The URI of a skill that is named by it, or by its name. A name that several skills have decides nothing. */
  async #uriOf(server: string, skill: string, signal: AbortSignal | undefined): Promise<string> {
    if (skill.includes(':')) return skill
    const found = (await this.#listed([server], signal)).flatMap(({ info }) => info.name === skill ? [info] : [])
    if (found.length === 1) return found[0]!.uri
    const uris = found.flatMap((s) => s.held ? [] : [s.uri]).slice(0, 10).join(', ').slice(0, 2000)
    const shown = JSON.stringify(skill.slice(0, 100))
    throw new RegistryError(
      'unknown_skill',
      found.length
        ? `${server} has several skills ${shown}: ${uris || 'all are held'}`
        : `${server} lists no skill ${shown}`,
      { server, hint: found.length ? 'Name it by its URI.' : unknownSkillError.hint },
    )
  }

  /**
   * Loads a skill, with `review` one that is held too. If its content is not what the entry says, the entry may be old:
   * it is asked for again, once.
   */
  async #load(
    uri: string,
    server: string,
    signal: AbortSignal | undefined,
    review: boolean,
    admit: (entry?: Entry) => Promise<void> = async () => {},
  ): Promise<types.Skill> {
    const entry = await this.#entry(server, uri, signal, review, false, admit)
    try {
      await admit(entry)
      return await this.#read(entry, signal)
    } catch (e) {
      if (!isStale(e)) throw e
      const now = await this.#renewed(entry, e, signal, review)
      await admit(now)
      return this.#read(now, signal)
    }
  }

  async #entry(
    server: string,
    uri: string,
    signal: AbortSignal | undefined,
    review: boolean,
    fresh = false,
    admit = async () => {},
  ): Promise<Entry> {
    const found = (await this.#listed([server], signal).catch((e: RegistryError) => {
      if (e.code !== 'server_error') throw e
      return [] // skills/get may do what skills/list does not
    })).find(({ info }) => info.uri === uri)
    if (!found) await admit() // the server may have given the URI, or a model has invented it
    const { until = Infinity } = this.#asked.get(keyOf({ server, uri })) ?? {}
    const isOld = fresh || performance.now() >= until
    const { info, frontmatter } = !found || isOld ? await this.#ask(server, uri, found, signal) : found
    const { name, files, pin, refused, held } = info
    if (refused === noDigests) throw new RegistryError('unsupported', refused, { hint: 'Serve it over https.' })
    if (refused !== undefined) throw invalid(server, refused)
    if (held && !review) throw new RegistryError('held', `the skill ${name} is ${held}`, { server, hint: heldHint })
    return {
      server,
      uri,
      root: rootOf(uri),
      name,
      frontmatter,
      pin: pin!,
      info,
      files: files === 'dynamic' ? undefined : new Map(files.map((f) => [f.uri, f])),
      state: this.#stateOf(server),
      sizes: new Map(),
    }
  }

  /** Asks the server for an entry, in place of what it has listed. */
  async #ask(server: string, uri: string, listed: Known | undefined, signal: AbortSignal | undefined): Promise<Known> {
    if (uri.length > mostUri) throw new RegistryError('unknown_skill', 'the URI of the skill is too long', { server })
    const key = keyOf({ server, uri })
    const before = this.#asked.get(key)
    const answer = await this.#source.requests.ask<Called>({ method: 'askSkill', name: server, params: { uri } }, {
      signal,
    }).catch((e: RegistryError) => {
      if (e.code === 'unknown_skill') this.#asked.delete(key)
      throw e
    })
    this.#asked.delete(key)
    const { skill, ttlMs } = valueOf(answer)
    const known = isObject(skill) && skill['uri'] === uri ? await knownOf(server, skill) : undefined
    if (!known) throw invalid(server, 'the answer to skills/get is not the entry of that skill')
    const over = before ? before.over : listed?.info.pin
    const until = performance.now() + (typeof ttlMs === 'number' && ttlMs > 0 ? ttlMs : leastMs)
    this.#asked.set(key, { known, over, state: this.#connectionOf(server), until })
    if (this.#asked.size > mostAsked) this.#asked.delete(this.#asked.keys().next().value!)
    return (await this.#reviewed([known], signal))[0]!
  }

  /** The server's present entry, if it is another one. The registry holds it if it is not the approved one. */
  async #renewed(entry: Entry, fault: unknown, signal: AbortSignal | undefined, review = false): Promise<Entry> {
    const { server, uri, pin } = entry
    let now
    try {
      now = await this.#entry(server, uri, signal, review, true)
    } catch (e) {
      throw (e as RegistryError).code === 'held' ? e : fault
    }
    if (now.pin === pin) throw fault
    return now
  }

  /** The skill of an entry, once its SKILL.md is as the entry says. */
  async #read(entry: Entry, signal: AbortSignal | undefined): Promise<types.Skill> {
    const { info } = entry
    const file = await this.#file(entry, entry.uri, signal)
    const flags = [...info.flags ?? [], ...file.flags ?? []]
    return {
      ...info,
      ...file,
      ...(flags.length && { flags }),
      ...methods((path, signal, list) =>
        list ? this.#children(entry, path, signal) : this.#further(entry, path, signal)
      ),
    }
  }

  /** Another file of a held entry. After a fault the registry learns of the present entry, and may hold it. */
  async #further(entry: Entry, path: string, signal: AbortSignal | undefined): Promise<types.SkillFile> {
    const uri = uriIn(entry, path)
    if (uri === undefined || entry.files && !entry.files.has(uri))
      throw invalid(entry.server, `${JSON.stringify(path.slice(0, 200))} is no file of the skill ${entry.name}`)
    try {
      return await this.#file(entry, uri, signal)
    } catch (e) {
      if (isStale(e)) await this.#renewed(entry, e, signal)
      throw e
    }
  }

  /** A file. The frontmatter of SKILL.md is compared each time: nothing else verifies that of a dynamic skill. */
  async #file(entry: Entry, uri: string, signal: AbortSignal | undefined): Promise<types.SkillFile> {
    const { server } = entry
    const { bytes, mimeType } = await this.#bytes(entry, uri, signal)
    const raw = textOf(bytes)
    const isSkill = uri === entry.uri
    const fault = isSkill ? frontmatterFault(raw ?? '', entry.frontmatter) : undefined
    if (fault) throw invalid(server, fault)
    const { text: content, at } = raw === undefined ? { text: undefined, at: -1 } : plain(raw)
    const path = pathIn(entry, uri)
    const size = bytes.length
    const words = content ?? `[${mimeType ?? 'bytes'}, ${size} B]`
    const results = await this.#source.results()
    const whole = fenced(entry, path, words) + (isSkill ? filesOf(entry) : '')
    const { text, truncated, handle } = results.shorten(whole, this.#source.resultBytes(), saidOf(entry))
    const flags: types.Flag[] = [
      ...(at >= 0 ? [{ rule: 'hidden_text', where: '', excerpt: excerptAt(raw!, at) }] : []),
      ...(content && this.#source.scanner?.result({ content: [{ type: 'text', text: content }] }) || []),
    ]
    return {
      uri,
      path,
      ...(mimeType && { mimeType }),
      size,
      ...(content === undefined ? { blob: toBase64(bytes) } : { content }),
      text,
      provenance: { server, uri: entry.uri, origin: originAt(this.#source, server), untrusted: true },
      ...(truncated && { truncated, handle }),
      ...(flags.length && { flags }),
    }
  }

  /** The bytes of a file, which have the size and the digest of the entry. */
  async #bytes(entry: Entry, uri: string, signal: AbortSignal | undefined) {
    const { server } = entry
    this.#checkState(entry)
    const listed = entry.files?.get(uri)
    const key = JSON.stringify([server, this.#connectionOf(server), uri, listed?.digest])
    const known = this.#kept.get(key)
    if (known) return known
    const answer = await this.#source.requests.ask<Called>({ method: 'readResource', name: server, uri }, { signal })
    const contents = arrayOf(valueOf(answer)['contents']).filter(isContents)
    const found = contents.length === 1 ? contents[0] : contents.find((c) => c.uri === uri)
    const path = pathIn(entry, uri)
    const bytes = found && bytesOf(found)
    if (!bytes) throw invalid(server, `the server gives no content of ${path}`)
    const mimeType = typeof found.mimeType === 'string' ? plain(found.mimeType).text.slice(0, 100) : undefined
    if (!listed) {
      const { name, sizes } = entry
      sizes.set(uri, bytes.length)
      if (sizes.size > mostFiles || [...sizes.values()].reduce((sum, size) => sum + size) > mostBytes)
        throw invalid(server, `more than ${mostFiles} files or ${mostBytes} bytes of ${name} were read`)
      return { bytes, mimeType }
    }
    if (bytes.length !== listed.size)
      throw invalid(server, `${path} has ${bytes.length} bytes, and its entry says ${listed.size}`)
    if (`sha256:${hex(await sha256(bytes))}` !== listed.digest)
      throw invalid(server, `${path} has not the digest of its entry`)
    if (!this.#kept.has(key)) this.#keptBytes += bytes.length // another request may have read it meanwhile
    this.#kept.set(key, { bytes, mimeType })
    for (const [oldest, file] of this.#kept) {
      if (this.#keptBytes <= mostKept) break
      this.#kept.delete(oldest)
      this.#keptBytes -= file.bytes.length
    }
    return { bytes, mimeType }
  }

  /** The direct children of a directory. */
  async #children(entry: Entry, path: string, signal: AbortSignal | undefined): Promise<types.SkillEntry[]> {
    const { server, files } = entry
    this.#checkState(entry)
    const at = uriIn(entry, path.replace(/\/$/, ''))
    const fault = () => invalid(server, `${JSON.stringify(path.slice(0, 200))} is no directory of the skill`)
    if (at === undefined) throw fault()
    const children = new Map<string, types.SkillEntry>()
    const add = (uri: string, rest: Partial<types.SkillEntry>) =>
      children.set(uri, { path: pathIn(entry, uri), uri, ...rest })
    const isChild = (uri: string) => uri.startsWith(`${at}/`) && uri.length > at.length + 1 && isInside(uri, at)
    if (files) {
      for (const [uri, file] of files) {
        if (!isChild(uri)) continue
        const end = uri.indexOf('/', at.length + 1)
        if (end < 0) add(uri, file)
        else add(uri.slice(0, end), { directory: true })
      }
      if (!children.size) throw fault()
      return [...children.values()]
    }
    let cursor = ''
    for (let page = 0; page < mostPages && children.size < mostChildren; page++) {
      const answer = await this.#source.requests.ask<Called>(
        { method: 'askSkill', name: server, params: { uri: at, ...(cursor && { cursor }) }, directory: true },
        { signal },
      )
      const { resources, nextCursor } = valueOf(answer)
      for (const r of arrayOf(resources)) {
        if (!isObject(r) || typeof r['uri'] !== 'string' || children.size >= mostChildren) continue
        const { uri, size, mimeType } = r as { uri: string; size: unknown; mimeType: unknown }
        if (!isChild(uri) || uri.includes('/', at.length + 1) || plain(uri).at >= 0) continue
        if (mimeType === 'inode/directory') add(uri, { directory: true })
        else add(uri, typeof size === 'number' ? { size } : {})
      }
      if (typeof nextCursor !== 'string' || nextCursor === cursor || !nextCursor) break
      cursor = nextCursor
    }
    return [...children.values()]
  }

  /** Answers the tools with which models list and load skills. */
  async forModel(name: string, args: string, signal: AbortSignal | undefined): Promise<types.ToolResult> {
    const began = performance.now()
    // Models give null for what they leave out.
    const asked = JSON.parse(args) as Partial<Record<'server' | 'skill' | 'file', string | null>>
    const server = asked.server ?? '', skill = asked.skill ?? '', file = asked.file ?? ''
    const finish = (
      server: string,
      { text, truncated, handle, flags }: Pick<types.SkillFile, 'text' | 'truncated' | 'handle' | 'flags'>,
    ): types.ToolResult => ({
      content: [{ type: 'text', text }],
      text,
      isError: false,
      server,
      tool: name,
      durationMs: performance.now() - began,
      provenance: { server, tool: name, origin: originAt(this.#source, server), untrusted: true },
      ...(truncated && { truncated, handle: handle! }),
      ...(flags && { flags }),
    })
    if (name === skillTools[0]) {
      const text = indexOf(await this.#infos(false, server ? [server] : undefined, signal)) || 'There are no skills.'
      const { handle, ...short } = (await this.#source.results()).shorten(text, this.#source.resultBytes(), saidOfIndex)
      return finish(server || 'portolan', { ...short, ...(short.truncated && { handle }) })
    }
    checkName(server)
    checkText('skill', skill)
    const uri = await this.#uriOf(server, skill, signal)
    const key = keyOf({ server, uri })
    if (file !== '') {
      checkText('file', file)
      const entry = this.#acting.get(key)
      if (!entry)
        throw new RegistryError('unknown_skill', 'The skill is not loaded.', {
          server,
          hint: 'Load it without `file` first. The message is a text for the model.',
        })
      if (!entry.files && this.#source.leaks(args, server)?.length) await this.#admit(entry, name, args, signal)
      if (!/(?:^|\/)\.?$/.test(file)) return finish(server, await this.#further(entry, file, signal))
      const children = await this.#children(entry, file, signal)
      return finish(server, { text: fenced(entry, file, children.map(lineOf).join('\n') || 'It is empty.') })
    }
    this.#acting.delete(key)
    let entry: Entry
    const loaded = await this.#load(uri, server, signal, false, async (e) => {
      if (e) entry = e
      await this.#admit({ server, uri, ...e }, name, args, signal)
    })
    this.#acting.set(key, entry!)
    if (this.#acting.size > mostActing) this.#acting.delete(this.#acting.keys().next().value!)
    return finish(server, loaded)
  }

  /**
   * Asks whether a skill may be loaded, or without an entry whether its server may be asked for it. A remembered answer
   * is for this version; for a dynamic one there is none.
   */
  async #admit(
    { server, uri, info, pin, files }: Pick<Entry, 'server' | 'uri'> & Partial<Entry>,
    name: string,
    args: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const tool: types.ToolInfo = {
      name,
      server,
      tool: `${info ? 'skill' : 'lookup of'} ${uri}`,
      pin: info && !files ? `${pin} ${Math.random()}` : pin ?? 'lookup',
      definition: {
        name,
        description: info?.description ??
          'Asks the server for a skill that it does not list. The server gets this URI.',
        inputSchema: {},
        annotations: { title: info?.name ?? 'Look up a skill', readOnlyHint: true },
      },
      ...(info?.flags && { flags: info.flags }),
    }
    const denied = await this.#source.admit(tool, args, signal)
    if (signal?.aborted) throw aborted(signal)
    if (denied) throw fromWire(denied)
  }
}

/** The methods of a loaded skill. */
const methods = (
  use: (path: string, signal: AbortSignal | undefined, list: boolean) => Promise<unknown>,
): Pick<types.Skill, 'read' | 'list'> => {
  const checked = (list: boolean) => async (path: string, options: Options = {}): Promise<never> => {
    checkText('path', path)
    checkFields(list ? 'list' : 'read', options, 'signal')
    const { signal } = options
    if (signal?.aborted) throw aborted(signal)
    return await use(path, signal, list) as never
  }
  const list = checked(true)
  return { read: checked(false), list: (path = '', options) => list(path, options) }
}

/** A skill with the reason why it is held, if there is one. */
const heldFor = ({ info, frontmatter }: Known, reason = ''): Known => (
  { frontmatter, info: reason ? { ...info, held: reason as 'changed' | 'new' } : info }
)

const invalid = (server: string, message: string) =>
  new RegistryError(invalidSkillError.code, message, { server, hint: invalidSkillError.hint })

/** Whether the server's present entry may be another one. */
const isStale = (e: unknown) => ['invalid_skill', 'unknown_resource'].includes((e as RegistryError).code)
