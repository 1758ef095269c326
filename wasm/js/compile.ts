import { RegistryError } from './errors.ts'
import type { LoadProgress, RegistryOptions } from './types.ts'

type Report = (p: LoadProgress) => void

/** Modules by address: registries that start together share one download and one compilation. */
const modules = new Map<string, Promise<WebAssembly.Module>>()

/** Turns the `wasm` option into a compiled module. */
export function compile(source: RegistryOptions['wasm'], report: Report): Promise<WebAssembly.Module> {
  source ??= new URL('./portolan.wasm', import.meta.url)
  if (source instanceof WebAssembly.Module) return Promise.resolve(source)
  if (typeof Response !== 'undefined' && source instanceof Response) return compileResponse(source, report)
  if (typeof source !== 'string' && !(source instanceof URL)) return WebAssembly.compile(source as BufferSource)
  const base = typeof document === 'undefined' ? import.meta.url : document.baseURI
  const url = new URL(source, base).href
  let module = modules.get(url)
  if (!module) {
    module = load(url, report)
    modules.set(url, module)
    module.catch(() => modules.delete(url))
  }
  return module
}

async function load(url: string, report: Report): Promise<WebAssembly.Module> {
  report({ loaded: 0, phase: 'download' })
  if (url.startsWith('file:')) {
    // Node's fetch does not read files. The name keeps bundlers from looking for the module.
    const fs = 'node:fs/promises'
    const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ fs) as typeof import('node:fs/promises')
    return WebAssembly.compile(await readFile(new URL(url)))
  }
  return compileResponse(await fetch(url), report)
}

async function compileResponse(response: Response, report: Report): Promise<WebAssembly.Module> {
  if (!response.ok) {
    throw new RegistryError('load_failed', `the module could not be loaded: ${response.url} answered ${response.status}`, {
      status: response.status, retryable: response.status >= 500,
      hint: 'Serve portolan.wasm beside the script, or pass options.wasm.',
    })
  }
  // The bytes are counted on a copy: a wrapped response would lose the engine's code cache.
  count(response, report)
  if (/^application\/wasm/i.test(response.headers.get('content-type') ?? '')) {
    return WebAssembly.compileStreaming(response)
  }
  return WebAssembly.compile(await response.arrayBuffer())
}

async function count(response: Response, report: Report): Promise<void> {
  if (report === ignore) return
  const total = Number(response.headers.get('content-length')) || undefined
  let loaded = 0
  try {
    const reader = response.clone().body!.getReader()
    for (let r = await reader.read(); !r.done; r = await reader.read()) {
      loaded += r.value.length
      report({ loaded, total: total && total >= loaded ? total : undefined, phase: 'download' })
    }
  } catch { /* the compiler reports it */ }
}

export const ignore: Report = () => {}
