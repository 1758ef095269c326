import { ToolFault, type Client, type Tool, type ToolCall, type ToolOutput } from '../tools/tool.ts'
import type { ActivityLog } from './activity.ts'
import type { Approvals } from './approvals.ts'
import type { Clients } from './clients.ts'

export interface Desk {
  clients: Clients
  approvals: Approvals
  activity: ActivityLog
  stopped(): boolean
  tool(name: string): Tool | undefined
}

/** Calls under way, so that one switch ends them all. */
export class Performer {
  private readonly desk: Desk
  private readonly running = new Set<AbortController>()

  constructor(desk: Desk) {
    this.desk = desk
  }

  /** Ends all calls. */
  stop(): void {
    for (const ends of this.running) ends.abort()
  }

  /** Carries out a call, if the person lets that client. Never rejects for what the tool or the person did. */
  async perform(
    name: string,
    args: Record<string, unknown>,
    client: Client,
    signal: AbortSignal,
    caller: Pick<ToolCall, 'progress' | 'elicit'>,
  ): Promise<ToolOutput> {
    const { desk } = this
    const tool = desk.tool(name)
    const ends = new AbortController()
    signal.addEventListener('abort', () => ends.abort())
    if (signal.aborted) ends.abort()
    this.running.add(ends)
    const entry = desk.activity.add({
      kind: 'call',
      client: client.key,
      tool: name,
      outcome: 'running',
      text: `${client.name} calls ${name}`,
    })
    try {
      if (desk.stopped())
        throw new ToolFault(
          'STOPPED',
          'The person stopped everything in the extension. They can go on in its side panel.',
        )
      if (!tool) throw new ToolFault('UNKNOWN_TOOL', `There is no tool ${name} any more.`)
      const call: ToolCall = { id: entry, tool: name, args, client, signal: ends.signal, ...caller }
      await this.admit(tool, call)
      const output = await tool.run(call)
      desk.activity.end(entry, { outcome: output.isError ? 'error' : 'ok' })
      return output
    } catch (e) {
      const fault = e instanceof ToolFault ? e : new ToolFault('', (e as Error).message || 'The tool failed.')
      const cancelled = ends.signal.aborted
      desk.activity.end(entry, {
        outcome: cancelled ? 'cancelled' : fault.code === 'DENIED' ? 'denied' : 'error',
        code: fault.code || undefined,
      })
      if (cancelled && desk.stopped())
        return failure(new ToolFault('STOPPED', 'The person stopped everything in the extension.'))
      return failure(fault)
    } finally {
      this.running.delete(ends)
    }
  }

  /** S11, S12: destructive tools ask, unless the person has decided for that client. */
  private async admit(tool: Tool, call: ToolCall): Promise<void> {
    const { client } = call
    const grant = this.desk.clients.grant(client.key, tool.name) ??
      (tool.annotations?.destructiveHint ? 'ask' : 'allow')
    if (grant === 'allow') return
    if (grant === 'deny') throw denied(`The person does not let ${client.name} use ${tool.name}.`)
    call.progress(0, undefined, 'Waiting for the person to allow this in the side panel of Portolan')
    const summary = await tool.summary?.(call).catch(() => undefined) ?? `Use ${tool.title ?? tool.name}`
    const answer = await this.desk.approvals.ask(call, summary)
    if (answer === 'always') this.desk.clients.setGrant(client.key, tool.name, 'allow')
    if (answer === 'never') this.desk.clients.setGrant(client.key, tool.name, 'deny')
    if (answer === 'once' || answer === 'always') return
    if (answer === 'expired')
      throw denied('Nobody answered in the side panel of Portolan. Ask the person to open it, and try again.')
    if (answer === 'gone') throw denied('The question could not be put to the person.')
    throw denied('The person said no.')
  }
}

const denied = (message: string) => new ToolFault('DENIED', message)

/** Text ends with the code; `_meta` has what a program can use. */
export function failure(fault: ToolFault): ToolOutput {
  return {
    isError: true,
    content: [{ type: 'text', text: fault.code ? `${fault.message} (${fault.code})` : fault.message }],
    ...(fault.code && { _meta: { 'portolan/error': { code: fault.code, ...fault.details } } }),
  }
}
