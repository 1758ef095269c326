/**
 * The bytes of a base64 text. Throws a DOMException if it is no base64. A loop, because `Uint8Array.from` makes a text
 * of each byte first: 12 MiB take 1.7 s and 270 MB with it, and 80 ms without.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i)
  return bytes
}
