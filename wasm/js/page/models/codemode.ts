import { isObject } from '../../shared/object.ts'
import { plain } from '../../shared/plaintext.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import { trusted } from '../../shared/trusted.ts'
import type { DispatchOptions, Flag, ToolInfo, ToolResult } from '../../shared/types.ts'
import { frameDigest, frameDocument, head, mostLogged, mostLogs, mostReturned, tail } from './codeframe.ts'
import { codeName, pathOf } from './declarations.ts'
import { apiTool } from './toolnames.ts'
import { aborted } from '../requests.ts'
import { sound, textOf } from './text.ts'

export { declarations } from './declarations.ts'

/** The bounds of a run: its own time in ms, its whole time in ms, calls, and characters of code. */
const ownMs = 30_000, wholeMs = 600_000, mostCalls = 50, mostCode = 64 << 10
/** The runs of a page at once, the characters of a call's arguments, of a name, and flags of a run. */
const mostRuns = 4, mostArguments = 1 << 20, mostName = 1000, mostFlags = 50
/** The longest silence of the frame, and then of its worker, at first, in ms. */
const silence = 5000

/** Calls a tool for code: one of a server by its name in code. */
type CallTool = (server: string, tool: string, args: string, signal: AbortSignal) => Promise<ToolResult>

/** The outcome of a run. */
export interface Ran {
  text: string
  isError: boolean
  /** Those of the results that the code had. */
  flags: Flag[]
}

/** The tools for models, as far as a run uses them. */
interface CodeTools {
  readonly tools: readonly ToolInfo[]
  /** Ends with them. */
  readonly ended: AbortSignal
  has(name: string): boolean
  call(name: string, args: string, options: DispatchOptions): Promise<ToolResult>
  /** A sentence that names the tools whose names are nearest. */
  nearest(name: string, finder: string, shown: (tool: ToolInfo) => string): Promise<string>
}

let runs = 0

/** Runs a model's code with the tools of a registry or view. Each call in it is one as by the model itself. */
export async function runFor(tools: CodeTools, code: unknown, given: DispatchOptions): Promise<Ran> {
  const { signal: caller, timeoutMs, attempts, trace, callId, onProgress } = given
  const options = { timeoutMs, attempts, trace, callId, onProgress } as DispatchOptions
  const call: CallTool = async (server, tool, args, signal) => {
    const known = tools.tools.find((t) => t.server === server && codeName(t) === tool)
    const name = known?.name ?? `${server}__${tool}`
    try {
      // A tool that is held, or whose server is off, is refused as in any call.
      if (known || !tools.has(name)) return await tools.call(name, args, { ...options, signal })
    } catch (e) {
      if (known || !/^(unknown_|not_offered)/.test((e as RegistryError).code)) throw e
    }
    const near = await tools.nearest(`${server} ${tool}`, apiTool, (t) => pathOf(t.server, codeName(t)))
    throw new RegistryError('unknown_tool', `There is no ${pathOf(server, tool)}.${near}`)
  }
  try {
    return await runCode(code, call, [tools.ended, ...(caller ? [caller] : [])])
  } catch (e) {
    if (!tools.ended.aborted || caller?.aborted) throw e
    throw new RegistryError('closed', 'the registry or view of this run was closed')
  }
}

/** Runs a model's code. Rejects with `unsupported` where it cannot run, and when a signal aborts. */
async function runCode(code: unknown, call: CallTool, signals: AbortSignal[]): Promise<Ran> {
  const refusal = refuse(code)
  if (refusal) return { text: refusal, isError: true, flags: [] }
  const signal = AbortSignal.any(signals)
  if (signal.aborted) throw aborted(signal)
  runs++
  const run = new Run(code as string, call)
  const abort = () => run.end(aborted(signal))
  signal.addEventListener('abort', abort)
  try {
    return await run.ended
  } finally {
    runs--
    signal.removeEventListener('abort', abort)
  }
}

/** The reason why the code does not run; empty if it may. */
function refuse(code: unknown): string {
  if (typeof code !== 'string' || !code.trim()) return 'Give JavaScript in `code`.'
  if (code.length > mostCode) return `The code has more than ${mostCode} characters.`
  return runs >= mostRuns ? `${mostRuns} programs run already. Try again when one has ended.` : ''
}

