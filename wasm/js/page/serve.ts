import { within } from './requests.ts'
import { toWire } from '../shared/errors.ts'
import { RegistryError } from '../shared/registry-error.ts'
import type { Attached, Begun, ListedTool, Request, ToHost, ToPage } from '../shared/protocol.ts'
import { toolParts, toolsEvents } from '../shared/toolparts.ts'
import type * as types from '../shared/types.ts'

/** A registry without getTools and toolsFor: the other end offers its tools to models. */
type Registry = Omit<types.Registry, 'getTools' | 'toolsFor'>

/**
 * The other end of connectRegistry, for any registry. An options page or a side panel uses the registry of a
 * background script in this way.
 */
export function serve(registry: Registry, channel: types.Channel): () => void {
  const running = new Map<number, AbortController>()
  /** The skills that the other end has loaded, by its number. */
  const loaded = new Map<number, types.Skill>()
  let known: types.Snapshot | undefined
  let lists: Lists = new Map()
  let post = (m: ToPage) => channel.post(m)

  const update = () => {
    const now = registry.getSnapshot()
    if (now === known) return
    const before = lists
    lists = byServer(now)
    for (const server of new Set([...before.keys(), ...lists.keys()])) {
      const was = before.get(server) ?? []
      const list = lists.get(server) ?? []
      if (was.length === list.length && was.every((marked, i) => isSame(marked, list[i]!))) continue
      for (const event of toolsEvents(server, toolParts(list.map(listed)))) post(event)
    }
    const servers: Record<string, types.Snapshot['servers'][string] | null> = {}
    for (const [name, s] of Object.entries(now.servers)) if (known?.servers[name] !== s) servers[name] = s
    for (const name in known?.servers) if (!now.servers[name]) servers[name] = null
    known = now
    post({ event: 'state', status: now.status, servers, warnings: now.warnings })
  }

  let stop = () => {}
  const answer = async (m: Request): Promise<unknown> => {
    if (m.method === 'attach') {
      stop()
      known = undefined
      lists = new Map()
      update()
      stop = registry.subscribe(update)
      return {
        version: registry.version,
        rememberSecrets: registry.rememberSecrets,
        project: registry.project,
        resultBytes: Number.MAX_SAFE_INTEGER,
        callTimeoutMs: 3_600_000,
      } satisfies Attached
    }
    const ends = new AbortController()
    const { id, timeoutMs } = m as Request & { timeoutMs?: number }
    running.set(id, ends)
    // A long call has the deadline of this end, where it stands still while a person is asked. A short one needs none.
    const half = timeoutMs && setTimeout(() => post({ id, waits: true }), timeoutMs / 2)
    try {
      return await perform(registry, loaded, m, ends.signal, (progress) => post({ id, progress }))
    } finally {
      clearTimeout(half)
      running.delete(id)
      update()
    }
  }
  channel.onmessage = (raw) => {
    const m = raw as ToHost
    if ('cancel' in m) return running.get(m.cancel)?.abort()
    if (!('id' in m)) return
    if (m.method === 'close') return end()
    answer(m).then(
      (result) => post({ id: m.id, result: result ?? null }),
      (e: unknown) => post({ id: m.id, error: toWire(e) }),
    )
  }
  const refuse = (id: number) => {
    const error = new RegistryError('closed', 'the registry is not served any more')
    try {
      channel.post({ id, error: toWire(error) } satisfies ToPage)
    } catch { /* the channel is gone */ }
  }
  const end = () => {
    stop()
    post = () => {}
    channel.onmessage = (m) => 'method' in (m as ToHost) && refuse((m as Request).id)
    for (const [id, ends] of running) {
      refuse(id)
      ends.abort()
    }
  }
  return end
}

/** The most skills that the other end may go on with. */
const mostLoaded = 50

