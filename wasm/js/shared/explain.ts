import { RegistryError } from './registry-error.ts'

/** Names the missing CSP source. Chromium's message names a wrong one, and Firefox says "blocked by CSP". */
export function explainWasm(e: unknown): RegistryError {
  if (e instanceof RegistryError) return e
  const text = e instanceof Error ? e.message : String(e)
  if (/unsafe-eval|Content Security Policy|by CSP/i.test(text)) {
    return new RegistryError('csp', "the page's Content Security Policy forbids WebAssembly", {
      hint: "Add 'wasm-unsafe-eval' to script-src.",
      cause: e,
    })
  }
  return new RegistryError('load_failed', `the module could not be loaded: ${text}`, {
    hint: 'Serve portolan.wasm beside the script, or pass options.wasm.',
    retryable: true,
    cause: e,
  })
}
