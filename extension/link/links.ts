import type { Link } from '../messages.ts'
import { BridgeLink, type LinkHost, type LinkRecord } from './bridgelink.ts'
import { macKey } from '../../web/pairing/crypto.ts'
import { Refusal } from '../../web/pairing/handshake.ts'
import { ephemeralKey, type Keys } from './keys.ts'
import { addressProblem, type Problem } from './problems.ts'

/** The most bridges that are paired at once. */
const mostPaired = 8

export interface LinksHost extends LinkHost {
  keys: Keys
  /** The stored records: a list, or the one record of an older version, whose key is named "bridge". */
  records: {
    get(): Promise<LinkRecord[] | Partial<LinkRecord> | undefined>
    set(records: LinkRecord[]): Promise<void>
  }
  /** A pairing is over: it was taken back, or another took its place. */
  ended(pairing: string): void
  /** Switches the regular search for bridges on or off. */
  watch(on: boolean): void
}

/** The paired bridges. The extension is connected to all of them at the same time. */
export class Links {
  readonly #host: LinksHost
  #links: BridgeLink[] = []
  #stopped = false
  /** Changes of the records, one after another. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(host: LinksHost) {
    this.#host = host
  }

  /** The state of each, the oldest pairing first. */
  get states(): Link[] {
    return this.#links.map((link) => link.state)
  }

  /** Reads the pairings. */
  async load(): Promise<void> {
    const stored = await this.#host.records.get()
    const records = !stored || Array.isArray(stored) ? recordsOf(stored) : await this.#migrate(stored)
    this.#use(records.map((r) => this.#linkOf(r)))
    // A worker that ends between two writes leaves a key without a record.
    void this.#host.keys.remove((pairing) => !records.some((r) => r.pairing === pairing)).catch(() => {})
  }

  /** Connects to the bridges that it is not connected to. Called by alarms, and at the start. */
  async wake(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.wake()))
  }

  /** Notifies the connected bridges of the pairings for which there are params. */
  notify(method: string, paramsOf: (pairing: string) => object | false): void {
    for (const link of this.#links) {
      const params = paramsOf(link.state.pairing)
      if (params) link.notify(method, params)
    }
  }

  stop(stopped: boolean): void {
    this.#stopped = stopped
    for (const link of this.#links) link.stop(stopped)
  }

  /** Returns why no bridge at an address can be paired. */
  problem(address: string): Problem | undefined {
    const others = this.#links.filter(({ state }) => placeOf(state) !== placeOf({ address }))
    if (others.length < mostPaired) return addressProblem(address)
    return { code: 'TOO_MANY_BRIDGES', message: `${mostPaired} bridges are paired already. Unpair one first.` }
  }

  /** Uses the key of a new pairing, and returns its id. It takes the place of an earlier one with the same address. */
  async paired(address: string, key: CryptoKey, ephemeral = false): Promise<string> {
    const record: LinkRecord = { pairing: crypto.randomUUID(), address, ephemeral }
    await this.#host.keys.set(record.pairing, key)
    await this.#change((r) => placeOf(r) === placeOf(record), record)
    return record.pairing
  }

  async useToken(address: string, token: string): Promise<void> {
    const bad = this.problem(address)
    if (bad) throw new Refusal(bad.code, bad.message)
    await this.paired(address, await macKey(await ephemeralKey(token)), true)
  }

  /** Ends a pairing and forgets its key. */
  unpair(pairing: string): Promise<void> {
    return this.#change((r) => r.pairing === pairing)
  }

  /** Connects again, as after a start. */
  async reconnect(pairing: string): Promise<void> {
    await this.#links.find((link) => link.state.pairing === pairing)?.reconnect()
  }

  /** Ends the pairings for which `isOver` holds, and adds others. */
  async #change(isOver: (r: LinkRecord) => boolean, ...added: LinkRecord[]): Promise<void> {
    const { keys, records, ended } = this.#host
    const written = this.#writing.then(async () =>
      records.set([...recordsOf(await records.get()).filter((r) => !isOver(r)), ...added])
    )
    this.#writing = written.catch(() => {})
    await written
    const over = this.#links.filter((link) => isOver(link.state)) // also those of the change before
    this.#use([...this.#links.filter((link) => !isOver(link.state)), ...added.map((r) => this.#linkOf(r))])
    for (const link of over) {
      const { pairing } = link.state
      ended(pairing)
      await link.end()
      await keys.remove((other) => other === pairing)
    }
    void this.wake()
  }

  #use(links: BridgeLink[]): void {
    this.#links = links
    this.#host.watch(links.length > 0)
    this.#host.changed()
  }

  #linkOf(record: LinkRecord): BridgeLink {
    const host = this.#host
    const { pairing } = record
    return new BridgeLink(host, record, {
      address: async () => recordsOf(await host.records.get()).find((r) => r.pairing === pairing)?.address,
      key: () => host.keys.get(pairing),
    }, this.#stopped)
  }

  /** Makes the one record of an older version a list. */
  async #migrate({ address, ephemeral = false, pairing }: Partial<LinkRecord>): Promise<LinkRecord[]> {
    const { keys, records } = this.#host
    const key = await keys.get('bridge')
    const list = address && key ? [{ pairing: pairing ?? crypto.randomUUID(), address, ephemeral }] : []
    for (const r of list) await keys.set(r.pairing, key!)
    await records.set(list)
    return list
  }
}

/** The port of a bridge, and its host: localhost is another name of 127.0.0.1. */
const placeOf = ({ address }: { address: string }) => address.replace('localhost', '127.0.0.1')

/** The stored pairings. Something else may have cleared or changed the storage. */
const recordsOf = (stored: unknown): LinkRecord[] => Array.isArray(stored) ? stored as LinkRecord[] : []
