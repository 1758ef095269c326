import { maskSecrets } from '../shared/leaks.ts'
import { checkFields } from '../shared/fields.ts'
import { RegistryError } from '../shared/registry-error.ts'
import type { Tape } from './tape.ts'
import { Redaction } from '../shared/redaction.ts'
import { canonical } from './key.ts'
import type * as types from './types.ts'
import type { StartedHost } from '../shared/launching.ts'
import { Player } from './player.ts'
import { Recorder } from './recorder.ts'

export const record: typeof types.record = (options = {}) => {
  checkFields('record', options, 'redact maxBytes')
  return new Recorder(options)
}

export const replay: typeof types.replay = (text, options = {}) => {
  checkFields('replay', options, 'redact')
  let tape: Tape
  try {
    tape = JSON.parse(text) as Tape
    if (tape.portolan !== 'cassette' || !Array.isArray(tape.calls) || typeof tape.servers !== 'object')
      throw new Error('it is no cassette')
    if (tape.version !== 1) throw new Error(`it is of version ${tape.version}; this release reads 1`)
    for (const call of tape.calls) canonical(JSON.stringify(call.arguments))
  } catch (e) {
    throw new RegistryError('invalid_cassette', `the cassette cannot be read: ${(e as Error).message}`, {
      hint: 'Record it again.',
      cause: e,
    })
  }
  return {
    async open(_start, begin) {
      const player = new Player(tape, new Redaction(options.redact, maskSecrets), await begin)
      return { channel: player.channel, mode: 'replay', refused: {} } satisfies StartedHost
    },
  } as ReturnType<typeof types.replay>
}
