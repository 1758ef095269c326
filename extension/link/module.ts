import { Abi } from '../../wasm/js/host/abi.ts'
import { run } from '../../wasm/js/host/loader.ts'
import type { Line } from './socket.ts'

/** What carries out the calls that the module has checked. */
export interface Callee {
  /** Resolves to a CallToolResult as JSON text; a rejection's message is the client's. */
  call(
    call: {
      tool: string
      arguments: Record<string, unknown>
      client?: { id?: string; name?: string; version?: string } | null
    },
    signal: AbortSignal,
    caller: Caller,
  ): Promise<string>
}
/** Who waits for a call. */
export interface Caller {
  progress(p: ModuleProgress): void
  /** Asks: ElicitRequestParams and ElicitResult of the spec. */
  elicit(params: object): Promise<unknown>
}
export interface ModuleProgress {
  progress: number
  total?: number
  message?: string
}

/** A tool as the module lists it; `check`: its arguments are checked against its schema. */
export interface Offered {
  definition: object
  check: boolean
}

interface Exports {
  offer(tools: string): string | null
  settle(id: number, result: string, error: string | null): string | null
  progress(id: number, progress: string): string | null
  elicit(id: number, params: string, done: (answer: string | null, error: string | null) => void): string | null
  serve(ended: (why: string) => void): string | null
}

/** One run of tools.wasm. */
export class ToolModule {
  private exports!: Exports
  private readonly running = new Map<number, AbortController>()
  private readonly callee: Callee
  private line: Line | undefined
  /** It ended, and another must be started. */
  ended = false

  private constructor(callee: Callee) {
    this.callee = callee
  }

  static start(wasm: WebAssembly.Module, version: string, callee: Callee): Promise<ToolModule> {
    const module = new ToolModule(callee)
    return new Promise((resolve, reject) => {
      const boot = {
        version,
        ready: (exports: Exports) => {
          module.exports = exports
          resolve(module)
        },
        call: (id: number, text: string) => void module.call(id, text),
        cancel: (id: number) => module.running.get(id)?.abort(),
      }
      run(wasm, boot, new Abi(), { WebSocket: module.socketClass() }).catch(reject).then(() => {
        module.ended = true
        for (const ends of module.running.values()) ends.abort()
        module.line?.close(1011, 'the module has ended')
        reject(new Error('the module of tools has ended'))
      })
    })
  }

  offer(tools: Offered[]): void {
    const problem = this.exports.offer(JSON.stringify(tools))
    if (problem) throw new Error(problem)
  }

  /** Serves a connection that was proved, from its first message on; `onping` may take a message instead. */
  serve(line: Line): void {
    this.line = line
    this.exports.serve(() => line.close(1000, 'the session has ended'))
  }

  private async call(id: number, text: string): Promise<void> {
    const ends = new AbortController()
    this.running.set(id, ends)
    try {
      const result = await this.callee.call(JSON.parse(text), ends.signal, {
        progress: (p) => this.exports.progress(id, JSON.stringify(p)),
        elicit: (params) =>
          new Promise((resolve, reject) => {
            const refused = this.exports.elicit(id, JSON.stringify(params), (answer, error) => {
              if (answer === null) reject(new Error(error ?? 'the client did not answer'))
              else resolve(JSON.parse(answer))
            })
            if (refused) reject(new Error(refused))
          }),
      })
      this.exports.settle(id, result, null)
    } catch (e) {
      this.exports.settle(id, '', (e as Error).message || 'the call failed')
    } finally {
      this.running.delete(id)
    }
  }

  /** The class that Go's WebSocket library opens: what it opens is there already. */
  private socketClass(): unknown {
    const current = () => this.line!
    return class BridgeSocket extends EventTarget {
      binaryType = ''
      readonly protocol = ''
      private readonly line = current()
      constructor() {
        super()
        queueMicrotask(() => {
          this.dispatchEvent(new Event('open'))
          this.line.onclose = () => {
            const { code, reason } = this.line.closed!
            // 1005 and 1006 are no codes that a peer can send.
            this.dispatchEvent(Object.assign(new Event('close'), { code, reason, wasClean: code !== 1006 }))
          }
          if (this.line.closed) return this.line.onclose()
          this.line.listen((data) => this.dispatchEvent(Object.assign(new Event('message'), { data })))
        })
      }
      send(text: string): void {
        this.line.send(text)
      }
      close(code?: number, reason?: string): void {
        this.line.close(code, reason)
        this.line.onclose?.()
      }
    }
  }
}
