import { deniedError, unknownToolError } from '../../shared/wire.gen.ts'
import { toWire, type WireError } from '../../shared/errors.ts'
import { endpointOf } from '../../shared/origin.ts'
import type { Hold, PinsEvent } from '../../shared/protocol.ts'
import type { Scanner } from '../../shared/scan.ts'
import { isObject, legible } from '../../shared/json.ts'
import type { Shape } from './repair.ts'
import { closedError } from '../requests.ts'
import { type ConfigStore, pinsShape } from './storage.ts'
import type {
  Approval,
  ApprovalRequest,
  Flag,
  HeldTool,
  RedactedConfig,
  RegistryOptions,
  RememberedApproval,
  ServerConfig,
  Snapshot,
  ToolDefinition,
  ToolInfo,
} from '../../shared/types.ts'

/** The definitions of approved tools, in one text for each endpoint. */
const approvedShape: Shape = { ...pinsShape, key: 'portolan.approved' }
const answersShape: Shape = {
  key: 'portolan.approvals',
  isList: true,
  isSound: (a) => isObject(a) && ['server', 'tool', 'pin', 'approval', 'at'].every((k) => typeof a[k] === 'string'),
}

/** The bound of the stored definitions of one server, in characters. */
const mostOfServer = 256 << 10
/** The bound of the stored pins, and of the stored definitions, of all servers, in characters. */
const mostOfAll = 1 << 20

/** Writes are gathered for twice the time of the last write, but no longer than this, in ms. */
const mostGatherMs = 250

/** The longest wait of a call for the pin of its tool, in ms. */
const pinTime = 2000

/** The most stored approvals of calls. The oldest are dropped, and their tools are asked about again. */
const mostAnswers = 2000

interface StoredApproval extends RememberedApproval {
  at: string
}

/** The tools of a server: those that models may call, withheld ones and held ones. */
export interface ToolLists extends Pick<Snapshot, 'tools' | 'withheld' | 'held'> {
  /** Those that only apps of the server may call. */
  apps: ToolInfo[]
}

type Store = Pick<ConfigStore, 'storage' | 'known' | 'read' | 'servers'>

/** The storage that tabs share, and the tools of the page. */
interface Shared {
  /** Runs work while no other tab changes the storage. */
  turn<T>(work: () => Promise<T>): Promise<T>
  /** Sends the module the stored pins of an endpoint. */
  take(key: string, pins: string): void
  /** Tells other tabs that the storage has changed. */
  changed(): void
  snapshot?(): Snapshot
}

/** The approvals of a user: pins of tools, their definitions, and calls. */
export class Trust {
  readonly #store: Store
  readonly #options: Pick<RegistryOptions, 'onApprove' | 'approveAll' | 'scan'>
  readonly #shared: Shared
  /** The endpoint of each server's pins. */
  readonly #keys = new Map<string, string>()
  #writing: Promise<unknown> = Promise.resolve()
  /** The work of the next turn, and its end. */
  #next: ((t: Turn) => Promise<void>)[] = []
  #turn: Promise<void> = Promise.resolve()
  #endGathering = () => {}
  #gatherMs = 0
  #answered: Promise<StoredApproval[]> | undefined
  /** Each open question checks here whether another tab has answered it. */
  readonly #open = new Set<() => void>()
  #scanner: Promise<Scanner | undefined> | undefined

  constructor(
    store: Store,
    options: Pick<RegistryOptions, 'onApprove' | 'approveAll' | 'scan'>,
    shared: Shared,
  ) {
    this.#store = store
    this.#options = options
    this.#shared = shared
  }

  /** Settles when all approvals so far are stored. Nothing is gathered any longer. */
  get saved(): Promise<unknown> {
    this.#endGathering()
    return this.#writing
  }

