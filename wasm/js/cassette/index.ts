import { maskSecrets } from '../shared/leaks.ts'
import { checkFields } from '../shared/fields.ts'
import { isObject } from '../shared/object.ts'
import { RegistryError } from '../shared/registry-error.ts'
import type { Tape } from './tape.ts'
import { Redaction } from '../shared/redaction.ts'
import { canonical } from './key.ts'
import type * as types from './types.ts'
import type { StartedHost } from '../shared/launching.ts'
import { Player } from './player.ts'
import { Recorder } from './recorder.ts'

const isTool = (tool: unknown) =>
  isObject(tool) && typeof tool['name'] === 'string' && typeof tool['tool'] === 'string' &&
  isObject(tool['definition'])

const isServer = (server: unknown) =>
  isObject(server) && isObject(server['health'] ?? {}) && Array.isArray(server['tools']) &&
  server['tools'].every(isTool)

const isCall = (call: unknown) =>
  isObject(call) && typeof call['tool'] === 'string' && call['arguments'] !== undefined &&
  Array.isArray(call['progress'] ?? []) && isObject(call['error'] ?? call['result'])

/** Throws a RegistryError for wrong options of a cassette. */
function checkOptions({ redact, maxBytes = 0 }: types.RecordOptions): void {
  if (redact !== undefined && typeof redact !== 'function')
    throw new RegistryError('invalid_option', 'redact is not a function')
  if (!(typeof maxBytes === 'number' && maxBytes >= 0))
    throw new RegistryError('invalid_option', 'maxBytes is not a number from 0')
}

export const record: typeof types.record = (options = {}) => {
  checkFields('record', options, 'redact maxBytes')
  checkOptions(options)
  return new Recorder(options)
}

export const replay: typeof types.replay = (text, options = {}) => {
  checkFields('replay', options, 'redact')
  checkOptions(options)
  let tape: Tape
  try {
    tape = JSON.parse(text) as Tape
    if (tape?.portolan !== 'cassette' || !Array.isArray(tape.calls) || !isObject(tape.servers))
      throw new Error('it is no cassette')
    if (tape.version !== 1) throw new Error(`it is of version ${tape.version}; this release reads 1`)
    for (const [name, server] of Object.entries(tape.servers))
      if (!isServer(server)) throw new Error(`the server ${JSON.stringify(name)} has no list of tools`)
    tape.calls.forEach((call: unknown, i) => {
      if (!isCall(call)) throw new Error(`call ${i + 1} lacks its tool, its arguments or its result`)
    })
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
