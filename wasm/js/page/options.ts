import { RegistryError } from '../shared/registry-error.ts'
import { checkConfig } from './checkrequest.ts'
import type { StartOptions } from '../shared/protocol.ts'
import type { Limits, RegistryOptions } from '../shared/types.ts'
import { limitDefaults } from '../shared/wire.gen.ts'

const bad = (message: string, hint?: string) => new RegistryError('invalid_option', message, hint ? { hint } : {})

const positive = (v: unknown) => typeof v === 'number' && v > 0 && Number.isFinite(v)
const whole = (v: unknown) => Number.isSafeInteger(v) && (v as number) > 0
const isFunction = (v: unknown) => typeof v === 'function'
const isObject = (v: unknown) => typeof v === 'object' && v !== null

const has = (v: unknown, ...methods: string[]) => methods.every((m) => isFunction((v as never)[m]))

/** What each option must be; an option that is not here is unknown. */
const checks: { [K in keyof Required<RegistryOptions>]: [(v: unknown) => boolean, string] } = {
  wasm: [(v) => typeof v === 'string' || isObject(v), 'a URL, a Response, bytes or a WebAssembly.Module'],
  integrity: [
    (v) => typeof v === 'string' && /^\s*(sha(256|384|512)-[\w+/=-]+(\?\S*)?\s*)+$/.test(v),
    "a digest as 'sha384-…'",
  ],
  mode: [(v) => ['auto', 'shared', 'worker', 'main'].includes(v as string), "'auto', 'shared', 'worker' or 'main'"],
  host: [isFunction, "Host of 'portolan/worker'"],
  servers: [isObject, 'an object of server configurations by name'],
  proxy: [(v) => typeof v === 'string', 'a URL template'],
  storage: [
    (v) =>
      v === 'local' || v === 'memory' ||
      (isObject(v) && (has(v, 'get', 'set', 'remove') || has(v, 'getItem', 'setItem', 'removeItem'))),
    "'local', 'memory', a Storage, or an object with get, set and remove",
  ],
  rememberSecrets: [(v) => typeof v === 'boolean', 'a boolean'],
  failureThreshold: [whole, 'a whole number above 0'],
  cooldownMs: [positive, 'a number of milliseconds above 0'],
  timeoutMs: [positive, 'a number of milliseconds above 0'],
  callTimeoutMs: [positive, 'a number of milliseconds above 0'],
  idleTimeoutMs: [positive, 'a number of milliseconds above 0'],
  validate: [(v) => typeof v === 'boolean', 'a boolean'],
  limits: [isObject, 'an object of limits'],
  signIn: [isObject, 'an object'],
  onElicitation: [isFunction, 'a function'],

  onApprove: [isFunction, 'a function'],
  approveAll: [(v) => typeof v === 'boolean', 'a boolean'],
  scan: [(v) => typeof v === 'boolean', 'a boolean'],
  cassette: [(v) => isObject(v) && has(v, 'open'), "what record() or replay() of 'portolan/cassette' returns"],
  onProgress: [isFunction, 'a function'],
  signal: [(v) => v instanceof AbortSignal, 'an AbortSignal'],
}

const limitNames = Object.keys(limitDefaults satisfies Limits)

/** Throws a RegistryError that names what is wrong with the options. */
export function checkOptions(options: RegistryOptions): void {
  if (!isObject(options)) throw bad('the options are not an object')
  for (const [key, value] of Object.entries(options)) {
    const check = checks[key as keyof RegistryOptions]
    if (!check) throw bad(`unknown option "${key}"`, `Known are ${Object.keys(checks).join(', ')}.`)
    if (value !== undefined && !check[0](value)) throw bad(`option "${key}" is not ${check[1]}`)
  }
  const { wasm } = options
  if (options.integrity && wasm && typeof wasm === 'object' && !(wasm instanceof URL))
    throw bad('integrity is for a module that is loaded from an address')
  if (options.proxy !== undefined) checkProxy(options.proxy)
  const back = options.signIn?.redirectUrl
  if (back !== undefined && !URL.canParse(back, globalThis.document?.baseURI))
    throw bad('option "signIn.redirectUrl" is not an address')
  for (const [key, value] of Object.entries(options.limits ?? {})) {
    if (!limitNames.includes(key)) throw bad(`unknown limit "${key}"`, `Known are ${limitNames.join(', ')}.`)
    if (!whole(value)) throw bad(`limit "${key}" is not a whole number above 0`)
  }
  for (const [name, config] of Object.entries(options.servers ?? {})) checkConfig(config, name)
}

function checkProxy(template: string): void {
  if (!template.includes('{href}')) {
    throw bad('the proxy template has no {href}', 'Write it as https://proxy.example/?url={href}.')
  }
  if (!URL.canParse(template.replace('{href}', 'x')) || !/^https?:/i.test(template)) {
    throw bad('the proxy template is not an http(s) URL', 'Write it as https://proxy.example/?url={href}.')
  }
}

/** The whole address of the page that people come back to after signing in; none where there is no page. */
export function redirectUrl({ signIn }: RegistryOptions): string | undefined {
  const page = globalThis.document?.baseURI
  // Bundlers look for exactly this expression; Turbopack makes a path of it.
  const own = () => page && new URL('./callback.html', import.meta.url).href
  const address = signIn?.redirectUrl ?? own()
  return address && new URL(address, page).href
}

/** What of the options the module needs to know. */
export function startOptions(
  o: RegistryOptions,
  hints: string | undefined,
  pins: Record<string, string>,
): StartOptions {
  return {
    proxy: o.proxy,
    failureThreshold: o.failureThreshold,
    cooldownMs: o.cooldownMs,
    timeoutMs: o.timeoutMs,
    callTimeoutMs: o.callTimeoutMs,
    idleTimeoutMs: o.idleTimeoutMs,
    limits: o.limits as Record<string, number> | undefined,
    elicit: !!o.onElicitation,
    hints,
    pins,
    remember: o.rememberSecrets,
    ...JSON.parse(JSON.stringify(o.signIn ?? {})), // not its function
    redirectUrl: redirectUrl(o),
  }
}
