import type { WireError } from './errors.ts'
import type { Begin, StartOptions } from './protocol.ts'
import type { Channel, LoadProgress } from './types.ts'

/** What a host is started with. */
export type HostSettings = Promise<[StartOptions, Begin]>

/** A host that has been started. */
export interface StartedHost {
  channel: Channel
  mode: string
  /** Servers that the module refused. */
  refused: Record<string, WireError>
  /** Calls back once the worker has died. The returned function ends that. */
  onDied?(died: () => void): () => void
}

/** The first message to a dedicated worker, and its answer. */
export interface Launch {
  module: WebAssembly.Module
  options: StartOptions
  begin: Begin
}

/** `lock` is held as long as the worker lives, where there are locks. */
export type Launched = { launched: true; lock?: string | undefined; refused: Record<string, WireError> } | {
  refused: WireError
}

/** The name by which a worker knows that it is ours. */
export const workerName = 'portolan-module'

/** That of the second one, which the first starts when a server has sent very much; see fetch/io-worker.ts. */
export const ioWorkerName = 'portolan-lane'

/**
 * A tab joins a shared worker under a lock that it holds as long as it is there.
 * The worker answers that a module is wanted, or as if the tab had launched it. A
 * module cannot be handed to a shared worker: it compiles its own.
 */
export type Join = { join: string; begin: Begin }
export interface SharedLaunch {
  source: string | BufferSource
  integrity?: string | undefined
  options: StartOptions
  begin: Begin
  progress: boolean
}
export type Joined = Launched | { wanted: true } | { progress: LoadProgress }

/**
 * Begins the name of a shared worker. Its own name begins that of the lock it holds
 * while it has a module, and is that of the channel on which it says so.
 */
export const sharedName = 'portolan-shared '

/** Holds a lock of a fresh name until this realm ends or the signal aborts; undefined where there are no locks. */
export async function holdLock(prefix: string, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const name = prefix + crypto.randomUUID()
    await new Promise<void>((held, failed) => {
      navigator.locks.request(name, () =>
        new Promise<void>((release) => {
          held()
          signal?.addEventListener('abort', () => release())
        })).catch(failed)
    })
    return name
  } catch {
    return undefined
  }
}

/** Calls back once the holder of the lock has gone; the returned function ends that. */
export function onReleased(lock: string | undefined, gone: () => void): () => void {
  const ends = new AbortController()
  if (lock) navigator.locks.request(lock, { signal: ends.signal }, gone).catch(() => {})
  return () => ends.abort()
}
