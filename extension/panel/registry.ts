import type { Channel, Registry, ServerConfig } from '../../wasm/js/shared/types.ts'
import type { Port } from '../browser.ts'
import { covers } from './permissions.ts'

/** A port as the channel that connectRegistry takes. */
export function channelOf(port: Port): Channel {
  const channel: Channel = { post: (m) => port.post(m), onmessage: null, close: () => port.close() }
  port.onmessage = (m) => channel.onmessage?.(m)
  return channel
}

/** The page's part in a registry that asks. */
interface Asking {
  /** Match patterns that are granted now. */
  granted(): readonly string[]
  /** Asks the browser, in the click under way. */
  permit(origin: string): Promise<boolean>
  /** The browser or the person refused. The server is stored, but off. */
  refused(server: string, origin: string): void
  /** The fault of a request for which the background did not live long enough. */
  gone(): Error
}

/** The origin that the extension must be let reach; undefined for a server that is built in, or no address. */
export function originToReach(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, origin } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined
}

/**
 * The registry, but before a server is switched on, the host permission for its
 * origin is asked. Without it the server is saved all the same, and stays off.
 */
export function asking(registry: Registry, page: Asking): Registry {
  /** The configuration's own `enabled`, or false where the origin must not be reached. */
  const decide = async (name: string, url: string, enabled: boolean): Promise<boolean> => {
    const origin = enabled ? originToReach(url) : undefined
    if (!origin || covers(page.granted(), origin) || await page.permit(origin)) return enabled
    page.refused(name, origin)
    return false
  }
  const configOf = (name: string): ServerConfig | undefined => registry.getSnapshot().servers[name]?.config
  const own = {
    async addServer(name: string, config: ServerConfig) {
      const enabled = await decide(name, config.url, config.enabled !== false)
      await registry.addServer(name, enabled ? config : { ...config, enabled: false })
    },
    async updateServer(name: string, patch: Partial<ServerConfig>) {
      const before = configOf(name)
      const on = 'enabled' in patch ? patch.enabled !== false : before?.enabled !== false
      const asks = on && (patch.url !== undefined || 'enabled' in patch)
      const allowed = !asks || await decide(name, patch.url ?? before?.url ?? '', true)
      await registry.updateServer(name, allowed ? patch : { ...patch, enabled: false })
    },
    async setEnabled(name: string, enabled: boolean) {
      if (!enabled || await decide(name, configOf(name)?.url ?? '', true)) await registry.setEnabled(name, enabled)
    },
  }
  const explained = (result: unknown) => (result instanceof Promise
    ? result.catch((e: { code?: string }) => {
      throw e.code === 'closed' ? page.gone() : e
    })
    : result)
  return new Proxy(registry, {
    get(target, key) {
      const value: unknown = Object.hasOwn(own, key) ? own[key as keyof typeof own] : Reflect.get(target, key)
      return typeof value === 'function' ? (...args: unknown[]) => explained(value.apply(target, args)) : value
    },
  })
}
