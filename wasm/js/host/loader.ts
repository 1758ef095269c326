import type { Abi } from './abi.ts'
import { explainWasm } from '../shared/explain.ts'
// @ts-expect-error made by the build from the Go toolchain's own wasm_exec.js
import { loadGo } from '../gen/wasm_exec.js'

/** The global `portolan` of the module. */
export type Boot = Record<string, unknown>

/**
 * Runs a module with globals of its own: Go's support code reads and writes nothing of the page's globals. `globals`
 * replace those of the page. Resolves when the program ends. A program that ends without a request has crashed.
 */
export async function run(
  module: WebAssembly.Module,
  boot: Boot,
  abi: Abi,
  globals: Record<string, unknown> = {},
): Promise<void> {
  const scope = Object.create(
    globalThis,
    Object.fromEntries(
      Object.entries({
        portolan: boot,
        // These need the real global as `this`.
        crypto: globalThis.crypto,
        performance: globalThis.performance,
        fetch: (...args: Parameters<typeof fetch>) => fetch(...args),
        // Without those of Node, Go's loader uses harmless replacements.
        process: undefined,
        fs: undefined,
        ...globals,
      }).map(([name, value]) => [name, { value, writable: true }]),
    ),
  )
  const timer = new LazyTimer()
  const go = new (loadGo(scope, timer.set, timer.clear))()
  // A program that has ended gets no timers and no callbacks.
  const end = () => {
    timer.end()
    go._scheduledTimeouts.clear()
    go._resume = () => {}
    abi.leave()
  }
  const { exit } = go
  go.exit = (code: number) => {
    end() // at once, because a promise may call back before the listener of the end
    exit(code)
    go._resolveExitPromise()
  }
  // A module cannot continue after a trap, nor after an exception that passed through its frames.
  const trapped = <A extends unknown[], R>(fn: (...args: A) => R) => (...args: A): R | undefined => {
    try {
      return fn(...args)
    } catch (e) {
      console.error(e)
      end()
      go.exited = true
      go._resolveExitPromise()
    }
  }
  try {
    const instance = await instantiate(module, { ...go.importObject, portolan: abi.imports })
    go._resume = trapped(go._resume.bind(go))
    const exports = Object.entries(instance.exports).map((
      [name, e],
    ) => [name, typeof e === 'function' ? trapped(e as () => unknown) : e])
    abi.enter(Object.fromEntries(exports), () => go._resume())
    await go.run(instance)
  } finally {
    end()
  }
}

/**
 * The one timer of a Go program. Go clears and sets it each time that the program becomes idle, nearly always for a
 * later time. So the real timer keeps running, and if it fires early, it is set again.
 */
class LazyTimer {
  #wanted: { fn: () => void; at: number } | undefined
  #real: ReturnType<typeof setTimeout> | undefined
  #realAt = Infinity

  readonly set = (fn: () => void, delay: number): number => {
    const at = performance.now() + delay
    this.#wanted = { fn, at }
    if (at < this.#realAt) this.#start(at, delay)
    return 0
  }

  readonly clear = (): void => {
    this.#wanted = undefined
    queueMicrotask(() => {
      if (!this.#wanted) this.end()
    })
  }

  end(): void {
    this.#wanted = undefined
    if (this.#realAt < Infinity) clearTimeout(this.#real)
    this.#realAt = Infinity
  }

  #start(at: number, delay: number): void {
    clearTimeout(this.#real)
    this.#realAt = at
    this.#real = setTimeout(() => this.#fire(), delay)
  }

  #fire(): void {
    this.#realAt = Infinity
    const wanted = this.#wanted
    if (!wanted) return
    const rest = wanted.at - performance.now()
    if (rest > 0) return this.#start(wanted.at, rest)
    this.#wanted = undefined
    wanted.fn()
  }
}

async function instantiate(module: WebAssembly.Module, imports: WebAssembly.Imports): Promise<WebAssembly.Instance> {
  try {
    return await WebAssembly.instantiate(module, imports)
  } catch (e) {
    throw explainWasm(e)
  }
}
