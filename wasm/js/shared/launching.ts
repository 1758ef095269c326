import { ignore } from './download.ts'
import type { WireError } from './errors.ts'
import type { Begin, StartOptions } from './protocol.ts'
import type { Channel, LoadProgress, Mode } from './types.ts'

/** The options and servers of a new host. */
export type HostSettings = Promise<[StartOptions, Begin]>

/** A host that has been started. */
export interface StartedHost {
  channel: Channel
  mode: Mode
  /** Servers that the module refused. */
  refused: Record<string, WireError>
  /**
   * Calls back once the worker has died, or with true once the page is back from the back/forward cache and has lost
   * it. The returned function ends that.
   */
  onDied?(died: (isBack?: boolean) => void): () => void
}

/**
 * The first message to a dedicated worker, and its answer. The module then waits for its options. With `rehearses`,
 * another message says that a rehearsal has ended, unless the options came first.
 */
export interface Load {
  module: WebAssembly.Module
  rehearses: boolean
}
export type Loaded = { loaded: true } | { refused: WireError }
export type Rehearsed = { rehearsed: true }

/** May come before Load: the settings of Launch, for the requests that leave before the module starts. */
export type Ahead = Awaited<HostSettings>

/** The second message to a dedicated worker. */
export interface Launch {
  options: StartOptions
  begin: Begin
}

/** The answer to it. `lock` is held as long as the worker lives, where there are locks. */
export type Launched = { launched: true; lock?: string | undefined; refused: Record<string, WireError> } | {
  refused: WireError
}

/** The name of the worker that runs a host. */
export const workerName = 'portolan-module'

/** The name of the IO worker; see fetch/io-worker.ts. */
export const ioWorkerName = 'portolan-io'

/** The name of the worker that runs a rehearsal; see host/rehearsal.ts. */
export const rehearsalName = 'portolan-rehearsal'

/**
 * A tab joins a shared worker with the name of a lock that the tab holds for its life. `since` is the tab's timeOrigin.
 * The worker replies that a module is wanted, or that the host is launched. A module cannot be posted to a shared
 * worker, which compiles its own.
 */
export type Join = { join: string; begin: Begin; since: number }
export interface SharedLaunch {
  source: string | BufferSource
  integrity?: string | undefined
  options: StartOptions
  begin: Begin
}
export type Joined = Launched | { wanted: true } | { progress: LoadProgress }

/**
 * The prefix of a shared worker's name. The lock that the worker holds while it has a module begins with that name. The
 * channel on which it announces the module has that name.
 */
export const sharedName = 'portolan-shared '

/** Holds a lock of a new name until this realm ends or the signal aborts. Undefined without the Web Locks API. */
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

/**
 * Calls back once the holder of the lock has gone; the returned function ends that. A lock that nobody holds at first
 * says nothing: deleting the data of a site replaces the locks of its new workers.
 */
export function onReleased(lock: string | undefined, gone: () => void): () => void {
  const ends = new AbortController()
  if (lock)
    navigator.locks?.request(
      lock,
      { ifAvailable: true },
      async (free) => free || navigator.locks.request(lock, { signal: ends.signal }, () => gone()),
    ).catch(ignore)
  return () => ends.abort()
}