async function perform(
  registry: Registry,
  loaded: Map<number, types.Skill>,
  m: Request,
  signal: AbortSignal,
  onProgress: (p: types.ToolProgress & { log?: types.LogEntry }) => void,
): Promise<unknown> {
  switch (m.method) {
    case 'addServer':
    case 'updateServer':
      return registry[m.method](m.name, m.config as types.ServerConfig, scopeOf(m))
    case 'removeServer':
    case 'retry':
    case 'signOut':
      return registry[m.method](m.name)
    case 'renameServer':
      return registry.renameServer(m.name, m.to)
    case 'signIn':
      return registry.signIn(m.name, { signal })
    case 'setEnabled':
      return registry.setEnabled(m.name, m.enabled, scopeOf(m))
    case 'discover':
      return void await registry.discover(m.names, { signal })
    case 'approveTools':
      return registry.approveTools(m.name, m.tools)
    case 'approvePrompts':
      return registry.approvePrompts(m.name, m.prompts)
    case 'approveSkills':
      return registry.approveSkills(m.name, m.skills)
    case 'approveInstructions':
      return registry.approveInstructions(m.name, m.instructions?.[0])
    case 'approvals':
      return registry.approvals()
    case 'forgetApprovals':
      return registry.forgetApprovals(m.server)
    case 'readResult':
      return registry.readResult(m.handle, m.range)
    case 'call': {
      const { timeoutMs, attempts, trace, callId } = m, app = m.app as string | undefined
      const options = {
        signal,
        timeoutMs,
        attempts,
        trace,
        callId,
        app,
        onProgress: m.progress ? onProgress : undefined,
      }
      if (!m.detach) return bare(await registry.call(m.name, m.args, options))
      const task = await registry.call(m.name, m.args, { ...options, detach: true })
      const { server, tool, taskId, status, startedAt, expiresAt } = task
      if (!taskId) return bare(await task.wait())
      return { server, tool, task: { taskId, status, ttl: expiresAt && expiresAt - startedAt } } satisfies Begun
    }
    case 'tasks':
      return (await registry.tasks()).map(({ wait: _, cancel: __, ...info }) => info)
    case 'waitTask':
      return bare(await (await taskOf(registry, m)).wait({ signal, callId: m.callId, onProgress }))
    case 'cancelTask':
      return (await taskOf(registry, m)).cancel()
    case 'resources':
    case 'resourceTemplates':
    case 'prompts':
    case 'skills':
    case 'instructions':
      return registry[m.method]({ signal, servers: m.servers })
    case 'heldPrompts':
      return registry.prompts({ signal, servers: m.servers, held: true })
    case 'heldSkills':
      return registry.skills({ signal, servers: m.servers, held: true })
    case 'getSkill': {
      const skill = await registry.getSkill(m.name, m.uri, { signal, held: m.review })
      loaded.set(m.held, skill)
      if (loaded.size > mostLoaded) loaded.delete(loaded.keys().next().value!)
      const { read: _, list: __, ...rest } = skill
      return rest
    }
    case 'useSkill': {
      const skill = loaded.get(m.held)
      if (!skill) throw new RegistryError('gone', 'the skill is not held any more', { hint: 'Load it again.' })
      return m.list ? skill.list(m.path, { signal }) : skill.read(m.path, { signal })
    }
    case 'readResource':
      return registry.readResource(m.name, m.uri, { signal, callId: m.callId })
    case 'getPrompt':
      return registry.getPrompt(m.name, m.args, { signal, callId: m.callId, format: m.format as types.Dialect })
    case 'complete': {
      const { ref, argument: { name, value }, context } = m.params
      return registry.complete({
        server: m.name,
        argument: name,
        value,
        context: context?.arguments,
        ...(ref.type === 'ref/prompt' ? { prompt: ref.name } : { template: ref.uri }),
      }, { signal })
    }
    case 'subscribeResource': {
      const stop = await registry.subscribeResource(m.name, m.uri, () => onProgress({ progress: 1 }))
      onProgress({ progress: 1 })
      return untilAborted(signal, stop)
    }
    case 'logs':
      return registry.logs({ signal, servers: m.servers, level: m.level })
    case 'followLogs':
      return untilAborted(
        signal,
        registry.observe(({ log }) => log && onProgress({ progress: 1, log }), { logs: true }),
      )
    default:
      throw new RegistryError('forbidden', `${m.method} is for the registry's owner`)
  }
}

const scopeOf = ({ scope }: types.ScopeOptions): types.ScopeOptions | undefined => (scope ? { scope } : undefined)

/** A result as the reply to a call. */
function bare({ content, structuredContent, _meta, provenance: _, ...rest }: types.ToolResult): object {
  return { ...rest, value: { content, structuredContent, _meta } }
}

async function taskOf(
  registry: Registry,
  { name, taskId }: { name: string; taskId: string },
): Promise<types.TaskHandle> {
  const task = (await registry.tasks()).find((t) => t.taskId === taskId && t.server === name)
  if (!task) throw new RegistryError('gone', 'the task is not known', { server: name })
  return task
}

/** Rejects when the request is aborted, and calls `stop` then. */
const untilAborted = (signal: AbortSignal, stop: () => void): Promise<never> =>
  within(signal, new Promise<never>(() => {})).finally(stop)

interface Marked {
  info: types.ToolInfo
  /** The pin of `info`, which may come later. */
  pin: string | undefined
  list: 'tools' | 'withheld' | 'held'
}

/** The tools of a snapshot by server. */
type Lists = Map<string, Marked[]>

const isSame = (a: Marked, b: Marked) => a.info === b.info && a.pin === b.pin && a.list === b.list

function listed({ info, list }: Marked): ListedTool {
  const { name, tool, original, pin, stale } = info
  // Elsewhere the getter would start a scan of a whole list.
  const flags = list === 'held'
    ? info.flags
    : Object.getOwnPropertyDescriptor(info, 'flags')?.value as types.Flag[] | undefined
  const { reason, renamedFrom, before, changes } = info as types.HeldTool
  return {
    name,
    tool,
    definition: original ?? info.definition, // the other end has the overrides too
    ...(pin && { pin }),
    ...(stale && { stale }),
    ...(flags && { flags }),
    ...(list === 'withheld' && { withheld: true }),
    ...(list === 'held' &&
      { held: { reason, changes, ...(renamedFrom && { renamedFrom }), ...(before && { before }) } }),
  }
}

function byServer(snapshot: types.Snapshot): Lists {
  const lists: Lists = new Map()
  for (const list of ['tools', 'withheld', 'held'] as const) {
    for (const info of snapshot[list]) {
      const marked = { info, pin: info.pin, list }
      const others = lists.get(info.server)
      if (others) others.push(marked)
      else lists.set(info.server, [marked])
    }
  }
  return lists
}
