import { html, nothing, svg, type TemplateResult } from 'lit'
import type { Words } from '../translations.ts'
import type { Snapshot } from '../../../wasm/js/shared/types.ts'

/** Recent contacts with one server, oldest first. */
export interface Track {
  /** Latencies in ms. */
  readonly latencies: readonly number[]
  /** Whether contacts went well. */
  readonly outcomes: readonly boolean[]
}

const kept = 24
const none: Track = { latencies: [], outcomes: [] }

/** Collects latencies and outcomes of servers from snapshots. */
export class ContactHistory {
  private readonly tracks = new Map<string, Track>()
  private last: Snapshot['servers'] = {}

  of(server: string): Track {
    return this.tracks.get(server) ?? none
  }

  see({ servers }: Snapshot): void {
    if (servers === this.last) return
    for (const name of this.tracks.keys()) if (!servers[name]) this.tracks.delete(name)
    for (const [name, now] of Object.entries(servers)) {
      const before = this.last[name]
      if (now === before) continue
      const track = this.of(name)
      const answered = now.lastSuccessful !== null && now.lastSuccessful !== before?.lastSuccessful
      const failed = now.consecutiveFailures > (before?.consecutiveFailures ?? 0)
      if (!answered && !failed) continue
      this.tracks.set(name, {
        latencies: answered && now.latencyMs !== null
          ? [...track.latencies, now.latencyMs].slice(-kept)
          : track.latencies,
        outcomes: [...track.outcomes, ...(failed ? [false] : []), ...(answered ? [true] : [])].slice(-kept),
      })
    }
    this.last = servers
  }
}

const width = 64, height = 18

/** Recent latencies as a line. Its label has the last one and the median. */
export function sparkline({ latencies }: Track, words: Words): TemplateResult | typeof nothing {
  if (latencies.length < 2) return nothing
  const top = Math.max(...latencies, 1)
  const points = latencies.map((ms, i) =>
    `${(i * width / (latencies.length - 1)).toFixed(1)},${(height - 2 - ms / top * (height - 4)).toFixed(1)}`
  )
  const median = [...latencies].sort((a, b) => a - b)[latencies.length >> 1]!
  const label = words('latency_trend', { last: words.duration(latencies.at(-1)!), median: words.duration(median) })
  return html`<svg class="spark" role="img" aria-label=${label} viewBox="0 0 ${width} ${height}" width=${width}
    height=${height}>
    <title>${label}</title>${svg`<polyline points=${points.join(' ')}/>`}</svg>`
}

/** The last contacts as marks: high for good, low and hollow for failed. */
export function strip({ outcomes }: Track, words: Words): TemplateResult | typeof nothing {
  if (outcomes.length < 2 || outcomes.every(Boolean)) return nothing
  const failed = outcomes.filter((ok) => !ok).length
  const label = words('contacts', { n: outcomes.length, failed })
  return html`<svg class="strip" role="img" aria-label=${label} viewBox="0 0 ${outcomes.length * 5} ${height}" width=${
    outcomes.length * 5
  } height=${height}>
    <title>${label}</title>${
    outcomes.map((ok, i) =>
      svg`<rect class=${ok ? 'ok' : 'bad'} x=${i * 5 + 0.5} width="3" y=${ok ? 3 : 9.5} height=${ok ? 13 : 6} rx="1"/>`
    )
  }</svg>`
}
