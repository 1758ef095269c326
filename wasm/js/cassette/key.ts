/** The digits of a number of which a double certainly keeps all. */
const safe = 15

/** Arguments as a value to be recorded and compared. A number that JavaScript would round stays as text. */
export function readArguments(text: string): unknown {
  return JSON.parse(
    text.replace(
      /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g,
      (part) => (part[0] === '"' || part.length <= safe ? part : JSON.stringify(`number ${part}`)),
    ),
  )
}

/** One text for all JSON texts of a value: members in order of their names, no space. */
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

/** 64 bits of FNV-1a, to name arguments without showing them. */
export function shortHash(text: string): string {
  let h = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n)
  return h.toString(16).padStart(16, '0')
}
