import { timeout } from '../timeout.ts'
import { ToolFault, type Tool, type ToolCall, type ToolOutput } from '../tools/tool.ts'
import { annotations, object, reporter } from './tools.ts'

/** A call that goes on after chat_start returned. */
interface Job {
  client: string
  tool: string
  startedAt: number
  /** The last progress, in a sentence. */
  step: string
  control: AbortController
  output?: ToolOutput
  /** Resolves at the end; it never rejects. */
  done: Promise<void>
  endedAt?: number
}

/** Carries out a call of a tool as clients' calls are: it is admitted, stopped and logged. */
export type Perform = (
  tool: string,
  args: Record<string, unknown>,
  client: ToolCall['client'],
  signal: AbortSignal,
  caller: Pick<ToolCall, 'progress' | 'elicit' | 'sample'>,
) => Promise<ToolOutput>

/** The most calls of one client and of all that are kept, and the time after their end, in ms. */
const most = 50
const mostOfAll = 256
const mostUnderWay = 10
const kept = 3_600_000
/** Below what desktop clients wait for a result, in seconds. */
const longestWait = 50

/** Calls that clients start, and whose results they fetch later, because they wait for 60 s only. */
export class StartedCalls {
  private readonly jobs = new Map<string, Job>()
  private readonly perform: Perform

  constructor(perform: Perform) {
    this.perform = perform
  }

  /** Returns chat_start and chat_result for the chat tools. */
  tools(chatTools: Tool[]): Tool[] {
    const tools = chatTools.filter((t) => 'prompt' in propertiesOf(t))
    if (!tools.length) return []
    const names = tools.map((t) => t.name)
    return [{
      name: 'chat_start',
      title: 'Start a long chat',
      description:
        'Starts a call of another chat tool, and returns an id at once. Fetch the result with chat_result. ' +
        'For answers that take longer than a client waits for a tool. Takes the arguments of the tool that it starts.',
      annotations,
      inputSchema: object({
        tool: { type: 'string', enum: names, description: 'The tool to start' },
        ...withoutDefaults(tools),
      }, ['tool', 'prompt']),
      run: async (call) => this.start(tools, call),
    }, {
      name: 'chat_result',
      title: 'Get the result of a long chat',
      description:
        'Returns the result of a call that chat_start began, once it is there. Otherwise says how far it is: ' +
        'ask again then. Results are kept for an hour.',
      annotations: { readOnlyHint: true, openWorldHint: true },
      inputSchema: object({
        id: { type: 'string', minLength: 1, maxLength: 100, description: 'From chat_start' },
        waitSeconds: { type: 'integer', minimum: 0, maximum: longestWait, default: longestWait },
        cancel: { type: 'boolean', default: false, description: 'Ends the call' },
      }, ['id']),
      run: (call) => this.result(call),
    }]
  }

  /** Ends all calls, or those of a pairing's clients. */
  stop(pairing = ''): void {
    for (const { client, control } of this.jobs.values()) if (client.startsWith(pairing)) control.abort()
  }

  private start(chatTools: Tool[], call: ToolCall): ToolOutput {
    this.tidy(call.client.key)
    const { tool: name, ...args } = call.args
    const tool = chatTools.find((t) => t.name === name)
    if (!tool) throw new ToolFault('UNKNOWN_TOOL', `There is no chat tool ${String(name)} any more.`)
    const known = Object.keys(propertiesOf(tool))
    const unknown = Object.keys(args).find((a) => !known.includes(a))
    if (unknown) {
      const message = `Invalid arguments: ${tool.name} has no ${unknown}. It takes ${known.join(', ')}.`
      throw new ToolFault('INVALID_ARGUMENTS', message)
    }
    const own = [...this.jobs.values()].filter((j) => j.client === call.client.key && !j.endedAt)
    if (own.length >= mostUnderWay)
      throw new ToolFault('QUEUE_FULL', `${mostUnderWay} of your calls are under way. Fetch their results first.`)
    const id = crypto.randomUUID()
    const job: Job = {
      client: call.client.key,
      tool: tool.name,
      startedAt: Date.now(),
      step: 'begun',
      control: new AbortController(),
      done: Promise.resolve(),
    }
    const nobody = () => Promise.reject(new Error('the client does not wait for this call'))
    const caller = {
      progress: (_: number, __?: number, message?: string) => {
        job.step = message ?? job.step
      },
      elicit: nobody,
      sample: nobody,
    }
    // A client that does not wait cannot be asked.
    const client = { ...call.client, samples: false }
    const all = { ...defaultsOf(tool), ...args }
    job.done = this.perform(tool.name, all, client, job.control.signal, caller).then((output) => {
      job.output = output
      job.endedAt = Date.now()
    })
    this.jobs.set(id, job)
    return answered(`${tool.name} has begun. Fetch its result with chat_result and the id ${id}.`, {
      id,
      tool: tool.name,
      status: 'working',
    })
  }

  private async result(call: ToolCall): Promise<ToolOutput> {
    this.tidy(call.client.key)
    const { id, waitSeconds = longestWait, cancel } = call.args as {
      id: string
      waitSeconds?: number
      cancel?: boolean
    }
    const job = this.jobs.get(id)
    if (!job || job.client !== call.client.key) {
      const message =
        'There is no such call of yours any more. Results are kept for an hour, while the extension runs. ' +
        'Start it again only if it may run twice.'
      throw new ToolFault('gone', message)
    }
    if (cancel) job.control.abort()
    await this.wait(job, waitSeconds * 1000, call)
    if (job.output) return job.output
    const seconds = Math.round((Date.now() - job.startedAt) / 1000)
    return answered(`${job.tool} is under way for ${seconds} s. ${job.step}. Call chat_result again.`, {
      id,
      tool: job.tool,
      status: 'working',
      seconds,
      step: job.step,
    })
  }

  /** Waits for the end of a call, and reports its steps meanwhile. */
  private async wait(job: Job, ms: number, call: ToolCall): Promise<void> {
    if (job.endedAt) return
    const report = reporter(call)
    let said = ''
    const left = new Promise<void>((resolve) => call.signal.addEventListener('abort', () => resolve()))
    const watch = setInterval(() => {
      if (job.step !== said) report(said = job.step)
    }, 500)
    await timeout(ms, Promise.race([job.done, left]))
    clearInterval(watch)
  }

  /** Forgets results whose time is over, and the oldest of a client that has too many, or of all. */
  private tidy(client: string): void {
    let own = [...this.jobs.values()].filter((j) => j.client === client).length
    for (const [id, job] of [...this.jobs].filter(([, j]) => j.endedAt)) {
      const isOwn = job.client === client
      const tooMany = isOwn && own > most || this.jobs.size > mostOfAll
      if (!tooMany && Date.now() - job.endedAt! <= kept) continue
      this.jobs.delete(id)
      if (isOwn) own--
    }
  }
}

const propertiesOf = ({ inputSchema }: Tool) =>
  (inputSchema as { properties: Record<string, Record<string, unknown>> }).properties

const defaultsOf = (tool: Tool): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(propertiesOf(tool)).filter(([, p]) => 'default' in p).map(([name, p]) => [name, p['default']]),
  )

/** The parameters of all the tools. Their defaults are the tools' own. */
function withoutDefaults(tools: Tool[]): Record<string, object> {
  const all: Record<string, object> = {}
  for (const tool of tools)
    for (const [name, { default: _, ...schema }] of Object.entries(propertiesOf(tool))) all[name] ??= schema
  return all
}

const answered = (text: string, structuredContent: object): ToolOutput => ({
  content: [{ type: 'text', text }],
  structuredContent,
})
