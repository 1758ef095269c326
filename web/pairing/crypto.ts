export type Bytes = Uint8Array<ArrayBuffer>

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

export async function digest(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

const hmac = { name: 'HMAC', hash: 'SHA-256' }
/** Returns a key for MACs that cannot be exported. */
export const macKey = (key: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', key, hmac, false, ['sign', 'verify'])
export async function mac(key: CryptoKey, text: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign(hmac, key, text))
}
/** Compares in constant time. */
export const macIs = (key: CryptoKey, text: Bytes, tag: Bytes): Promise<boolean> =>
  crypto.subtle.verify(hmac, key, tag, text)
