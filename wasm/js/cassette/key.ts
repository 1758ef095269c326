import { outsideStrings } from '../shared/json.ts'

/** The most digits of a number that a double always keeps. */
const safe = 15

/** Arguments as a value for the tape. A number that JavaScript would round stays a text. */
export function readArguments(text: string): unknown {
  return JSON.parse(
    outsideStrings(
      text,
      /-?\d[\d.eE+-]*/g,
      (part) => part.length <= safe ? part : JSON.stringify(`number ${part}`),
    ),
  )
}

/** The same text for all JSON texts of a value: members sorted by name, without white space. */
export function canonical(text: string): string {
  return write(JSON.parse(text))
}

function write(v: unknown): string {
  if (Array.isArray(v)) return `[${v.map(write).join()}]`
  if (typeof v !== 'object' || v === null) return JSON.stringify(v)
  return `{${
    Object.keys(v).sort().map((k) => `${JSON.stringify(k)}:${write((v as Record<string, unknown>)[k])}`).join()
  }}`
}

/** A 64-bit FNV-1a hash, which names arguments without showing them. */
export function shortHash(text: string): string {
  let h = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n)
  return h.toString(16).padStart(16, '0')
}
