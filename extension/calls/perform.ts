import type { LargeResults } from './results.ts'
import { ToolFault, type Client, type Tool, type ToolCall, type ToolOutput } from '../tools/tool.ts'
import type { ActivityLog } from './activity.ts'
import type { Approvals, Outcome } from './approvals.ts'
import type { Clients } from './clients.ts'

interface CallRooms {
  clients: Clients
  approvals: Approvals
  activity: ActivityLog
  results: LargeResults
  stopped(): boolean
  tool(name: string): Tool | undefined
}

/** Admits calls, carries them out, and logs them. */
export class Performer {
  private readonly running = new Set<AbortController>()
  private readonly rooms: CallRooms

  constructor(rooms: CallRooms) {
    this.rooms = rooms
  }

  /** Stops all calls. */
  stop(): void {
    for (const control of this.running) control.abort()
  }

  /**
   * Carries out a call if the user lets that client. Failures of the tool and refusals are results. `tool` is by
   * default the offered one of the name.
   */
  async perform(
    name: string,
    args: Record<string, unknown>,
    client: Client,
    clientSignal: AbortSignal,
    caller: Pick<ToolCall, 'progress' | 'elicit' | 'sample'>,
    tool = this.rooms.tool(name),
  ): Promise<ToolOutput> {
    const { activity, results, stopped } = this.rooms
    const control = new AbortController()
    const signal = AbortSignal.any([clientSignal, control.signal])
    this.running.add(control)
    const text = `${client.name} calls ${name}`
    const id = activity.add({ kind: 'call', client: client.name, tool: name, outcome: 'running', text })
    try {
      if (stopped()) throw new ToolFault('STOPPED', `${stoppedText} They can go on in its side panel.`)
      if (!tool) throw new ToolFault('UNKNOWN_TOOL', `There is no tool ${name} any more.`)
      const call: ToolCall = { id, tool: name, args, client, signal, ...caller }
      await this.admit(tool, call)
      const output = await inTime(tool, call, control)
      const failed = signal.aborted ? 'cancelled' : 'error'
      activity.end(id, { outcome: output.isError ? failed : 'ok' })
      return results.fit(output, client.key, !!tool.outputSchema)
    } catch (e) {
      const fault = e instanceof ToolFault ? e : new ToolFault('', (e as Error).message || 'The tool failed.')
      const cancelled = signal.aborted && fault.code !== 'TIMEOUT'
      const failed = fault.code === 'DENIED' ? 'denied' : 'error'
      activity.end(id, { outcome: cancelled ? 'cancelled' : failed, code: fault.code })
      return failure(cancelled && stopped() ? new ToolFault('STOPPED', stoppedText) : fault)
    } finally {
      this.running.delete(control)
    }
  }

  /** Destructive tools ask, unless the user has decided for that client. */
  private async admit(tool: Tool, call: ToolCall): Promise<void> {
    const { clients, approvals } = this.rooms
    const { key, name } = call.client
    const scope = tool.scope && `${tool.name} ${await tool.scope(call)}`
    const ofTool = clients.grant(key, tool.name) ?? clients.grant(key, tool.of ?? '')
    const ofScope = scope && ofTool !== 'deny' ? clients.grant(key, scope) : undefined
    const grant = ofScope ?? ofTool ?? (tool.annotations?.destructiveHint ? 'ask' : 'allow')
    if (grant === 'allow') return
    if (grant === 'deny') throw new ToolFault('DENIED', `The person does not let ${name} use ${tool.name}.`)
    call.progress(0, undefined, 'Waiting for the person to allow this in the side panel of Portolan')
    const summary = await tool.summary?.(call).catch(() => undefined) ?? `Use ${tool.title ?? tool.name}`
    const outcome = await approvals.ask(call, summary, tool.flags?.(call))
    const decided = outcome === 'always' ? 'allow' : outcome === 'never' && 'deny'
    // A decision that cannot be stored is asked for again.
    if (decided) void clients.setGrant(key, scope ?? tool.name, decided).catch(() => {})
    const refusal = refusals[outcome]
    if (refusal) throw new ToolFault('DENIED', refusal)
  }
}

/**
 * Runs a tool. Ends it with the code TIMEOUT if it neither answers nor reports progress for `tool.idleMs`.
 */
async function inTime(tool: Tool, call: ToolCall, control: AbortController): Promise<ToolOutput> {
  if (!tool.idleMs) return tool.run(call)
  const late = Promise.withResolvers<never>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      late.reject(new ToolFault('TIMEOUT', 'Timeout waiting for extension response'))
      control.abort()
    }, tool.idleMs)
  }
  wait()
  const progress: ToolCall['progress'] = (...report) => {
    wait()
    call.progress(...report)
  }
  try {
    return await Promise.race([tool.run({ ...call, progress }), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const stoppedText = 'The person stopped everything in the extension.'

const refusals: Partial<Record<Outcome, string>> = {
  deny: 'The person said no.',
  never: 'The person said no.',
  expired: 'Nobody answered in the side panel of Portolan. Ask the person to open it, and try again.',
  gone: 'The question could not be put to the person.',
}

/** Returns a fault as a result. The text ends with the code, and `_meta` has the details for programs. */
export function failure({ code, message, details }: ToolFault): ToolOutput {
  return {
    isError: true,
    content: [{ type: 'text', text: code ? `${message} (${code})` : message }],
    ...(code && { _meta: { 'portolan/error': { code, ...details } } }),
  }
}
