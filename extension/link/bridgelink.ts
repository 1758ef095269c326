import type { Link as LinkState } from '../messages.ts'
import { timeout } from '../timeout.ts'
import { Connection } from '../../web/pairing/connection.ts'
import { connect, Refusal } from '../../web/pairing/handshake.ts'
import { linkProblem } from './problems.ts'

/** The stored part of a pairing. The key is kept apart. */
export type LinkRecord = Pick<LinkState, 'pairing' | 'address' | 'ephemeral'>

export interface LinkHost {
  dial(url: string): WebSocket
  profile(): Promise<{ installId: string; label: string }>
  /** chrome-extension://ID */
  origin: string
  /** Serves MCP on a proved connection of a pairing. */
  serve(connection: Connection, pairing: string): Promise<void>
  /** Called when the state has changed. */
  changed(): void
}

/** The record of one pairing. */
interface StoredPairing {
  address(): Promise<string | undefined>
  key(): Promise<CryptoKey | undefined>
}

/** The longest time until a socket is open, in ms. */
export const openTimeout = 5000
const proofTimeout = 5000
/** A bridge that is silent for two of its pings is gone. */
const silence = 50_000
/** The bridge takes 2 MiB. A UTF-16 unit has up to three bytes. */
const longestNotification = 600_000
const firstWait = 1000
/** An absent bridge is tried often, because clients wait for it. */
const longestWait = 2000
/** A bridge that refused is tried rarely. */
const refusedWait = 60_000

/** The close reason of the switch that stops everything. The bridge tells its clients (bridge/socket/limits.go). */
const stoppedByPerson = 'stopped by the person'

/** Keeps the connection to one paired bridge: dials, proves the key, dials again. */
export class BridgeLink {
  state: LinkState

  private readonly host: LinkHost
  private readonly stored: StoredPairing
  private connection: Connection | undefined
  private attempt: Promise<void> | undefined
  private failures = 0
  /** When the bridge last sent something, and the last {@link wake}, in ms of performance.now(). */
  private heardAt = 0
  private wokeAt = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  /**
   * Until then, in ms of performance.now(), a copy of this profile has the connection. Two copies would take it from
   * each other for ever.
   */
  private yieldsUntil = 0
  private stopped: boolean

  constructor(host: LinkHost, record: LinkRecord, stored: StoredPairing, stopped: boolean) {
    this.host = host
    this.stored = stored
    this.stopped = stopped
    const status = stopped ? 'stopped' : 'connecting'
    this.state = { ...record, status, since: null, retryAt: null, error: null }
  }

  /** Connects if that is wanted and not done yet. Called by alarms, at the start, and by the user. */
  async wake(): Promise<void> {
    const now = performance.now() // the clock may be set
    if (now - this.wokeAt > silence) this.heardAt = now // the computer slept, and the bridge with it
    this.wokeAt = now
    if (now - this.heardAt > silence) this.connection?.close(1000, 'the bridge is silent')
    if (this.stopped || this.connection || now < this.yieldsUntil) return
    this.attempt ??= this.dial().finally(() => {
      this.attempt = undefined
    })
    return this.attempt
  }

  /** Notifies the bridge if it is connected. A longer notification is dropped: the bridge would end the connection. */
  notify(method: string, params: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', method, params })
    if (text.length < longestNotification) this.connection?.send(text)
  }

  stop(stopped: boolean): void {
    this.stopped = stopped
    clearTimeout(this.timer)
    this.connection?.close(1000, stoppedByPerson)
    if (stopped) this.set({ status: 'stopped', since: null, retryAt: null, error: null })
    else void this.wake()
  }

  /** Ends the connection, because the pairing has ended. */
  async end(): Promise<void> {
    this.stopped = true
    clearTimeout(this.timer)
    this.connection?.close(1000, 'unpaired')
    await this.attempt
  }

  /** Connects again, as after a start. */
  async reconnect(): Promise<void> {
    clearTimeout(this.timer)
    this.failures = this.yieldsUntil = 0
    this.connection?.close(1000, 'connecting again')
    await this.connection?.ended
    await this.attempt
    await this.wake()
  }

  private async dial(): Promise<void> {
    clearTimeout(this.timer)
    const { host, stored, state: { pairing } } = this
    let { address } = this.state
    let connection: Connection | undefined
    try {
      const [now, key] = await Promise.all([stored.address(), stored.key()])
      if (this.stopped) return
      address = now ?? address
      this.set({ status: 'connecting', address, retryAt: null })
      if (!key) throw new Refusal('NO_KEY', 'the key of the pairing is lost')
      connection = await Connection.open(host.dial(`ws://${address}/extension`), openTimeout)
      await this.prove(connection, address, key)
      if (this.stopped) return connection.close(1000, stoppedByPerson)
      this.open(connection)
      await host.serve(connection, pairing)
    } catch (e) {
      connection?.close()
      if (this.connection === connection) this.connection = undefined
      this.failed(e, address)
    }
  }

  private async prove(connection: Connection, address: string, key: CryptoKey): Promise<void> {
    const proof = connect(connection, { ...await this.host.profile(), address, origin: this.host.origin }, key)
    const proved = await timeout(proofTimeout, proof.then(() => true))
    if (proved) return
    connection.close(1000, 'no answer')
    await proof
  }

  private open(connection: Connection): void {
    this.connection = connection
    this.heardAt = performance.now()
    connection.intercept = (text) => {
      this.heardAt = performance.now()
      return answerPing(connection, text)
    }
    this.failures = 0
    this.set({ status: 'connected', since: Date.now(), retryAt: null, error: null })
    void connection.ended.then((why) => {
      if (this.connection !== connection) return
      this.connection = undefined
      if (!this.stopped) this.failed(why, this.state.address)
    })
  }

  private failed(e: unknown, address: string): void {
    if (this.stopped) return
    const refused = e instanceof Refusal
    const error = linkProblem(e, address)
    const replaced = error.code === 'REPLACED'
    const growing = Math.min(refused ? refusedWait : longestWait, firstWait * 2 ** this.failures)
    if (!replaced) this.failures++
    const wait = replaced ? refusedWait : growing
    if (replaced) this.yieldsUntil = performance.now() + wait
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.yieldsUntil = 0
      // An attempt may still serve the connection that has ended, and nothing else would dial after it.
      void Promise.resolve(this.attempt).then(() => this.wake())
    }, wait)
    this.set({ status: refused ? 'refused' : 'waiting', since: null, retryAt: Date.now() + wait, error })
  }

  private set(patch: Partial<LinkState>): void {
    this.state = { ...this.state, ...patch }
    this.host.changed()
  }
}

/** Answers the bridge's own pings, so that they do not wait for the module. */
function answerPing(connection: Connection, text: string): boolean {
  if (text.length > 200 || !text.includes('"ping#')) return false
  try {
    const { id, method } = JSON.parse(text) as { id?: unknown; method?: unknown }
    if (method !== 'ping' || typeof id !== 'string') return false
    connection.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    return true
  } catch {
    return false
  }
}
