import type { Link as LinkState } from '../messages.ts'
import { macKey } from './bytes.ts'
import { connect, ephemeralKey, Refusal } from './handshake.ts'
import type { Keys } from './keys.ts'
import { addressProblem, defaultAddress, linkProblem } from './problems.ts'
import { Gone, Line, type Socket } from './socket.ts'

/** What lasts of a link: in storage, not in the worker's memory. The key is kept apart. */
export interface LinkRecord {
  address: string
  ephemeral: boolean
}

export interface LinkHost {
  dial(url: string): Socket
  keys: Keys
  record: { get(): Promise<LinkRecord | undefined>; set(r: LinkRecord | undefined): Promise<void> }
  profile(): Promise<{ installId: string; label: string }>
  /** chrome-extension://ID */
  origin: string
  /** Serves MCP on a connection that was proved. */
  serve(line: Line): Promise<void>
  /** The state has changed. */
  changed(): void
  /** Whether a bridge is to be looked for from time to time. */
  watch(on: boolean): void
}

/** How long a socket may take to open, in ms. */
export const openTimeout = 5000
const proofTimeout = 5000
/** A bridge that said nothing for longer than two of its pings is gone. */
const silence = 50_000
const firstWait = 1000
/** A bridge that is not there is looked for often: it costs next to nothing, and clients wait for it. */
const longestWait = 2000
/** One that refused is pressed ever less. */
const refusedWait = 60_000

/** Why a line is closed by the switch that stops everything: the bridge tells its clients (bridge/socket/limits.go). */
const stoppedByPerson = 'stopped by the person'

/** The connection to the bridge: dials, proves, dials again. It never gives up while it is paired. */
export class Link {
  state: LinkState = {
    status: 'unpaired',
    address: defaultAddress,
    since: null,
    retryAt: null,
    error: null,
    ephemeral: false,
  }

  private readonly host: LinkHost
  private line: Line | undefined
  private attempt: Promise<void> | undefined
  private failures = 0
  private heard = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  /** A copy of this profile has the connection: taking it back at once would take turns for ever. */
  private yields = 0
  private stopped = false

  constructor(host: LinkHost) {
    this.host = host
  }

  /** Connects, if that is wanted and not so already. For alarms, starts and people. */
  async wake(): Promise<void> {
    if (this.line && Date.now() - this.heard > silence) this.line.close(1000, 'the bridge is silent')
    if (this.stopped || this.line || Date.now() < this.yields) return
    this.attempt ??= this.begin().finally(() => {
      this.attempt = undefined
    })
    return this.attempt
  }

  /** Tells the bridge something, if it is there. */
  notify(method: string, params: object): void {
    this.line?.send(JSON.stringify({ jsonrpc: '2.0', method, params }))
  }

  stop(stopped: boolean): void {
    this.stopped = stopped
    clearTimeout(this.timer)
    this.line?.close(1000, stoppedByPerson)
    if (stopped) this.set({ status: 'stopped', since: null, retryAt: null, error: null })
    else void this.wake()
  }

  /** Takes the key that a pairing came to. */
  async paired(address: string, key: CryptoKey): Promise<void> {
    await this.host.keys.set(key)
    await this.host.record.set({ address, ephemeral: false })
    await this.again()
  }

  async useToken(address: string, token: string): Promise<void> {
    const bad = addressProblem(address)
    if (bad) throw new Refusal(bad.code, bad.message)
    await this.host.keys.set(await macKey(await ephemeralKey(token)))
    await this.host.record.set({ address, ephemeral: true })
    await this.again()
  }

  async unpair(): Promise<void> {
    await this.host.keys.remove()
    await this.host.record.set(undefined)
    await this.again()
  }

  /** Connects again, as after a start. */
  async again(): Promise<void> {
    clearTimeout(this.timer)
    this.failures = this.yields = 0
    this.line?.close(1000, 'connecting again')
    await this.line?.gone
    await this.attempt
    await this.wake()
  }

  private async begin(): Promise<void> {
    clearTimeout(this.timer)
    const [record, key] = await Promise.all([this.host.record.get(), this.host.keys.get()])
    if (this.stopped) return
    this.host.watch(!!record && !!key)
    if (!record || !key)
      return this.set({
        status: 'unpaired',
        address: record?.address ?? defaultAddress,
        since: null,
        retryAt: null,
        error: null,
        ephemeral: false,
      })
    const { address, ephemeral } = record
    this.set({ status: 'connecting', address, ephemeral, retryAt: null })
    let line: Line | undefined
    try {
      line = await Line.open(this.host.dial(`ws://${address}/extension`), openTimeout)
      const { installId, label } = await this.host.profile()
      const slow = setTimeout(() => line?.close(1000, 'no answer'), proofTimeout)
      await connect(line, { installId, label, address, origin: this.host.origin }, key).finally(() =>
        clearTimeout(slow)
      )
      if (this.stopped) return line.close(1000, stoppedByPerson)
      this.open(line)
      await this.host.serve(line)
    } catch (e) {
      line?.close(1000, '')
      if (this.line === line) this.line = undefined
      this.failed(e, address)
    }
  }

  private open(line: Line): void {
    this.line = line
    this.heard = Date.now()
    line.intercept = (text) => {
      this.heard = Date.now()
      return this.pinged(line, text)
    }
    this.failures = 0
    this.set({ status: 'connected', since: Date.now(), retryAt: null, error: null })
    void line.gone.then((why) => {
      if (this.line !== line) return
      this.line = undefined
      if (!this.stopped) this.failed(new Gone(why.code, why.reason), this.state.address)
    })
  }

  /** Answers the bridge's own pings, whatever the module does meanwhile. */
  private pinged(line: Line, text: string): boolean {
    if (text.length > 200 || !text.includes('"ping#')) return false
    let m: { id?: unknown; method?: unknown }
    try {
      m = JSON.parse(text)
    } catch {
      return false
    }
    if (m.method !== 'ping' || typeof m.id !== 'string') return false
    line.send(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: {} }))
    return true
  }

  private failed(e: unknown, address: string): void {
    if (this.stopped) return
    const error = linkProblem(e, address)
    const replaced = error.code === 'REPLACED'
    const wait = replaced
      ? refusedWait
      : Math.min(e instanceof Refusal ? refusedWait : longestWait, firstWait * 2 ** this.failures++)
    if (replaced) this.yields = Date.now() + wait
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.wake(), wait)
    this.set({ status: e instanceof Refusal ? 'refused' : 'waiting', since: null, retryAt: Date.now() + wait, error })
  }

  private set(patch: Partial<LinkState>): void {
    this.state = { ...this.state, ...patch }
    this.host.changed()
  }
}
