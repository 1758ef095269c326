import type { ServerHealth } from './types.ts'

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
