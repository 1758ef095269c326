import { useEffect, useState, useSyncExternalStore } from 'react'
import { createRegistry, RegistryError } from '../../wasm/js/page/index.ts'
import type { Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'
import { useRegistry } from './registry.ts'
import type * as types from './types.ts'

export const useMCP: typeof types.useMCP = (options) => {
  const [life] = useState(() => new Life(options))
  useEffect(() => life.begin(), [life])
  const { registry, error } = useSyncExternalStore(life.subscribe, life.get, life.get)
  const { tools, servers, status } = useRegistry(registry)
  const { dispatch, rediscover } = life
  return {
    registry,
    error,
    tools,
    health: servers,
    status: error ? 'failed' : registry ? status : 'starting',
    dispatch,
    rediscover,
  }
}

interface State {
  registry?: Registry
  error?: RegistryError
  /** The component was unmounted. */
  ended?: boolean
}

/** A registry between mounting and unmounting. */
class Life {
  private readonly options: RegistryOptions | undefined
  private state: State = {}
  private readonly listeners = new Set<() => void>()
  private mounts = 0
  /** The first discovery of the registry. */
  private discovering: Promise<unknown> | undefined

  constructor(options: RegistryOptions | undefined) {
    this.options = options
  }

  get = (): State => this.state

  subscribe = (listener: () => void): () => void => {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  dispatch: types.UseMCP['dispatch'] = async (name, args, options) => {
    const registry = await this.ready(options?.signal)
    await this.listed(registry, name, options?.signal)
    return registry.dispatch(name, args, options)
  }

  rediscover: types.UseMCP['rediscover'] = async (names) => (await this.ready()).discover(names)

  /** Makes the registry; the returned function ends it. Mounting twice in a row, as StrictMode does, makes one. */
  begin(): () => void {
    const mount = ++this.mounts
    if (this.state.ended) this.set({})
    const ends = new AbortController()
    void Promise.resolve().then(() => this.mounts === mount ? this.create(ends.signal) : undefined)
    return () => {
      const left = ++this.mounts
      ends.abort()
      const { registry } = this.state
      this.set({})
      void registry?.close()
      // StrictMode mounts again at once. Otherwise calls that wait for a registry get none.
      queueMicrotask(() => this.mounts === left && this.set({ ended: true }))
    }
  }

  private async create(signal: AbortSignal): Promise<void> {
    const given = this.options?.signal
    try {
      const registry = await createRegistry({
        ...this.options,
        // createRegistry refuses what is no signal.
        signal: given instanceof AbortSignal ? AbortSignal.any([signal, given]) : given ?? signal,
      })
      if (signal.aborted) return await registry.close()
      // A module that crashed meanwhile starts again by itself.
      this.discovering = registry.discover().catch(() => {})
      this.set({ registry })
    } catch (e) {
      if (!signal.aborted) this.set({ ...this.state, error: e as RegistryError })
    }
  }

  /** Waits until the tool is listed, the first discovery has ended, or the signal aborts. */
  private listed(registry: Registry, name: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        stop()
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const stop = registry.subscribe(() => registry.has(name) && end())
      signal?.addEventListener('abort', end)
      if (signal?.aborted || registry.has(name)) end()
      else this.discovering!.then(end)
    })
  }

  /** Waits for the registry, or until the signal aborts. */
  private ready(signal?: AbortSignal): Promise<Registry> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const { registry, error, ended } = this.state
        if (registry) resolve(registry)
        else if (error) reject(error)
        else if (ended)
          reject(new RegistryError('closed', 'the component of useMCP was unmounted', { hint: 'Mount it.' }))
        else if (signal?.aborted)
          reject(new RegistryError('aborted', 'the caller cancelled', { cause: signal.reason }))
        else return
        stop()
        signal?.removeEventListener('abort', look)
      }
      const stop = this.subscribe(look)
      signal?.addEventListener('abort', look)
      look()
    })
  }

  private set(state: State): void {
    this.state = state
    for (const listener of [...this.listeners]) listener()
  }
}
