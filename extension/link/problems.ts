import { Refusal } from './handshake.ts'
import { Gone } from './socket.ts'

export const defaultAddress = '127.0.0.1:55156'

/** What went wrong, and what to do. */
export interface Problem {
  code: string
  message: string
}

/** The bridge is on this machine: nothing else is dialled. */
export function addressProblem(address: string): Problem | undefined {
  const port = /^(?:127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})$/.exec(address)?.[1]
  if (port && Number(port) > 0 && Number(port) < 65536) return undefined
  return {
    code: 'BAD_ADDRESS',
    message:
      `The bridge is on this computer: its address is 127.0.0.1, localhost or [::1] and a port, such as ${defaultAddress}.`,
  }
}

export function pairingProblem(e: unknown, address: string): Problem {
  if (e instanceof Refusal) {
    const said: Record<string, string> = {
      NOT_PAIRING: 'The bridge is not waiting to be paired. Run "portolan bridge pair" and try again.',
      DECLINED: e.remote
        ? 'The pairing was not confirmed in the terminal.'
        : 'These are not the digits that the terminal shows. Begin again, and if they differ again, another program stands between the two.',
      TOO_MANY: 'Too many attempts. Run "portolan bridge pair" again.',
    }
    return { code: e.code, message: said[e.code] ?? `${e.message}.` }
  }
  return gone(e, address, 'Run "portolan bridge pair" in a terminal first.')
}

export function linkProblem(e: unknown, address: string): Problem {
  if (e instanceof Refusal) {
    const said: Record<string, string> = {
      NOT_PAIRED: 'The bridge does not know this browser profile (any more). Pair again.',
      BAD_PROOF: e.remote
        ? 'The bridge does not accept the key of this browser profile. Pair again.'
        : `${e.message}. Another program may hold its port.`,
    }
    return { code: e.code, message: said[e.code] ?? `${e.message}.` }
  }
  return gone(e, address, 'It is started with "portolan bridge", or by an MCP client that uses it.')
}

function gone(e: unknown, address: string, what: string): Problem {
  const { code, message } = e as Gone
  if (message === 'replaced by a newer connection')
    return { code: 'REPLACED', message: 'Another browser with a copy of this profile is connected.' }
  if (message === 'revoked')
    return { code: 'NOT_PAIRED', message: 'The pairing was revoked at the bridge. Pair again.' }
  if (code === 1013) return { code: 'TOO_MANY', message: 'The bridge has too many connections.' }
  if (e instanceof Gone && message)
    return { code: 'DISCONNECTED', message: `The bridge ended the connection: ${message}.` }
  if (e instanceof Gone) return { code: 'NO_BRIDGE', message: `No bridge answers on ${address}. ${what}` }
  return { code: 'UNKNOWN', message: String(message ?? e) }
}
