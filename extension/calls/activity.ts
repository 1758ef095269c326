import type { Activity } from '../messages.ts'
import { Stored } from '../stored.ts'

const most = 500
/** A call that is shorter than this, in ms, is kept once. */
const writeEvery = 200

/** What happened, for the person: without arguments, answers or secrets. It ends with the browser's session. */
export class ActivityLog {
  private readonly stored: Stored<Activity[]>

  constructor(changed: () => void) {
    this.stored = new Stored<Activity[]>('session', 'activity', [], changed, writeEvery)
  }

  /** What ran when the worker ended came to nothing. */
  async load(): Promise<void> {
    await this.stored.load()
    if (!this.stored.value.some((a) => a.outcome === 'running')) return
    await this.stored.set(
      this.stored.value.map((a) => (a.outcome === 'running'
        ? {
          ...a,
          outcome: 'error',
          code: 'WORKER_ENDED',
          text: `${a.text}: the browser ended the extension's worker meanwhile`,
        }
        : a)
      ),
    )
  }

  get list(): Activity[] {
    return this.stored.value
  }

  add(entry: Omit<Activity, 'id' | 'at'>): string {
    const id = crypto.randomUUID()
    void this.stored.set([...this.stored.value, { ...entry, id, at: Date.now() }].slice(-most))
    return id
  }

  end(id: string, patch: Partial<Activity>): void {
    void this.stored.set(
      this.stored.value.map((a) => (a.id === id ? { ...a, ...patch, durationMs: Date.now() - a.at } : a)),
    )
  }

  clear(): void {
    void this.stored.set([])
  }
}
