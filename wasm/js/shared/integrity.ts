import type { WireError } from './errors.ts'

const algorithms = { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' } as const
type Algorithm = keyof typeof algorithms

/**
 * Compares bytes, or those at a URL, with integrity metadata (W3C Subresource Integrity: the strongest algorithm
 * counts). Returns the error if they differ.
 */
export async function mismatch(
  metadata: string,
  address: string,
  given?: BufferSource,
): Promise<WireError | undefined> {
  const wanted = [...metadata.matchAll(/(sha(?:256|384|512))-([\w+/=-]+)/g)].map(([, algorithm, digest]) => ({
    algorithm: algorithm as Algorithm,
    digest: digest!,
  }))
  const strongest = wanted.map((w) => w.algorithm).sort().at(-1)
  if (!strongest || !globalThis.crypto?.subtle) return undefined
  const bytes = given ?? await (await fetch(address)).arrayBuffer()
  const found = base64(new Uint8Array(await crypto.subtle.digest(algorithms[strongest], bytes)))
  const plain = (digest: string) => digest.replaceAll('-', '+').replaceAll('_', '/').replace(/=*$/, '')
  if (wanted.some((w) => w.algorithm === strongest && plain(w.digest) === plain(found))) return undefined
  return {
    code: 'integrity_failed',
    message: `${address} is not the file that integrity names; it is ${strongest}-${found}`,
    hint:
      'Serve portolan.wasm unchanged, from the release that integrity is of. If this is the release you want, set integrity to this digest.',
  }
}

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
