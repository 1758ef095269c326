import type { Page } from 'playwright-core'

/** The messages between page and worker, and the calls between JavaScript and the module. */
export interface Crossings {
  toWorker: number
  fromWorker: number
  toModule: number
  fromModule: number
}

declare global {
  var crossings: Crossings
  /** The module's memory. */
  var linear: WebAssembly.Memory
}

/**
 * Makes a page count from its first script on. Calls are counted in mode `main` only, because a worker has another
 * `WebAssembly`. Go's questions for the time are left out.
 */
export const watch = (page: Page) =>
  page.addInitScript(() => {
    const crossings = globalThis.crossings = { toWorker: 0, fromWorker: 0, toModule: 0, fromModule: 0 }
    globalThis.Worker = class extends Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args)
        this.addEventListener('message', () => crossings.fromWorker++)
      }
      override postMessage(message: unknown, options?: Transferable[] | StructuredSerializeOptions) {
        crossings.toWorker++
        super.postMessage(message, options as Transferable[])
      }
    }
    const counted = (of: object, way: 'toModule' | 'fromModule') =>
      Object.fromEntries(
        Object.entries(of).map(([name, value]) => [
          name,
          typeof value !== 'function' || /nanotime|walltime/.test(name) ? value : (...args: unknown[]) => {
            crossings[way]++
            return value(...args)
          },
        ]),
      )
    const instantiate = WebAssembly.instantiate as (m: WebAssembly.Module, i?: WebAssembly.Imports) => Promise<object>
    WebAssembly.instantiate = (async (module: WebAssembly.Module, imports: WebAssembly.Imports = {}) => {
      const all = Object.entries(imports).map(([from, of]) => [from, counted(of, 'fromModule')])
      const { exports } = await instantiate(module, Object.fromEntries(all)) as WebAssembly.Instance
      const isModule = exports.mem instanceof WebAssembly.Memory
      if (isModule) globalThis.linear = exports.mem as WebAssembly.Memory
      // Go's loader asks for an instance of this class.
      return Object.create(WebAssembly.Instance.prototype, {
        exports: { value: isModule ? counted(exports, 'toModule') : exports },
      })
    }) as unknown as typeof WebAssembly.instantiate
  })