  /**
   * Stores pins that the module approved, and keeps those of other tabs. The approved list is the present one, whose
   * definitions are stored as well, or it comes next.
   */
  save(event: PinsEvent, present?: readonly ToolInfo[]): void {
    const { server, key } = event
    this.#keys.set(server, key)
    void this.#write(async (t) => {
      const { [key]: stored, ...others } = await t.read<Pins>(pinsShape) ?? {}
      const pins = merge(stored, event)
      const now = bounded({ ...others, [key]: pins }, this.#store.servers.values())
      if (pins !== stored) t.put(pinsShape, now)
      this.#tell(now, event)
    }, event.byUser)
    if (present) this.define(server, present)
  }

  /** Stores the approved definitions of a server. */
  define(server: string, tools: readonly ToolInfo[]): void {
    const key = this.#keys.get(server)
    if (key !== undefined)
      void this.#write(async (t) => {
        const pins = lines((await t.read<Pins>(pinsShape))?.[key] ?? '')
        // One text for each server, because most are not read.
        const { [key]: before = '', ...others } = await t.read<Record<string, string>>(approvedShape) ?? {}
        const definitions = definitionsOf(before)
        for (const t of tools)
          if (pins.get(t.tool)?.split('.')[0] === t.pin) definitions.set(t.tool, t.original ?? t.definition)
        let room = mostOfServer
        const kept = [...definitions].reverse().filter(([, d]) => room >= 0 && (room -= JSON.stringify(d).length) >= 0)
        t.put(approvedShape, bounded({ ...others, [key]: JSON.stringify(Object.fromEntries(kept.reverse())) }))
      }, false)
  }

  /** Reads the approvals of other tabs. `cleared`: the storage has none any more. */
  follow(cleared = false): Promise<void> {
    return this.#queue(async () => {
      const answers = await this.#store.read<StoredApproval[]>(answersShape)
      if (answers || cleared) this.#learn(answers ?? [])
      this.#tell(await this.#store.read<Pins>(pinsShape) ?? {})
    })
  }

  /** Sends the module each stored pin set that differs from its copy. `own` is an update by the module itself. */
  #tell(all: Pins, own?: PinsEvent): void {
    const { known } = this.#store
    this.#store.known = all
    for (const [key, pins] of Object.entries(all)) {
      if (key === own?.key ? !same(pins, own.pins) : pins !== known[key]) this.#shared.take(key, pins)
    }
  }

  /** Held tools with their approved definitions, if known. `was` is the server's list before. */
  async before(server: string, held: readonly (HeldTool & Hold)[], was: ToolLists | undefined): Promise<HeldTool[]> {
    let stored: Promise<Map<string, ToolDefinition>> | undefined
    const known = async (tool: string) => {
      const listed = was?.tools.find((t) => t.tool === tool)
      const seen = listed?.original ?? listed?.definition ??
        was?.held.find((t) => (t.renamedFrom ?? t.tool) === tool)?.before
      if (seen) return seen
      stored ??= this.#store.read<Record<string, string>>(approvedShape).then((texts) =>
        definitionsOf(texts?.[this.#keys.get(server) ?? held[0]!.key ?? ''] ?? '')
      )
      return (await stored).get(tool)
    }
    return Promise.all(held.map(async ({ key, ...h }) => {
      if (key) this.#keys.set(server, key)
      const before = h.before ?? (h.reason === 'new' ? undefined : await known(h.renamedFrom ?? h.tool))
      return this.#scanned({ ...h, ...(before && { before }) })
    }))
  }

  /** Scans a tool that a person reviews when its flags are read. */
  async #scanned<T extends ToolInfo>(tool: T): Promise<T> {
    if (this.#options.scan) return tool // it is scanned anyway
    // Without the scanner, a person sees the flags for hidden text only.
    const scanner =
      await (this.#scanner ??= import('../../shared/scan.ts').then((m) => new m.Scanner(), () => undefined))
    scanner?.watch(tool, () => this.#shared.snapshot?.().tools ?? [])
    return tool
  }

  /**
   * The error of a call that is not allowed. Undefined if the tool may be called as it is now. `leaks` are flags of
   * secrets in the arguments: the user is asked in any case then, and the answer is not remembered.
   */
  async admit(
    find: () => ToolInfo | undefined,
    name: string,
    args: string,
    configOf: (server: string) => RedactedConfig | undefined,
    signal: AbortSignal | undefined,
    subscribe: (listener: () => void) => () => void,
    leaks: Flag[] = [],
  ): Promise<WireError | undefined> {
    for (;;) {
      const tool = find()
      const config = tool && configOf(tool.server)
      if (!config)
        return {
          ...unknownToolError,
          message: `unknown tool: ${name.slice(0, 200)}`,
        }
      const trusted = config.trust === 'trust'
      if (!leaks.length && trusted && (!this.#options.approveAll || tool.definition.annotations?.readOnlyHint === true))
        return undefined
      // A first list comes without pins, and an answer is stored with its tool's pin.
      if (!tool.pin) await until(() => tool.pin || find() !== tool, subscribe, pinTime, signal)
      if (signal?.aborted) return undefined
      if (find() !== tool) continue
      const over = () => this.#over(tool)
      const denied = await this.#ask(tool, args, config, signal, leaks, (end) => subscribe(() => over() && end()))
      const gone = over()
      if (gone) return gone
      if (denied)
        return { ...deniedError, message: denied, server: tool.server }
      if (find()?.pin === tool.pin) return undefined
    }
  }

  /** The reason why no answer about a tool is needed any more. */
  #over({ server, name }: ToolInfo): WireError | undefined {
    const servers = this.#shared.snapshot?.().servers
    if (!servers) return undefined
    if (!servers[server]) return { ...unknownToolError, message: `the server of ${name} was removed`, server }
    return servers[server].errorCode === 'closed' ? toWire(closedError()) : undefined
  }

  async #ask(
    tool: ToolInfo,
    args: string,
    config: RedactedConfig,
    signal: AbortSignal | undefined,
    leaks: Flag[],
    whenOver: (end: () => void) => () => void,
  ): Promise<string | undefined> {
    const remembers = config.trust !== 'ask-always' && !leaks.length
    const at = endpointOf(config.url), pin = tool.pin ?? ''
    const isMine = (a: StoredApproval) => a.at === at && a.tool === tool.tool && a.server === tool.server
    const known = async () => (remembers && pin
      ? (await this.#answers()).find((a) => isMine(a) && a.pin === pin)?.approval
      : undefined)
    const earlier = await known()
    if (earlier) return earlier === 'always' ? undefined : 'the user never allows this tool'
    const { flags = [] } = await this.#scanned({ ...tool })
    if (signal?.aborted) return undefined
    const ends = new AbortController()
    let look = () => {}, abort = () => {}
    // Ends the question if the call or the registry ends, or if another call or tab got a lasting answer to it.
    const moot = new Promise<Approval>((resolve) => {
      const end = (a: Approval) => {
        ends.abort()
        resolve(a)
      }
      abort = () => end('deny')
      signal?.addEventListener('abort', abort)
      look = () => void known().then((a) => a && end(a))
    })
    this.#open.add(look)
    const unsubscribe = whenOver(abort)
    let approval
    try {
      approval = await Promise.race([
        this.#options.onApprove!({
          server: tool.server,
          tool: tool.tool,
          name: tool.name,
          args: legible(args) as ApprovalRequest['args'],
          annotations: tool.definition.annotations ?? {},
          trusted: config.trust === 'trust',
          pin,
          description: tool.definition.description ?? '',
          flags: [...leaks, ...flags],
          signal: ends.signal,
        }),
        moot,
      ])
    } catch (e) {
      return `the approval failed: ${toWire(e).message}`
    } finally {
      this.#open.delete(look)
      unsubscribe()
      signal?.removeEventListener('abort', abort)
    }
    if (remembers && pin && !ends.signal.aborted && (approval === 'always' || approval === 'never')) {
      const answer: StoredApproval = { server: tool.server, tool: tool.tool, pin, approval, at }
      await this.change((answers) => [...answers.filter((a) => !isMine(a)), answer].slice(-mostAnswers))
    }
    return approval === 'once' || approval === 'always' ? undefined : 'the user did not allow this call'
  }

  async approvals(): Promise<RememberedApproval[]> {
    return (await this.#answers()).map(({ at: _, ...answer }) => answer)
  }

  forget(server?: string): Promise<void> {
    return this.change((answers) => (server === undefined ? [] : answers.filter((a) => a.server !== server)))
  }

  #answers(): Promise<StoredApproval[]> {
    return this.#answered ??= this.#store.read<StoredApproval[]>(answersShape).then((a) => a ?? [])
  }

  #learn(answers: StoredApproval[]): void {
    this.#answered = Promise.resolve(answers)
    for (const look of this.#open) look()
  }

  /** Changes the remembered answers. */
  change(fn: (answers: StoredApproval[]) => StoredApproval[]): Promise<void> {
    return this.#write(async (t) => {
      // Other tabs may have changed it. Without a storage, memory counts.
      const now = fn(await t.read<StoredApproval[]>(answersShape) ?? await this.#answers())
      this.#learn(now)
      t.put(answersShape, now)
    }, true)
  }

  /**
   * Gathers writes for one turn. Fifty servers that are listed at once lead to a few writes, and pins are stored with
   * their definitions. An answer of the user does not wait.
   */
  #write(work: (t: Turn) => Promise<void>, byUser: boolean): Promise<void> {
    if (this.#next.push(work) === 1) {
      const gathered = new Promise<void>((resolve) => {
        this.#endGathering = resolve
        setTimeout(resolve, this.#gatherMs)
      })
      this.#turn = this.#queue(() =>
        gathered.then(() =>
          this.#shared.turn(async () => {
            const t = new Turn(this.#store), began = performance.now()
            for (const next of this.#next.splice(0)) await next(t).catch(() => {})
            if (await t.end()) this.#shared.changed()
            this.#gatherMs = Math.min(2 * (performance.now() - began), mostGatherMs)
          })
        )
      )
    }
    if (byUser) this.#endGathering()
    return this.#turn
  }

  #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work).catch(() => {}) // a storage that is full or forbidden keeps nothing
    this.#writing = done
    return done
  }
}

