import { checkFields, invalidOption } from '../shared/fields.ts'
import { isObject } from '../shared/object.ts'
import { RegistryError } from '../shared/registry-error.ts'
import type * as types from '../shared/types.ts'

/** The JSON text of a call's arguments. A text stays as it is, so that big integers keep their digits. */
export function argumentText(args: unknown): string {
  const bad = (what: string, details?: types.RegistryErrorDetails) =>
    new RegistryError('invalid_arguments', 'the arguments ' + what, details)
  if (typeof args === 'string') {
    if (args.trim() === '') return '{}'
    try {
      if (isObject(JSON.parse(args))) return args
    } catch { /* the error below says so */ }
    throw bad('are not the JSON text of an object')
  }
  if (args === undefined || args === null) return '{}'
  // A promise would be an object without members.
  if (!isObject(args) || args instanceof Promise) throw bad('are not an object')
  try {
    return JSON.stringify(args) ?? '{}' // its toJSON gives nothing
  } catch (cause) {
    throw bad(`cannot be written as JSON: ${(cause as Error).message}`, { cause })
  }
}

export function checkName(name: unknown): void {
  if (typeof name !== 'string') throw new RegistryError('invalid_config', "the server's name is not a string")
}

/** Fields of other clients' configurations, with what to do here. */
const foreignFields: Record<string, string> = {
  type: "Leave it out, or say transport: 'streamable-http' or 'sse'.",
  command: 'A page cannot start programs; `portolan gateway` can.',
}

/** Checks a configuration's shape and its URL, because the module has no URL parser. The module checks the rest. */
export function checkConfig(config: Partial<types.ServerConfig>, server: string): void {
  const bad = (message: string, hint: string) => new RegistryError('invalid_config', message, { server, hint })
  if (!isObject(config) || 'then' in config) { // a promise has no fields of its own
    const example = typeof config === 'string' ? JSON.stringify(config) : "'https://example.com/mcp'"
    throw bad('the configuration is not an object', `Write { url: ${example} }.`)
  }
  for (const [field, hint] of Object.entries(foreignFields))
    if (field in config)
      throw bad(`unknown field "${field}"`, `${hint} readConfig of portolan/config reads such texts.`)
  for (const [field, value] of Object.entries(config))
    if (typeof value === 'number' && !Number.isFinite(value)) throw bad(`${field} is not a finite number`, '')
  const { url } = config
  if (url === undefined) return
  if (typeof url !== 'string' || !URL.canParse(url)) {
    throw bad(
      typeof url === 'string' ? `the url ${JSON.stringify(url)} is not valid` : 'the url is not a string',
      'Give it whole, such as https://example.com/mcp.',
    )
  }
}

/** Refuses what is given as a list of names, and is none. */
export function checkNames(what: string, names: unknown): void {
  if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === 'string')))
    throw invalidOption(`${what} is not an array of strings`)
}

/** Refuses what is given as a function, and is none. */
export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidOption(`${what} is not a function`)
}

/** Refuses wrong options of a call. */
export function checkCall(options: types.DispatchOptions): void {
  checkFields('call', options, 'signal timeoutMs onProgress callId attempts trace detach app')
  // An absent option passes the checks, because its default comes later.
  const { timeoutMs = 1, onProgress, attempts = 1, trace = {} } = options
  if (!(typeof timeoutMs === 'number' && timeoutMs > 0)) throw invalidOption('timeoutMs is not a number above 0')
  if (onProgress) checkFunction('onProgress', onProgress)
  if (!(Number.isInteger(attempts) && attempts > 0)) throw invalidOption('attempts is not a whole number above 0')
  if (!(isObject(trace) && Object.values(trace).every((text) => typeof (text ?? '') === 'string')))
    throw invalidOption('trace is not an object of strings')
}
