import type { StateEvent } from './protocol.ts'
import type { RegistryError, ServerHealth, Snapshot } from './types.ts'

/** The health of a server that was never contacted, except its status. */
export const untried: Omit<ServerHealth, 'status'> = {
  suspended: false,
  toolCount: 0,
  toolTotal: 0,
  lastSuccessful: null,
  lastConnected: null,
  lastError: null,
  consecutiveFailures: 0,
  retryAt: null,
  latencyMs: null,
}

/** The state of a registry whose host has ended: all servers that are on have failed. */
export const failedState = (
  servers: Iterable<[name: string, s: Snapshot['servers'][string]]>,
  { message: lastError, code: errorCode, hint }: RegistryError,
): StateEvent => ({
  event: 'state',
  status: 'partial',
  servers: Object.fromEntries(
    [...servers].map(([name, s]) => [
      name,
      s.status === 'disabled' ? s : { ...s, status: 'error', toolCount: 0, lastError, errorCode, hint },
    ]),
  ),
})
