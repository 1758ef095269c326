import type { Entry } from '../../config/types.ts'
import { boundedText } from '../catalogue/bounded.ts'
import { Connection, ConnectionClosed } from '../../pairing/connection.ts'
import { encode, pair, Refusal, type PairingUser } from '../../pairing/handshake.ts'

/** A server of a gateway. */
export interface GatewayServer {
  name: string
  url: string
}

/**
 * The reason for a failed pairing. `none`: nothing answers; `refused`: `message` says why; `differ`: the digits are not
 * those of the program at the address; `strange`: it is no gateway.
 */
export class GatewayFault extends Error {
  readonly code: 'none' | 'refused' | 'differ' | 'strange'
  constructor(code: GatewayFault['code'], message = '') {
    super(message)
    this.code = code
  }
}

/** The longest time until a socket is open. The browser may ask the person for a permission. */
const openTime = 60_000
const largestList = 1 << 20
const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\]):\d{1,5}$/

/** Pairs this page with the gateway at `address`. Returns the token for its servers. */
export async function pairWithGateway(address: string, user: PairingUser, signal: AbortSignal): Promise<string> {
  if (!loopback.test(address)) throw new GatewayFault('none')
  const socket = new WebSocket(`ws://${address}/pair`)
  const end = () => socket.close(1000, 'cancelled')
  signal.addEventListener('abort', end)
  try {
    const connection = await Connection.open(socket, openTime).catch(() => {
      throw new GatewayFault('none')
    })
    // The person may be typing when the connection ends.
    const ended = connection.ended.then((why) => {
      throw why
    })
    ended.catch(() => {})
    const profile = { installId: crypto.randomUUID(), label: location.host, origin: location.origin, address }
    return encode(
      await pair(connection, profile, {
        digits: () => Promise.race([user.digits(), ended]),
        confirmed: () => user.confirmed(),
      }),
    )
  } catch (e) {
    throw faultOf(e)
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}

function faultOf(e: unknown): unknown {
  if (e instanceof Refusal) {
    if (e.remote) return new GatewayFault('refused', e.message)
    return new GatewayFault(e.code === 'DECLINED' ? 'differ' : 'strange')
  }
  return e instanceof ConnectionClosed ? new GatewayFault('refused', e.message || 'the connection ended') : e
}

/** Reads the gateway's list of servers. */
export async function serversAt(address: string, token: string, signal: AbortSignal): Promise<GatewayServer[]> {
  const answer = await fetch(`http://${address}/servers`, {
    headers: { Authorization: `Bearer ${token}` },
    credentials: 'omit',
    redirect: 'error',
    signal,
  }).catch(() => undefined)
  const list = answer?.ok ? await boundedText(answer, largestList) : undefined
  if (list === undefined) throw new GatewayFault('none')
  const { servers } = JSON.parse(list) as { servers?: unknown }
  if (!Array.isArray(servers)) throw new GatewayFault('strange')
  return servers.slice(0, 200).flatMap((s: { name?: unknown; path?: unknown } | null) =>
    typeof s?.name === 'string' && typeof s.path === 'string' && /^\/s\/[\w.-]{1,80}\/mcp$/.test(s.path)
      ? [{ name: s.name.slice(0, 80), url: `http://${address}${s.path}` }]
      : []
  )
}

const plain = /^[\w@%+=:,./-]+$/

/**
 * The command that offers the local programs of a reading. `save`: it reads them from a file, because they need more
 * than a command line says, or hold secrets that the panel does not show.
 */
export function commandOf(entries: readonly Entry[]): { command: string; save: boolean } {
  const programs = entries.flatMap((e) => e.stdio ?? [])
  const [first] = programs
  const words = first ? [first.command, ...first.args] : []
  if (
    programs.length !== 1 || first!.env.length || words.length > 50 || words.some((w) => /\[redacted\]|…|\$\{/.test(w))
  )
    return { command: 'portolan gateway --config mcp.json', save: true }
  const quoted = words.map((w) => (plain.test(w) ? w : `'${w.replaceAll("'", `'\\''`)}'`))
  return { command: `portolan gateway -- ${quoted.join(' ')}`, save: false }
}
