import { Abi } from '../../wasm/js/host/abi.ts'
import { run } from '../../wasm/js/host/loader.ts'
import type { ClientClaim } from '../messages.ts'
import type { Connection } from '../../web/pairing/connection.ts'

/** A call that the module has checked, or another request, whose params are the arguments. */
interface ModuleCall {
  /** The number of the connection that it came over. */
  connection: number
  tool?: string
  method?: string
  arguments: Record<string, unknown>
  client?: ClientClaim | null
}

/** Reaches the client of a call. */
interface Caller {
  progress(p: { progress: number; total?: number; message?: string }): void
  /** Sends the client a request of the spec: elicitation/create or sampling/createMessage. */
  ask(method: string, params: object): Promise<unknown>
}

/**
 * Carries out a call or a request. Resolves to its result, or to a failed CallToolResult, as JSON text. The client gets
 * a rejection's message.
 */
export type CallHandler = (
  call: Omit<ModuleCall, 'connection'> & { pairing: string },
  signal: AbortSignal,
  caller: Caller,
) => Promise<string>

/** A tool for the module's list. `check`: the module checks arguments against the schema. */
interface OfferedTool {
  definition: object
  check: boolean
}

/** Methods return the text of an error, or null. */
interface Exports {
  offer(tools: string): string | null
  changed(): string | null
  log(logger: string, level: string, text: string): string | null
  updated(uri: string): string | null
  settle(id: number, result: string, error: string | null): string | null
  progress(id: number, progress: string): string | null
  ask(
    id: number,
    method: string,
    params: string,
    done: (answer: string | null, error: string | null) => void,
  ): string | null
  serve(connection: number, ended: (why: string) => void): string | null
}

/** One run of tools.wasm. */
export class ToolModule {
  /** The module has ended, and another must be started. */
  ended = false
  private exports!: Exports
  /** The connections that are served, by number, with the pairing of each. */
  private readonly served = new Map<number, { connection: Connection; pairing: string }>()
  private last = 0
  private readonly running = new Map<number, AbortController>()
  private readonly handle: CallHandler

  private constructor(handle: CallHandler) {
    this.handle = handle
  }

  static start(wasm: WebAssembly.Module, version: string, handle: CallHandler): Promise<ToolModule> {
    const module = new ToolModule(handle)
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
        for (const control of module.running.values()) control.abort()
        for (const { connection } of module.served.values()) connection.close(1011, 'the module has ended')
        reject(new Error('the module of tools has ended'))
      })
    })
  }

  offer(tools: OfferedTool[]): void {
    const problem = this.exports.offer(JSON.stringify(tools))
    if (problem) throw new Error(problem)
  }

  /** Tells the clients that resources and prompts may have changed. */
  changed(): void {
    this.exports.changed()
  }

  /** Sends the clients a message of a server's log. */
  log(logger: string, level: string, text: string): void {
    this.exports.log(logger, level, text)
  }

  /** Tells the clients that have subscribed to a resource that it has changed. */
  updated(uri: string): void {
    this.exports.updated(uri)
  }

  /** Serves a proved connection of a pairing, from its first message on. Others are served beside it. */
  serve(connection: Connection, pairing: string): void {
    const number = ++this.last
    this.served.set(number, { connection, pairing })
    this.exports.serve(number, () => {
      this.served.delete(number)
      connection.close(1000, 'the session has ended')
    })
  }

  private async call(id: number, text: string): Promise<void> {
    const control = new AbortController()
    this.running.set(id, control)
    try {
      const { connection, ...call } = JSON.parse(text) as ModuleCall
      const { pairing } = this.served.get(connection) ?? {}
      if (pairing === undefined) throw new Error('the connection has ended')
      const result = await this.handle({ ...call, pairing }, control.signal, {
        progress: (p) => this.exports.progress(id, JSON.stringify(p)),
        ask: (method, params) =>
          new Promise((resolve, reject) => {
            const refused = this.exports.ask(id, method, JSON.stringify(params), (answer, error) => {
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

  /** Returns the class that Go's WebSocket library constructs. It stands for a connection that is open already. */
  private socketClass(): unknown {
    const numbered = (url: string) => this.served.get(Number(url.slice('ws://bridge/'.length)))!.connection
    return class BridgeSocket extends EventTarget {
      binaryType = ''
      readonly protocol = ''
      private readonly connection: Connection
      constructor(url: string) {
        super()
        this.connection = numbered(url)
        queueMicrotask(() => {
          this.dispatchEvent(new Event('open'))
          this.connection.onclose = () => {
            const { code, message: reason } = this.connection.closed!
            // A peer cannot send the codes 1005 and 1006.
            this.dispatchEvent(Object.assign(new Event('close'), { code, reason, wasClean: code !== 1006 }))
          }
          if (this.connection.closed) return this.connection.onclose()
          this.connection.listen((data) => this.dispatchEvent(Object.assign(new Event('message'), { data })))
        })
      }
      send(text: string): void {
        this.connection.send(text)
      }
      close(code?: number, reason?: string): void {
        this.connection.close(code, reason)
        this.connection.onclose?.()
      }
    }
  }
}
