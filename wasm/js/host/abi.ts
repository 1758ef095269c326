// The binary interface of the module: functions on numbers, and bytes in the module's memory. Each tool call uses it.
// The Go package membuf is the other side.

import type { Platform } from '../fetch/platform.ts'

interface Exports {
  mem: WebAssembly.Memory
  portolan_room(bytes: number): number
  portolan_deliver?(
    platform: number,
    exchange: number,
    kind: number,
    flags: number,
    a: number,
    b: number,
    c: number,
    lenA: number,
    lenB: number,
  ): number
  portolan_dispatch(id: number, name: number, args: number, progress: number, timeoutMs: number): number
  portolan_cancel(id: number): void
}

/** Functions that the module calls, except those of the platforms. */
interface Callee {
  called(id: number, table: number, isError: boolean, durationMs: number, server: string, tool: string): void
  /**
   * A line of `tools` has a tool's name, its pin and, if the tool is held, the JSON text of its Hold, with tabs
   * between. `handles` has the table and the index of each tool. The bit `withheld` marks an index whose tool models
   * do not see.
   */
  listed(server: string, tools: string[], handles: Uint32Array): void
}

/** The bit of an index that marks a withheld tool, as in wasm/internal/bridge/payload.go. */
export const withheld = 2 ** 31

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const none = new Uint8Array(0)

/** The longest delay of a new timer of the module, in ms. */
const SOON_MS = 20

export class Abi {
  readonly #platforms: Platform[] = []
  readonly #callee: Callee | undefined
  #exports: Exports | undefined
  #resume = () => {}
  #timer: ReturnType<typeof setTimeout> | undefined
  #memory = none

  constructor(callee?: Callee) {
    this.#callee = callee
  }

  /** The functions that the module imports under the name `portolan`. */
  get imports(): WebAssembly.ModuleImports {
    return {
      start: (
        platform: number,
        id: number,
        group: number,
        awaits: number,
        flags: number,
        at: number,
        head: number,
        body: number,
      ) =>
        this.#platforms[platform]!.start(
          id >>> 0,
          group >>> 0,
          awaits,
          flags,
          decoder.decode(this.#bytes(at, head)),
          body > 0 ? this.#bytes(at + head, body).slice() : undefined,
        ),
      called: (id: number, table: number, isError: number, durationMs: number, at: number, bytes: number) => {
        const names = decoder.decode(this.#bytes(at, bytes))
        const line = names.indexOf('\n')
        this.#callee?.called(id, table, isError !== 0, durationMs, names.slice(0, line), names.slice(line + 1))
      },
      listed: (at: number, bytes: number, handles: number, tools: number) => {
        const [server, ...lines] = decoder.decode(this.#bytes(at, bytes)).split('\n')
        this.#callee?.listed(server!, lines, new Uint32Array(this.#bytes(handles, 8 * tools).slice().buffer))
      },
    }
  }

  /** The module's linear memory, in bytes, which never shrinks. */
  get size(): number {
    return this.#exports?.mem.buffer.byteLength ?? 0
  }

  /** Called when the module runs. `resume` runs its goroutines. */
  enter(exports: WebAssembly.Exports, resume: () => void): void {
    this.#exports = exports as unknown as Exports
    this.#resume = resume
  }

  /** Called when the module has ended. Every later call does nothing. */
  leave(): void {
    this.#exports = undefined
    this.#memory = none
    this.#resume = () => {}
    clearTimeout(this.#timer)
  }

  /** Gives the module a number for this platform. */
  join(platform: Platform, number: number): void {
    this.#platforms[number] = platform
  }

  deliver(
    platform: number,
    exchange: number,
    kind: number,
    flags: number,
    a: number,
    b: number,
    c: number,
    textA: string,
    textB: string,
  ): void {
    const { first, second } = this.#write(textA, textB)
    if (this.#exports?.portolan_deliver!(platform, exchange, kind, flags, a, b, c, first, second)) this.#soon()
    else this.#resume()
  }

  dispatch(id: number, name: string, args: string, timeoutMs: number, progress: boolean): void {
    const { first, second } = this.#write(name, args)
    if (this.#exports?.portolan_dispatch(id, first, second, progress ? 1 : 0, timeoutMs)) this.#soon()
    else this.#resume()
  }

  cancel(id: number): void {
    this.#exports?.portolan_cancel(id)
    this.#resume()
  }

  // No goroutine has to run now. Only timers may have changed, and resuming sets them.
  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#resume()
    }, SOON_MS)
  }

  /** Writes two texts to the place where membuf.Take reads them. Returns their lengths in bytes. */
  #write(a: string, b: string): { first: number; second: number } {
    if (!this.#exports || (a === '' && b === '')) return { first: 0, second: 0 }
    const most = 3 * (a.length + b.length)
    if (most > 64 << 10) {
      const bytes = encoder.encode(a), more = encoder.encode(b)
      const room = this.#room(bytes.length + more.length)
      if (!room) return { first: 0, second: 0 }
      room.set(bytes)
      room.set(more, bytes.length)
      return { first: bytes.length, second: more.length }
    }
    const room = this.#room(most)
    if (!room) return { first: 0, second: 0 }
    const first = a === '' ? 0 : encoder.encodeInto(a, room).written
    return { first, second: b === '' ? 0 : encoder.encodeInto(b, room.subarray(first)).written }
  }

  /** Room for n bytes in the module's memory. Undefined if the module ends over it. */
  #room(n: number): Uint8Array<ArrayBuffer> | undefined {
    const at = this.#exports!.portolan_room(n)
    return this.#exports && this.#bytes(at, n)
  }

  // Memory that grows detaches its views.
  #bytes(at: number, n: number): Uint8Array<ArrayBuffer> {
    if (this.#memory.length === 0) this.#memory = new Uint8Array(this.#exports!.mem.buffer)
    return this.#memory.subarray(at >>> 0, (at >>> 0) + n)
  }
}