/** One run of code in a worker of its own frame. The worker is hostile: it may send anything. */
class Run {
  readonly ended: Promise<Ran>
  #settle!: (ran: Ran | RegistryError) => void
  readonly #code: string
  readonly #call: CallTool
  readonly #frame = document.createElement('iframe')
  /** From the frame's script, and from the worker. */
  readonly #frames = new MessageChannel()
  readonly #workers = new MessageChannel()
  /** Ends the calls that are under way. */
  readonly #ends = new AbortController()
  readonly #whole = setTimeout(() => this.#fail(`The run took more than ${wholeMs / 60_000} minutes.`), wholeMs)
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The rest of the own time, in ms, and since when it runs, in ms of `performance.now()`. */
  #left = ownMs
  #since = 0
  #hasBegun = false
  /** Shows whether a worker without code begins. */
  #other: Run | undefined
  #messages = 0
  #calls = 0
  #pending = 0
  readonly #logs: string[] = []
  #logged = 0
  readonly #flags: Flag[] = []

  constructor(code: string, call: CallTool) {
    this.#code = code
    this.#call = call
    this.ended = new Promise((resolve, reject) => {
      this.#settle = (ran) => ran instanceof Error ? reject(ran) : resolve(ran)
    })
    this.#frames.port1.onmessage = ({ data }: MessageEvent<unknown[]>) => this.#hearFrame(data)
    this.#workers.port1.onmessage = ({ data }) => this.#hear(data)
    this.#workers.port1.onmessageerror = () => this.#fail('The code sent a message that cannot be read.')
    this.#open()
  }

  #open(): void {
    const frame = this.#frame
    frame.hidden = true
    frame.setAttribute('sandbox', 'allow-scripts')
    try {
      try {
        frame.srcdoc = trusted('createHTML', frameDocument)
      } catch {
        frame.srcdoc = frameDocument
      }
    } catch (cause) {
      return this.end(unsupported('the policy of this page forbids the frame', cause))
    }
    frame.onload = () => {
      frame.onload = null
      this.#wait(silence, () => this.end(unsupported('the policy of this page forbids the script of the frame')))
      const ports = [this.#frames.port2, this.#workers.port2]
      frame.contentWindow!.postMessage(head + this.#code + tail, '*', ports)
    }
    this.#wait(silence, () => this.end(unsupported('the policy of this page forbids the frame')))
    document.documentElement.append(frame) // some apps replace the body, and the frame would end with it
  }

  #wait(ms: number, then: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(then, ms)
  }

  /** The frame says that it began the worker, that it could not, or which error the worker had. */
  #hearFrame([message, line, column]: unknown[]): void {
    if (message === undefined) return this.#hasBegun ? undefined : this.#wait(silence, () => this.#refused())
    if (!message && !this.#hasBegun) return this.#refused()
    this.#fail(String(message || 'The code failed.').replace(/^Uncaught /, ''), [[Number(line), Number(column)]])
  }

