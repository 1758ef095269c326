export type Bytes = Uint8Array<ArrayBuffer>

export const size = 32
export const random = (): Bytes => crypto.getRandomValues(new Uint8Array(size))
export const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

/** base64url without padding. */
export function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Throws for what is not base64url without padding. */
export function decode(text: unknown): Bytes {
  if (typeof text !== 'string' || !/^[\w-]*$/.test(text)) throw new TypeError('not base64url')
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
}

/** A label and fields, each as its length (32 bits, big endian) and its bytes: no two lists look the same. */
export function joined(label: string, ...fields: (Uint8Array | string)[]): Bytes {
  const parts = [label, ...fields].map((f) => (typeof f === 'string' ? utf8(f) : f))
  const out = new Uint8Array(parts.reduce((n, p) => n + 4 + p.length, 0))
  const view = new DataView(out.buffer)
  let at = 0
  for (const part of parts) {
    view.setUint32(at, part.length)
    out.set(part, at + 4)
    at += 4 + part.length
  }
  return out
}

export async function digest(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

const hmac = { name: 'HMAC', hash: 'SHA-256' }
/** A key for MACs. It cannot be read again. */
export const macKey = (key: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', key, hmac, false, ['sign', 'verify'])
export async function mac(key: CryptoKey, text: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign(hmac, key, text))
}
/** Compares in constant time. */
export const macIs = (key: CryptoKey, text: Bytes, tag: Bytes): Promise<boolean> =>
  crypto.subtle.verify(hmac, key, tag, text)
