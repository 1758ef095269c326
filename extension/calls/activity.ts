import type { Activity } from '../messages.ts'
import { Stored } from '../stored.ts'

const most = 500
/** Changes within this time, in ms, are one write. So a shorter call is written once. */
const writeEvery = 200

/** The log for the user, without arguments, answers or secrets. It ends with the browser's session. */
export class ActivityLog extends Stored<Activity[]> {
  constructor(changed: () => void) {
    super('session', 'activity', [], changed, { at: 0, text: '' }, writeEvery)
  }

  /** Reads the log. Calls that ran when the worker ended have failed. */
  override async load(): Promise<void> {
    await super.load()
    const ran = this.value.filter((a) => a.outcome === 'running')
    for (const a of ran) {
      a.outcome = 'error'
      a.code = 'WORKER_ENDED'
      a.text += ": the browser ended the extension's worker meanwhile"
    }
    if (ran.length) await this.set([...this.value])
  }

  /** Adds an entry, and returns its id. */
  add(entry: Omit<Activity, 'id' | 'at'>): string {
    const id = crypto.randomUUID()
    void this.set([...this.value, { ...entry, id, at: Date.now() }].slice(-most))
    return id
  }

  end(id: string, patch: Partial<Activity>): void {
    const ended = (a: Activity) => ({ ...a, ...patch, durationMs: Date.now() - a.at })
    void this.set(this.value.map((a) => (a.id === id ? ended(a) : a)))
  }

  clear(): void {
    void this.set([])
  }
}
