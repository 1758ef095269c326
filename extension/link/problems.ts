import { ConnectionClosed } from '../../web/pairing/connection.ts'
import { Refusal } from '../../web/pairing/handshake.ts'

export const defaultAddress = '127.0.0.1:55156'

/** A failure, with advice for the user. */
export interface Problem {
  code: string
  message: string
}

/** Checks that an address is on this computer. Other addresses are never dialled. */
export function addressProblem(address: string): Problem | undefined {
  const port = Number(/^(?:127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})$/.exec(address)?.[1])
  if (port > 0 && port < 65536) return undefined
  return {
    code: 'BAD_ADDRESS',
    message: 'The bridge is on this computer: its address is 127.0.0.1, localhost or [::1] and a port, ' +
      `such as ${defaultAddress}.`,
  }
}

export const pairingProblem = (e: unknown, address: string): Problem =>
  problem(e, address, 'Run "portolan bridge pair" in a terminal first.', ({ remote }) => ({
    NOT_PAIRING: 'The bridge is not waiting to be paired. Run "portolan bridge pair" and try again.',
    DECLINED: remote
      ? 'The pairing was not confirmed in the terminal.'
      : 'These are not the digits that the terminal shows. Begin again. If they differ again, another program stands ' +
        'between the browser and the bridge.',
    TOO_MANY: 'Too many attempts. Run "portolan bridge pair" again.',
  }))

export const linkProblem = (e: unknown, address: string): Problem =>
  problem(e, address, 'It is started with "portolan bridge", or by an MCP client that uses it.', (e) => ({
    NOT_PAIRED: 'The bridge does not know this browser profile (any more). Pair again.',
    NO_KEY: 'The browser has lost the key of this pairing. Pair again.',
    BAD_PROOF: e.remote
      ? 'The bridge does not accept the key of this browser profile. Pair again.'
      : `${e.message}. Another program may hold its port.`,
  }))

function problem(
  e: unknown,
  address: string,
  advice: string,
  refusals: (e: Refusal) => Record<string, string>,
): Problem {
  if (e instanceof Refusal) return { code: e.code, message: refusals(e)[e.code] ?? `${e.message}.` }
  const { name, code, message } = e as Error & { code?: unknown }
  if (!(e instanceof ConnectionClosed)) {
    const isFull = code === 'NOT_STORED' || name === 'QuotaExceededError'
    return { code: isFull ? 'NOT_STORED' : 'UNKNOWN', message: message || String(e) }
  }
  if (message === 'replaced by a newer connection')
    return { code: 'REPLACED', message: 'Another browser with a copy of this profile is connected.' }
  if (message === 'revoked')
    return { code: 'NOT_PAIRED', message: 'The pairing was revoked at the bridge. Pair again.' }
  if (code === 1013) return { code: 'TOO_MANY', message: 'The bridge has too many connections.' }
  if (message) return { code: 'DISCONNECTED', message: `The bridge ended the connection: ${message}.` }
  return { code: 'NO_BRIDGE', message: `No bridge answers on ${address}. ${advice}` }
}