/** Waits for an event after which `is` holds, but not longer than `ms` or until the signal aborts. */
function until(
  is: () => unknown,
  subscribe: (listener: () => void) => () => void,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      unsubscribe()
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const unsubscribe = subscribe(() => is() && end())
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}

/** The storage during one turn: each value is read once and written once. */
class Turn {
  readonly #store: Pick<ConfigStore, 'storage' | 'read'>
  readonly #values = new Map<Shape, unknown>()
  readonly #changed = new Set<Shape>()

  constructor(store: Pick<ConfigStore, 'storage' | 'read'>) {
    this.#store = store
  }

  async read<T extends object>(shape: Shape): Promise<T | undefined> {
    if (!this.#values.has(shape)) this.#values.set(shape, await this.#store.read(shape))
    return this.#values.get(shape) as T | undefined
  }

  put(shape: Shape, value: unknown): void {
    this.#values.set(shape, value)
    this.#changed.add(shape)
  }

  /** Writes the changed values. True if other tabs have to read them. */
  async end(): Promise<boolean> {
    let matters = false
    for (const shape of this.#changed) {
      try {
        await this.#store.storage.set(shape.key, JSON.stringify(this.#values.get(shape)))
        matters ||= shape !== approvedShape
      } catch { /* it is full or forbidden, and keeps nothing */ }
    }
    return matters
  }
}

/** Pins by endpoint, as registry/approvals writes them: a line for each tool, one without a name, one of seen names. */
type Pins = Record<string, string>

/** Stands in place of a tool's name before the hashes of all names that were new or forgotten. */
const seenName = '\x7f'

const lines = (pins: string) =>
  new Map(Array.from(pins.matchAll(/([^\t\n]*)\t([^\n]*)/g), ([, tool, pin]) => [tool!, pin!]))

/** The stored pins of an endpoint with the module's new ones. */
function merge(stored: string | undefined, { pins, fresh, byUser }: PinsEvent): string {
  if (!stored) return pins
  const ours = lines(pins), all = lines(stored)
  for (const tool of fresh) {
    const pin = ours.get(tool)
    if (pin === undefined) all.delete(tool)
    else if (byUser || !all.has(tool)) all.set(tool, pin)
  }
  const seen = [ours, all].flatMap((p) => p.get(seenName)?.split(' ') ?? [])
  if (seen.length) all.set(seenName, [...new Set(seen)].sort().join(' '))
  // The fingerprint belongs to a list with exactly our pins.
  all.delete('')
  const print = ours.get('')
  ours.delete('')
  if (print && alike(ours, all)) all.set('', print)
  return [...all].map(([tool, pin]) => `${tool}\t${pin}\n`).join('')
}

/** Drops the oldest texts until the others have room. Those of the servers stay. */
function bounded(texts: Record<string, string>, servers: Iterable<ServerConfig> = []) {
  let excess = Object.values(texts).join('').length - mostOfAll
  const kept = Array.from(servers, ({ url }) => endpointOf(url))
  return Object.fromEntries(
    Object.entries(texts).filter(([key, text]) => excess <= 0 || kept.includes(key) || void (excess -= text.length)),
  )
}

const same = (a: string, b: string) => alike(lines(a), lines(b))

function alike(a: Map<string, string>, b: Map<string, string>): boolean {
  return a.size === b.size && [...a].every(([tool, pin]) => b.get(tool) === pin)
}

/** Stored definitions. A tool may have a name that every object has. */
function definitionsOf(text: string): Map<string, ToolDefinition> {
  let stored: Record<string, ToolDefinition> | null | undefined
  try {
    stored = JSON.parse(text)
  } catch { /* none yet, or damaged: then a person sees no approved definition */ }
  return new Map(Object.entries(stored ?? {}).filter(([, d]) => isObject(d)))
}