  /**
   * The worker did not begin, without a word. Firefox is as silent about code that it cannot parse. Then a worker
   * without code begins.
   */
  #refused(): void {
    const refusal = unsupported('the policy of this page forbids the worker')
    if (!this.#code) return this.end(refusal)
    clearTimeout(this.#timer)
    this.#other = new Run('', this.#call)
    const unlessBegun = (end: () => void) => () => this.#hasBegun ? undefined : end()
    this.#other.ended.then(
      unlessBegun(() => this.#fail('SyntaxError: the code is no JavaScript.')),
      unlessBegun(() => this.end(refusal)),
    )
  }

  #hear(data: unknown): void {
    if (++this.#messages > 2 * mostCalls + mostLogs + 2) return this.#fail('The code sent too many messages.')
    if (!isObject(data)) return this.#fail('The code sent a message that cannot be read.')
    if (!this.#hasBegun) {
      this.#hasBegun = true
      this.#run()
    }
    const { log, call, done, total, error, stack } = data
    if (typeof log === 'string') {
      this.#logged += log.length + 1
      if (this.#logged <= mostLogged + 1) this.#logs.push(log)
    } else if (typeof call === 'number') void this.#answer(call, data)
    else if (typeof done === 'string') this.#done(done.slice(0, mostReturned), Number(total))
    else if (typeof error === 'string')
      this.#fail(error.slice(0, mostLogged), typeof stack === 'string' ? placesOf(stack) : [])
  }

  /** Lets the run's own time go on. */
  #run(): void {
    this.#since = performance.now()
    this.#wait(this.#left, () => this.#fail(`The code ran for ${ownMs / 1000} seconds, without the time of its calls.`))
  }

  /** Makes a call for the code. The own time rests meanwhile. */
  async #answer(id: number, { server, tool, args }: Record<string, unknown>): Promise<void> {
    if (!this.#pending++) {
      clearTimeout(this.#timer)
      this.#left -= performance.now() - this.#since
    }
    let answer
    try {
      answer = { id, value: await this.#make(server, tool, args) }
    } catch (e) {
      const { message, code } = e as RegistryError
      answer = { id, error: String(message), ...(code && { code }) }
    }
    if (this.#ends.signal.aborted) return
    if (!--this.#pending) this.#run()
    this.#workers.port1.postMessage(answer)
  }

  async #make(server: unknown, tool: unknown, args: unknown): Promise<unknown> {
    if (++this.#calls > mostCalls)
      throw new RegistryError('budget_exceeded', `${mostCalls} calls are the most of one run`)
    const isName = (name: unknown): name is string => typeof name === 'string' && name.length <= mostName
    if (!isName(server) || !isName(tool) || typeof args !== 'string')
      throw new RegistryError('invalid_arguments', 'a call is not tools.server.tool(args)')
    if (args.length > mostArguments)
      throw new RegistryError('too_large', `the arguments have more than ${mostArguments} characters`)
    const result = await this.#call(server, tool, args, this.#ends.signal)
    for (const flag of result.flags ?? []) if (this.#flags.length < mostFlags) this.#flags.push(flag)
    const { content, isError, structuredContent = null } = result
    // The text of the result may be cut, and code can read the whole.
    if (isError || structuredContent === null) {
      const { text } = plain(textOf({ content }))
      if (!isError) return text
      throw new Error(text)
    }
    return structuredContent
  }

  #done(text: string, total: number): void {
    if (total < 0 && !this.#logs.length) return this.#finish('The code returned nothing.', false)
    this.#finish(text || total || this.#logs.length ? text : 'The code returned an empty text.', false, total)
  }

  /** Ends the run with an error of the code. `places` are lines and columns of the worker's text. */
  #fail(message: string, places: [line: number, column: number][] = []): void {
    const lines = this.#code.split(/\r\n?|[\n\u2028\u2029]/)
    const before = head.split('\n').length - 1
    const [line, column] = places.find(([line]) => line > before && line <= before + lines.length) ?? []
    // An error behind the last line, such as a missing brace, is one of the last line.
    const isBehind = line === undefined && places.some(([line]) => line > before)
    const at = isBehind ? lines.length : line && line - before
    const where = at
      ? `\nline ${at}${isBehind || !column ? '' : `, column ${column}`}: ${lines[at - 1]!.trim().slice(0, 160)}`
      : ''
    this.#finish(message + where, true)
  }

  /** Ends the run with a text, after its logs. */
  #finish(said: string, isError: boolean, total = said.length): void {
    const logs = bounded(this.#logs.join('\n'), mostLogged, this.#logged > mostLogged || this.#logs.length >= mostLogs)
    const room = mostReturned - new TextEncoder().encode(logs).length - 100
    const text = bounded(said, room, total > said.length, total)
    const title = isError ? '' : 'Returned:\n'
    const whole = logs ? `Logged:\n${logs}${text && `\n\n${title}${text}`}` : text
    this.end({ text: sound(plain(whole).text), isError, flags: this.#flags })
  }

  /** Ends the frame with its worker, and the calls under way. */
  end(ran: Ran | RegistryError): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#whole)
    this.#frames.port1.close()
    this.#workers.port1.close()
    this.#frame.onload = null
    this.#frame.remove()
    this.#other?.end(ran)
    this.#ends.abort()
    this.#settle(ran)
  }
}

/** A text of at most so many bytes of UTF-8, with a mark if it was cut. */
function bounded(text: string, most: number, isCut: boolean, total?: number): string {
  const bytes = new Uint8Array(most)
  const { read } = new TextEncoder().encodeInto(text, bytes)
  if (read === text.length && !isCut) return text
  return `${text.slice(0, read)}\n[cut${total && total > 0 ? `: ${total} characters in all` : ''}]`
}

/** The places in an error's stack, first the innermost. */
const placesOf = (stack: string): [number, number][] =>
  [...stack.slice(0, mostLogged).matchAll(/\bblob:[^\s()]*?:(\d+):(\d+)/g)]
    .map(([, line, column]) => [Number(line), Number(column)])

const unsupported = (what: string, cause?: unknown) =>
  new RegistryError('unsupported', `code cannot run here: ${what}`, {
    hint: `The page's Content-Security-Policy needs '${frameDigest}' in script-src and blob: in worker-src, and with ` +
      'Trusted Types the policy portolan. See docs/csp.md.',
    cause,
  })
