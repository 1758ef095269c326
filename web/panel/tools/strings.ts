const maxText = 64 << 10
const maxStrings = 2000
const maxDepth = 64

/** All strings of a JSON value, names of members included, each with where it is; bounded. */
export function* stringsOf(value: unknown): Generator<{ where: string; text: string }> {
  let left = maxText
  let count = 0
  const stack: { where: string; v: unknown; depth: number }[] = [{ where: '', v: value, depth: 0 }]
  while (stack.length && left > 0 && count < maxStrings) {
    const { where, v, depth } = stack.pop()!
    if (typeof v === 'string') {
      count++
      yield { where, text: v.slice(0, left) }
      left -= v.length
    } else if (typeof v === 'object' && v !== null && depth < maxDepth) {
      const inside = Object.entries(v).slice(0, maxStrings)
      // A name of plain letters says nothing by itself.
      for (const [key] of inside) if (!/^[\w$-]*$/.test(key)) yield { where, text: key.slice(0, 1000) }
      for (const [key, e] of inside.reverse()) stack.push({ where: `${where}/${key.slice(0, 100)}`, v: e, depth: depth + 1 })
    }
  }
}

/** The names of a schema's properties, to a few levels. */
export function parametersOf(schema: unknown, depth = 3): string[] {
  const properties = typeof schema === 'object' && schema !== null ? (schema as { properties?: unknown }).properties : undefined
  if (typeof properties !== 'object' || properties === null) return []
  return Object.entries(properties).slice(0, 200).flatMap(([name, s]) => [name, ...(depth > 1 ? parametersOf(s, depth - 1) : [])])
}
