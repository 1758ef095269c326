import type { Codes } from '../translations.ts'
import type { ServerHealth } from '../../../wasm/js/shared/types.ts'
import type { Standing } from '../../ui/icons.ts'

/** The cause of a fault of a server. Each has messages. */
export type Cause = Exclude<Codes<'cause_'>, `${string}_why` | 'sign_in_at' | 'cors_secrets'>

/** The browser's word about the page's permission to reach a server's address. */
export type LocalNetwork = PermissionState | undefined

/** The permissions of Local Network Access, by what they are about; empty where a browser has none. */
export type LocalNetworks = { [range in 'loopback-network' | 'local-network']?: PermissionState }

/** The permission that a server's address needs. */
export function permissionFor(url: string, states: LocalNetworks): LocalNetwork {
  if (!isLocal(url)) return undefined
  const loopback = /^(localhost|.*\.localhost|127\..*|\[::1\])$/.test(new URL(url).hostname)
  return states[loopback ? 'loopback-network' : 'local-network']
}

/** The standing of a server. `localNetwork` counts for servers on this machine or network. */
export function standingOf(h: ServerHealth, localNetwork: LocalNetwork): Standing {
  if (h.status === 'disabled') return 'off'
  if (h.status === 'connected') return 'connected'
  if (h.status === 'connecting') return 'connecting'
  if (!h.lastError) return h.suspended ? 'paused' : 'idle'
  const cause = causeOf(h, localNetwork)
  if (cause === 'sign_in' || cause === 'local_network') return cause
  if (cause === 'credentials') return 'sign_in'
  if (h.suspended) return 'paused'
  return cause === 'cors' ? 'cors' : 'failed'
}

// A diagnosis of the proxy ends the message with its code.
const diagnosed = /\((cors|dns|tls|not_https|down|timeout|address|path|get)\)$/

const causes: { [code: string]: Cause } = {
  sign_in_needed: 'sign_in',
  sign_in_failed: 'sign_in',
  unauthorized: 'credentials',
  forbidden: 'forbidden',
  proxy_refused: 'proxy',
  timeout: 'timeout',
  rate_limited: 'rate',
  protocol: 'protocol',
  redirect: 'redirect',
  invalid_config: 'config',
  runtime_crashed: 'crash',
  server_error: 'server',
  http_status: 'server',
}

/** Names the cause of a server's last error. */
export function causeOf(h: Pick<ServerHealth, 'errorCode' | 'lastError'>, localNetwork: LocalNetwork): Cause {
  if (h.errorCode === 'http_status' && /status 40[45]/.test(h.lastError ?? '')) return 'path'
  if (h.errorCode !== 'network') return causes[h.errorCode ?? ''] ?? 'other'
  const said = diagnosed.exec(h.lastError ?? '')?.[1]
  if (said && said !== 'address' && said !== 'get') return said as Cause
  return localNetwork === 'denied' || localNetwork === 'prompt' ? 'local_network' : 'network'
}

/** Whether a URL is of this machine or its network, which browsers guard (Local Network Access). */
export function isLocal(url: string): boolean {
  if (!URL.canParse(url)) return false
  const host = new URL(url).hostname
  return host === 'localhost' || /\.(localhost|local|internal|home\.arpa)$/.test(host) ||
    /^(127|10)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\./.test(host) || /^\[(::1|f[cd]|fe[89ab])/.test(host)
}

/**
 * Tells what the browser allows this page of the local network, now and when that changes. A page of that network
 * needs no permission. It ends with the signal.
 */
export async function watchLocalNetwork(tell: (states: LocalNetworks) => void, signal: AbortSignal): Promise<void> {
  if (isLocal(location.href)) return
  let states: LocalNetworks = {}
  for (const range of ['loopback-network', 'local-network'] as const) {
    try {
      const status = await navigator.permissions.query({ name: range as PermissionName })
      if (signal.aborted) return
      const take = () => tell(states = { ...states, [range]: status.state })
      take()
      status.addEventListener('change', take, { signal })
    } catch { /* a browser without the permission lets the page through */ }
  }
}
