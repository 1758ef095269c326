import type { Pairing } from '../messages.ts'
import { openTimeout, type LinkHost } from './bridgelink.ts'
import { Connection } from '../../web/pairing/connection.ts'
import { pair } from '../../web/pairing/handshake.ts'
import { macKey } from '../../web/pairing/crypto.ts'
import type { Links } from './links.ts'
import { pairingProblem } from './problems.ts'

interface PairerHost extends Pick<LinkHost, 'dial' | 'profile' | 'origin' | 'changed'> {
  links: Pick<Links, 'problem' | 'paired' | 'unpair'>
  /** Keeps the worker alive while the user reads the digits. */
  awakeDuring(work: () => Promise<void>): Promise<void>
}

interface Attempt {
  connection?: Connection
  typed: PromiseWithResolvers<string>
}

/** Pairs with a bridge as the user continues; one attempt at a time. */
export class Pairer {
  state: Pairing | null = null
  private attempt: Attempt | undefined
  private readonly host: PairerHost

  constructor(host: PairerHost) {
    this.host = host
  }

  async pair(address: string): Promise<void> {
    this.cancel()
    const attempt: Attempt = this.attempt = { typed: Promise.withResolvers() }
    attempt.typed.promise.catch(() => {})
    const show = (step: Pairing['step'], error: Pairing['error'] = null) => this.show(attempt, { step, address, error })
    const bad = this.host.links.problem(address)
    if (bad) return show('failed', bad)
    show('connecting')
    return this.host.awakeDuring(async () => {
      try {
        await this.handshake(attempt, address, show)
        this.show(attempt, null)
      } catch (e) {
        show('failed', pairingProblem(e, address))
      } finally {
        attempt.connection?.close()
        if (this.attempt === attempt) this.attempt = undefined
      }
    })
  }

  private async handshake(attempt: Attempt, address: string, show: (step: Pairing['step']) => void): Promise<void> {
    const { dial, profile, origin, links } = this.host
    const connection = attempt.connection = await Connection.open(dial(`ws://${address}/extension`), openTimeout)
    if (this.attempt !== attempt) return // given up meanwhile
    void connection.ended.then((why) => attempt.typed.reject(why))
    const key = await pair(connection, { ...await profile(), address, origin }, {
      digits: () => {
        show('digits')
        return attempt.typed.promise
      },
      confirmed: () => show('terminal'),
    })
    const pairing = await links.paired(address, await macKey(key))
    if (this.attempt !== attempt) await links.unpair(pairing) // given up while it was stored
  }

  /** Continues with the digits that the user typed. */
  digits(typed: string): void {
    this.attempt?.typed.resolve(typed)
  }

  cancel(): void {
    const { attempt } = this
    this.attempt = undefined
    attempt?.connection?.close(1000, 'cancelled')
    if (!this.state) return
    this.state = null
    this.host.changed()
  }

  /** Shows the state of an attempt that was not given up. */
  private show(attempt: Attempt, state: Pairing | null): void {
    if (this.attempt !== attempt) return
    this.state = state
    this.host.changed()
  }
}
