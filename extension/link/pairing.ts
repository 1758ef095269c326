import type { Pairing } from '../messages.ts'
import { macKey } from './bytes.ts'
import { pair } from './handshake.ts'
import { openTimeout, type LinkHost } from './link.ts'
import { addressProblem, pairingProblem } from './problems.ts'
import { Gone, Line } from './socket.ts'

export interface PairerHost extends Pick<LinkHost, 'dial' | 'profile' | 'origin' | 'changed'> {
  paired(address: string, key: CryptoKey): Promise<void>
  /** The worker must live on while a person reads digits. */
  awake(on: boolean): void
}

interface Attempt {
  address: string
  line?: Line
  typed: PromiseWithResolvers<string>
}

/** Pairs with a bridge, as a person goes on; one attempt at a time. */
export class Pairer {
  state: Pairing | null = null
  private attempt: Attempt | undefined
  private readonly host: PairerHost

  constructor(host: PairerHost) {
    this.host = host
  }

  async pair(address: string): Promise<void> {
    this.cancel()
    const attempt: Attempt = this.attempt = { address, typed: Promise.withResolvers() }
    attempt.typed.promise.catch(() => {})
    const step = (step: Pairing['step']) => this.say(attempt, { step, address, error: null })
    try {
      const bad = addressProblem(address)
      if (bad) return this.say(attempt, { step: 'failed', address, error: bad })
      step('connecting')
      this.host.awake(true)
      const line = attempt.line = await Line.open(this.host.dial(`ws://${address}/extension`), openTimeout)
      void line.gone.then((why) => attempt.typed.reject(new Gone(why.code, why.reason)))
      const { installId, label } = await this.host.profile()
      const key = await pair(line, { installId, label, address, origin: this.host.origin }, {
        digits: () => {
          step('digits')
          return attempt.typed.promise
        },
        confirmed: () => step('terminal'),
      })
      await this.host.paired(address, await macKey(key))
      this.say(attempt, null)
    } catch (e) {
      this.say(attempt, { step: 'failed', address, error: pairingProblem(e, address) })
    } finally {
      attempt.line?.close(1000, '')
      if (this.attempt === attempt) {
        this.attempt = undefined
        this.host.awake(false)
      }
    }
  }

  /** The digits that the person typed. */
  digits(typed: string): void {
    this.attempt?.typed.resolve(typed)
  }

  cancel(): void {
    const { attempt } = this
    this.attempt = undefined
    attempt?.line?.close(1000, 'cancelled')
    if (attempt) this.host.awake(false)
    if (!this.state) return
    this.state = null
    this.host.changed()
  }

  /** An attempt that was given up says nothing. */
  private say(attempt: Attempt, state: Pairing | null): void {
    if (this.attempt !== attempt) return
    this.state = state
    this.host.changed()
  }
}
