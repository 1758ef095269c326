import { fromWire } from './errors.ts'
import { RegistryError } from './registry-error.ts'
import type { LoadProgress } from './types.ts'

export type Report = (p: LoadProgress) => void
export const ignore: Report = () => {}

type Mismatch = typeof import('./integrity.ts').mismatch

/** Compiles the module from a URL, a response or bytes. */
export async function download(
  source: string | Response | BufferSource | WebAssembly.Module,
  integrity: string | undefined,
  checker: () => Promise<Mismatch>,
  report: Report,
): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source
  if (typeof Response !== 'undefined' && source instanceof Response) return compileResponse(source, report)
  if (typeof source !== 'string') return WebAssembly.compile(source as BufferSource)
  report({ loaded: 0, phase: 'download' })
  if (source.startsWith('file:')) {
    // Node's fetch reads no files. Bundlers would resolve an import() of node:fs.
    const bytes = await process.getBuiltinModule('node:fs/promises').readFile(new URL(source))
    if (integrity) await check(source, integrity, checker, bytes)
    return WebAssembly.compile(bytes)
  }
  let response: Response
  try {
    response = await fetch(source, integrity ? { integrity } : {})
  } catch (e) {
    // The error does not tell a network failure from a wrong digest.
    if (integrity) await check(source, integrity, checker)
    throw e
  }
  return compileResponse(response, report)
}

/** Throws if the bytes, or those at the URL, do not match the digest. */
async function check(
  source: string,
  integrity: string,
  checker: () => Promise<Mismatch>,
  bytes?: BufferSource,
): Promise<void> {
  const found = await (await checker())(integrity, source, bytes)
  if (found) throw fromWire(found)
}

async function compileResponse(response: Response, report: Report): Promise<WebAssembly.Module> {
  if (!response.ok) {
    throw new RegistryError(
      'load_failed',
      `the module could not be loaded: ${response.url} answered ${response.status}`,
      {
        status: response.status,
        retryable: response.status >= 500,
        hint: response.status === 403
          ? 'Vite refuses files outside of your project: npm install --install-links, or allow its folder in server.fs.allow.'
          : 'Serve portolan.wasm beside the script, or pass options.wasm.',
      },
    )
  }
  // A copy is counted, because a wrapped response would lose the engine's code cache.
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
