import { isLocal, type LocalNetworks } from './status.ts'

/**
 * Tells what the browser allows this page of the local network, now and when that changes. A page of that network
 * needs no leave.
 */
export async function watchLocalNetwork(tell: (states: LocalNetworks) => void): Promise<void> {
  if (isLocal(location.href)) return
  let states: LocalNetworks = {}
  for (const range of ['loopback-network', 'local-network'] as const) {
    try {
      const status = await navigator.permissions.query({ name: range as PermissionName })
      const take = () => tell(states = { ...states, [range]: status.state })
      take()
      status.onchange = take
    } catch { /* a browser without the permission lets the page through */ }
  }
}
