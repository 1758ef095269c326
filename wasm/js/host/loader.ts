import type { Abi } from './abi.ts'
import { explainWasm } from '../shared/explain.ts'
// @ts-expect-error made by the build from the Go toolchain's own wasm_exec.js
import { loadGo } from '../gen/wasm_exec.js'

/** What the module finds under the name `portolan` in its scope. */
export type Boot = Record<string, unknown>

/**
 * Runs a module in a scope of its own: Go's support code finds and leaves
 * nothing in the page's globals. Resolves when the program ends; a program that
 * ends unasked has crashed. It finds `globals` in place of the page's own.
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
        // What insists on the real global as its this.
        crypto: globalThis.crypto,
        performance: globalThis.performance,
        fetch: (...args: Parameters<typeof fetch>) => fetch(...args),
        // Node's own are not for the module: Go's loader fills in harmless ones.
        process: undefined,
        fs: undefined,
        ...globals,
      }).map(([name, value]) => [name, { value, writable: true }]),
    ),
  )
  const go = new (loadGo(scope))()
  // Timers and callbacks of a program that has ended lead nowhere.
  const end = () => {
    for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer)
    go._scheduledTimeouts.clear()
    go._resume = () => {}
    abi.leave()
  }
  const { exit } = go
  go.exit = (code: number) => {
    end() // at once: a promise may call back before anybody hears of the end
    exit(code)
    go._resolveExitPromise()
  }
  // A trap, or an exception that passes through the module's frames, leaves nothing to go on with.
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

async function instantiate(module: WebAssembly.Module, imports: WebAssembly.Imports): Promise<WebAssembly.Instance> {
  try {
    return await WebAssembly.instantiate(module, imports)
  } catch (e) {
    throw explainWasm(e)
  }
}
