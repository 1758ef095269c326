import { isObject } from '../shared/object.ts'
import { checkFields, invalidOption, isSignal, knownNames } from '../shared/fields.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { checkConfig } from './checkrequest.ts'
import type { StartOptions } from '../shared/protocol.ts'
import type { RegistryOptions } from '../shared/types.ts'

const positive = (v: unknown) => Number.isFinite(v) && (v as number) > 0
const whole = (v: unknown) => Number.isSafeInteger(v) && (v as number) > 0
const isFunction = (v: unknown) => typeof v === 'function'

const has = (v: unknown, ...methods: string[]) => methods.every((m) => isFunction((v as never)[m]))

type Check = [(v: unknown) => boolean, string]
const boolean: Check = [(v) => typeof v === 'boolean', 'a boolean']
const duration: Check = [positive, 'milliseconds above 0']
const aFunction: Check = [isFunction, 'a function']
/**
 * The extension checks no options. The mark lets its build leave the table of checks out.
 * @__NO_SIDE_EFFECTS__
 */
const oneOf = (...texts: unknown[]): Check => [(v) => texts.includes(v), `one of ${texts.join(', ')}`]

/** The check of each option. An option without a check is unknown. */
const checks: { [K in keyof Required<RegistryOptions>]: Check } = {
  wasm: [(v) => typeof v === 'string' || isObject(v), 'a URL, a Response, bytes or a WebAssembly.Module'],
  integrity: [
    (v) => typeof v === 'string' && /^\s*(sha(256|384|512)-[\w+/=-]+(\?\S*)?\s*)+$/.test(v),
    "a digest as 'sha384-…'",
  ],
  mode: oneOf('auto', 'shared', 'worker', 'main'),
  host: [isFunction, "Host of 'portolan/worker'"],
  servers: [isObject, 'an object of configurations by name'],
  proxy: [
    (v) => typeof v === 'string' && /^https?:.*{href}/is.test(v) && URL.canParse(v.replace('{href}', 'x')),
    'a URL such as https://proxy.example/?url={href}',
  ],
  storage: [
    (v) => v === 'local' || v === 'memory' || (isObject(v) && (has(v, 'get', 'set') || has(v, 'getItem', 'setItem'))),
    "'local', 'memory', a Storage, or { get, set }",
  ],
  rememberSecrets: boolean,
  project: [(v) => typeof v === 'string' && v !== '', 'a text'],
  definitionsCache: boolean,
  failureThreshold: [whole, 'a whole number above 0'],
  cooldownMs: duration,
  timeoutMs: duration,
  callTimeoutMs: duration,
  idleTimeoutMs: duration,
  validate: boolean,
  validateResults: oneOf('off', 'flag', 'error'),
  secrets: oneOf('off', 'flag', 'block'),
  limits: [isObject, 'an object of limits'],
  signIn: [isObject, 'an object'],
  onElicitation: aFunction,
  onElicitationUrl: aFunction,
  onSampling: aFunction,
  samplingTools: boolean,
  apps: boolean,
  roots: [
    (v) => Array.isArray(v) && v.every((root) => isObject(root) && /^file:\/\//.test(String(root['uri']))),
    'an array of { uri, name } with file: URLs',
  ],
  elicitationTimeoutMs: duration,
  onApprove: aFunction,
  approveAll: boolean,
  scan: boolean,
  cassette: [(v) => isObject(v) && has(v, 'open'), "from record() or replay() of 'portolan/cassette'"],
  onProgress: aFunction,
  signal: [isSignal, 'an AbortSignal'],
}

/** Throws a RegistryError that names the first wrong option, or the browsers that have all that the code uses. */
export function checkOptions(options: RegistryOptions): void {
  if (!AbortSignal.any || !URL.canParse)
    throw new RegistryError('unsupported', 'Chrome 123, Firefox 125 or Safari 17.5 is needed')
  if (!isObject(options as unknown)) throw invalidOption('the options are not an object')
  for (const [key, value] of Object.entries(options)) {
    const check = checks[key as keyof RegistryOptions]
    if (!check?.[0]) { // also of a name that every object has
      const hint = key === 'mcpServers' ? 'readConfig of portolan/config reads such texts. ' : ''
      throw invalidOption(`unknown option "${key}"`, { hint: hint + knownNames(key, Object.keys(checks)) })
    }
    if (value !== undefined && !check[0](value)) throw invalidOption(`option "${key}" is not ${check[1]}`)
  }
  const { wasm } = options
  if (options.integrity && isObject(wasm) && !(wasm instanceof URL))
    throw invalidOption('integrity is for the address of a module')
  checkFields('signIn', options.signIn, 'redirectUrl clientMetadataUrl clientName onAuthorize')
  const back = options.signIn?.redirectUrl
  if (back !== undefined && !URL.canParse(back, globalThis.document?.baseURI))
    throw invalidOption('option "signIn.redirectUrl" is not a URL')
  for (const [name, config] of Object.entries(options.servers ?? {})) checkConfig(config, name)
}

/** The absolute URL of the redirect page for sign-in. Undefined outside of a page. */
export function redirectUrl({ signIn }: RegistryOptions): string | undefined {
  const page = globalThis.document?.baseURI
  // Bundlers recognize exactly this expression. Turbopack replaces it with a path.
  const own = () => page && new URL('./callback.html', import.meta.url).href
  const address = signIn?.redirectUrl ?? own()
  return address && new URL(address, page).href
}

/** The options that the module needs. */
export function startOptions(
  options: RegistryOptions,
  hints: string | undefined,
  pins: Record<string, string>,
): StartOptions {
  const { proxy, failureThreshold, cooldownMs, timeoutMs, callTimeoutMs, idleTimeoutMs, limits } = options
  return {
    proxy,
    failureThreshold,
    cooldownMs,
    timeoutMs,
    callTimeoutMs,
    idleTimeoutMs,
    limits: limits as Record<string, number> | undefined,
    elicit: !!options.onElicitation,
    elicitUrl: !!options.onElicitationUrl,
    sample: !!options.onSampling,
    sampleTools: options.samplingTools,
    apps: options.apps,
    roots: options.roots,
    elicitationTimeoutMs: options.elicitationTimeoutMs,
    hints,
    pins,
    remember: options.rememberSecrets,
    ...JSON.parse(JSON.stringify(options.signIn ?? {})), // without its function
    redirectUrl: redirectUrl(options),
  }
}
