const algorithms = { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' } as const
type Algorithm = keyof typeof algorithms

/**
 * Whether bytes, or those at an address, are other than the integrity metadata
 * says (W3C Subresource Integrity: the strongest algorithm counts): then what they are.
 */
export async function mismatch(metadata: string, source: string | BufferSource): Promise<string | undefined> {
  const wanted = [...metadata.matchAll(/(sha(?:256|384|512))-([\w+/=-]+)/g)].map(([, algorithm, digest]) => ({ algorithm: algorithm as Algorithm, digest: digest! }))
  const strongest = wanted.map((w) => w.algorithm).sort().at(-1)
  if (!strongest || !globalThis.crypto?.subtle) return undefined
  const bytes = typeof source === 'string' ? await (await fetch(source)).arrayBuffer() : source
  const found = base64(new Uint8Array(await crypto.subtle.digest(algorithms[strongest], bytes)))
  const plain = (digest: string) => digest.replaceAll('-', '+').replaceAll('_', '/').replace(/=*$/, '')
  if (wanted.some((w) => w.algorithm === strongest && plain(w.digest) === plain(found))) return undefined
  return `${strongest}-${found}`
}

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
