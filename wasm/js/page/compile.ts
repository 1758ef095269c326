import { download, type Report } from '../shared/download.ts'
import { explainWasm } from '../shared/explain.ts'
import { part } from './parts.ts'
import type { RegistryOptions } from '../shared/types.ts'

interface Modules {
  get(key: unknown): Promise<WebAssembly.Module> | undefined
  set(key: unknown, module: Promise<WebAssembly.Module>): unknown
  delete(key: unknown): boolean
}

/** Compiled modules by address. Registries of one page share one download and one compilation. */
const addressed: Modules = new Map()

/** Compiled modules by the bytes or the response that the app holds. */
const given: Modules = new WeakMap<never, Promise<WebAssembly.Module>>()

/** The URL of the module. A source that is no URL is returned unchanged. */
export function sourceOf(wasm: RegistryOptions['wasm']): string | Response | BufferSource | WebAssembly.Module {
  wasm ??= new URL('./portolan.wasm', import.meta.url)
  if (typeof wasm !== 'string' && !(wasm instanceof URL)) return wasm
  return new URL(wasm, typeof document === 'undefined' ? import.meta.url : document.baseURI).href
}

/** Compiles the module of the option `wasm`. */
export function compile({ wasm, integrity, host }: RegistryOptions, report: Report): Promise<WebAssembly.Module> {
  const source = sourceOf(wasm)
  const isAddress = typeof source === 'string'
  const modules = isAddress ? addressed : given
  const key = isAddress ? source + integrity : source
  let module = modules.get(key)
  if (!module) {
    module = download(source, integrity, async () => (await part('integrity', host)).mismatch, report).catch(
      (e: unknown) => {
        modules.delete(key)
        throw explainWasm(e)
      },
    )
    modules.set(key, module)
  }
  return module
}
