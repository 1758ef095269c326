import { RegistryError } from './registry-error.ts'

const most = 3, within = 60_000

/** Bounds automatic restarts after crashes: three in a minute. */
export class Restarts {
  #times: number[] = []

  /** Whether a restart is allowed now, and counts it. A restart that the user requested is always allowed. */
  allow(asked = false): boolean {
    const now = performance.now()
    this.#times = this.#times.filter((t) => t > now - within)
    return (asked || this.#times.length < most) && this.#times.push(now) > 0
  }
}

export const crashed = () =>
  new RegistryError('runtime_crashed', 'the module has stopped', {
    retryable: true,
    hint: 'It is started again by itself. The call may have run.',
  })

export const crashedForGood = () =>
  new RegistryError('runtime_crashed', `the module has stopped more than ${most} times in a minute`, {
    retryable: true,
    hint: 'retry(name) starts it again, and so does any request after a minute.',
  })
