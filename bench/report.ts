/** Samples by variant. */
export type Table = Record<string, number[]>

export function median(samples: number[]): number {
  const s = [...samples].sort((a, b) => a - b)
  return s.length % 2 ? s[s.length >> 1]! : (s[s.length / 2 - 1]! + s[s.length / 2]!) / 2
}

const digits = (v: number) => (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2))

/** Prints medians, and each variant's ratio to the peer in brackets. */
export function print(tables: Record<string, Table>, peer: string): void {
  const variants = [...new Set(Object.values(tables).flatMap(Object.keys))]
  console.log(`\nmedians (ratio to ${peer})\n`)
  console.log(`| what | ${variants.join(' | ')} |`)
  console.log(`|---|${variants.map(() => '---').join('|')}|`)
  for (const [name, table] of Object.entries(tables)) {
    const base = table[peer] && median(table[peer])
    const cells = variants.map((v) => {
      if (!table[v]) return ''
      const m = median(table[v])
      return v !== peer && base ? `${digits(m)} (${(m / base).toFixed(2)})` : digits(m)
    })
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
}

/** The goals of the default module, as ratios to the TypeScript client 2.4.0 or as plain values. */
const wanted: { table: string; most: number; ratio: boolean; variant?: string }[] = [
  { table: 'first: 1 x 50, ms', most: 1.2, ratio: true },
  { table: 'first: 10 x 50, ms', most: 0.9, ratio: true },
  { table: 'first: 10 x 50, 40 ms away, ms', most: 1, ratio: true },
  { table: 'first: 50 x 50, ms', most: 0.9, ratio: true },
  { table: 'first: 50 x 50: CPU of the page, ms', most: 0.9, ratio: true },
  { table: 'first: 10 x 500, ms', most: 0.6, ratio: true },
  { table: 'first: 1 x 5,000, ms', most: 0.5, ratio: true },
  { table: 'first: 10 x 100: memory of the page (PSS), MB', most: 1.4, ratio: true },
  { table: 'first: 1 x 5,000: memory of the page (PSS), MB', most: 1.3, ratio: true },
  { table: 'cold: page to the lists of 3 servers, ms', most: 1.1, ratio: true },
  { table: 'cold: page to the lists of 3 servers, 40 ms away, ms', most: 1.3, ratio: true },
  { table: 'return: page to the lists of 3 servers, ms', most: 0.9, ratio: true },
  { table: 'gap: 1 x 5,000, ms', most: 50, ratio: false },
  { table: 'small call p50, ms', most: 0.9, ratio: true },
  { table: 'CPU per call, ms', most: 0.9, ratio: true },
  { table: '16-way, ms per call', most: 0.9, ratio: true },
  { table: '10 KB result p50, ms', most: 1.1, ratio: true },
  { table: '1 MB result p50, ms', most: 1.1, ratio: true },
  { table: 'return: script to the first tools of 10 x 50, ms', most: 60, ratio: false },
  { table: 'start to first list, warm cache, ms', most: 1.2, ratio: true },
  { table: '500 tools with output schemas, ms', most: 0.3, ratio: true },
  { table: 'longest main-thread gap while 5,000 tools arrive, ms', most: 50, ratio: false },
  { table: 'wasm memory, MB: with 10 x 100 tools', most: 6, ratio: false, variant: 'portolan-main' },
  { table: 'wasm memory, MB: with 5,000 tools', most: 8, ratio: false, variant: 'portolan-main' },
]

export function goals(tables: Record<string, Table>): void {
  console.log('\ngoals\n')
  for (const { table, most, ratio, variant = 'portolan' } of wanted) {
    const own = tables[table]?.[variant]
    const peer = tables[table]?.client2
    if (!own || (ratio && !peer)) continue
    const value = ratio ? median(own) / median(peer!) : median(own)
    console.log(`${value <= most ? 'met   ' : 'MISSED'} ${value.toFixed(2)} (at most ${most}) ${table}`)
  }
}
