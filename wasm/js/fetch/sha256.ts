// Synchronous SHA-256 (FIPS 180-4). crypto.subtle is asynchronous, and a list cannot wait for it.

/** Cube and square roots of primes, their first 32 bits. */
const primes: number[] = []
for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n)
const fraction = (root: number) => ((root % 1) * 2 ** 32) | 0
const k = Int32Array.from(primes, (p) => fraction(Math.cbrt(p)))
const initial = Int32Array.from(primes.slice(0, 8), (p) => fraction(Math.sqrt(p)))

const w = new Int32Array(64)
const h = new Int32Array(8)

function compress(b: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++, at += 4) w[i] = (b[at]! << 24) | (b[at + 1]! << 16) | (b[at + 2]! << 8) | b[at + 3]!
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!, y = w[i - 2]!
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0
  }
  let a = h[0]!, b1 = h[1]!, c = h[2]!, d = h[3]!, e = h[4]!, f = h[5]!, g = h[6]!, hh = h[7]!
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = (hh + s1 + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const t2 = (s0 + ((a & b1) ^ (a & c) ^ (b1 & c))) | 0
    hh = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b1
    b1 = a
    a = (t1 + t2) | 0
  }
  h[0]! += a
  h[1]! += b1
  h[2]! += c
  h[3]! += d
  h[4]! += e
  h[5]! += f
  h[6]! += g
  h[7]! += hh
}

const encoder = new TextEncoder()
let room = new Uint8Array(16 << 10)

/** The digest of a text's UTF-8 form, as base64url without padding. */
export function sha256(text: string): string {
  if (room.length < text.length * 3 + 72) room = new Uint8Array(text.length * 3 + 72)
  const n = encoder.encodeInto(text, room).written
  const end = (n + 72) & ~63 // a bit, zeros, and the length in 8 bytes
  room.fill(0, n, end)
  room[n] = 0x80
  for (let at = end - 1, bits = n * 8; bits > 0; at--, bits = Math.floor(bits / 256)) room[at] = bits % 256
  h.set(initial)
  for (let at = 0; at < end; at += 64) compress(room, at)
  return base64url()
}

const digits = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
const codes = new Uint8Array(43)

function base64url(): string {
  for (let k = 0, bit = 0; k < 43; k++, bit += 6) {
    const i = bit >> 5, off = bit & 31
    codes[k] = digits[((h[i]! << off) | (off > 26 && i < 7 ? h[i + 1]! >>> (32 - off) : 0)) >>> 26]!
  }
  return String.fromCharCode.apply(null, codes as unknown as number[])
}
