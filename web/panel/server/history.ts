import type { Snapshot } from '../../../wasm/js/shared/types.ts'

/** What has been seen of one server, oldest first. */
export interface Track {
  /** Latencies in ms. */
  readonly latencies: readonly number[]
  /** Whether contacts went well. */
  readonly outcomes: readonly boolean[]
}

const kept = 24
const none: Track = { latencies: [], outcomes: [] }

/** Remembers how servers did, from one snapshot to the next. */
export class History {
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
