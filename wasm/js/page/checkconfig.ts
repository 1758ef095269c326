// What makes a configuration a bad one, as the module says it: applyConfig of
// package api, CheckName and Check of package registry. start.test.ts holds the
// two to each other.

import type { AuthConfig, ServerConfig } from '../shared/types.ts'
import {
  authFlows,
  configFields,
  forbiddenHeaders,
  maxServerName,
  maxTimeoutMs,
  openAuthFields,
  secretAuthFields,
  signingAlgorithms,
  transports,
  trustPolicies,
} from '../shared/wire.gen.ts'

const forbidden = new Set(forbiddenHeaders)

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v)
const isStrings = (v: unknown) => Array.isArray(v) && v.every((s) => typeof s === 'string')

/**
 * What is wrong with the fields of a patch; null sets a default. `kept` are the header values that [redacted] can
 * stand for.
 */
export function checkPatch(
  patch: object,
  kept: Record<string, string> | undefined,
  keptAuth?: AuthConfig,
): string | undefined {
  const p = patch as Record<string, unknown>
  for (const [key, v] of Object.entries(p)) {
    if (v === undefined) continue
    if (!configFields.includes(key)) return `unknown field "${key}"; known are ${configFields.join(', ')}`
    if (key === 'url' && typeof v !== 'string') return 'url is not a string'
    if (v === null) continue
    if (key === 'proxy' && typeof v !== 'boolean' && v !== 'auto') return 'proxy is neither a boolean nor "auto"'
    if (key === 'enabled' && typeof v !== 'boolean') return 'enabled is not a boolean'
    if (key === 'transport' && typeof v !== 'string') return 'transport is not a string'
    if (key === 'timeoutMs' && !(typeof v === 'number' && v > 0 && v <= maxTimeoutMs))
      return 'timeoutMs is not a number of milliseconds above 0 and within a day'
    if (key === 'auth') {
      const wrong = checkAuthFields(v, keptAuth)
      if (wrong) return wrong
    }
    if (key === 'trust' && !trustPolicies.includes(v as string))
      return 'trust is not "trust", "ask-on-change" or "ask-always"'
    if (key === 'holdNewTools' && typeof v !== 'boolean') return 'holdNewTools is not a boolean'
    if (key === 'tools') {
      if (!isObject(v)) return 'tools is not an object with allow or deny'
      for (const [list, names] of Object.entries(v)) {
        if (list !== 'allow' && list !== 'deny') return `unknown field "tools.${list}"; known are allow, deny`
        if (!isStrings(names)) return `tools.${list} is not an array of strings`
      }
    }
  }
  if (p.headers === undefined || p.headers === null) return undefined
  if (!isObject(p.headers)) return 'headers is not an object of strings'
  for (const [name, value] of Object.entries(p.headers)) {
    if (typeof value !== 'string') return `header "${name}" is not a string`
    if (value === '[redacted]' && kept?.[name] === undefined)
      return `the value of header "${name}" is not known; give it again`
  }
  return undefined
}

function checkAuthFields(auth: unknown, kept: AuthConfig | undefined): string | undefined {
  if (!isObject(auth)) return 'auth is not an object'
  for (const [key, v] of Object.entries(auth)) {
    if (key === 'scopes') {
      if (!isStrings(v)) return 'auth.scopes is not an array of strings'
      continue
    }
    const isSecret = secretAuthFields.includes(key)
    if (!isSecret && !openAuthFields.includes(key)) return `unknown field "auth.${key}"`
    if (typeof v !== 'string') return `auth.${key} is not a string`
    if (isSecret && v === '[redacted]' && !kept?.[key as 'clientSecret'])
      return `auth.${key} is not known; give it again`
  }
  return undefined
}

/** What is wrong with a server's name. */
export function checkName(name: string): string | undefined {
  if (name === '') return "the server's name is empty"
  if ([...name].length > maxServerName) return "the server's name is longer than 64 characters"
  if (/[\u0000-\u001f\u007f\ufffd]|\p{Surrogate}/u.test(name)) return "the server's name holds a control character"
  return undefined
}

/** What is wrong with a whole configuration whose fields are of the right types. */
export function checkWhole({ url, transport, headers = {}, auth = {} }: ServerConfig): string | undefined {
  const wrong = checkURL(url)
  if (wrong) return wrong
  if (transport && !transports.includes(transport))
    return `transport is "${transport}"; want "auto", "streamable-http" or "sse"`
  for (const [name, value] of Object.entries(headers)) {
    if (name === '') return 'a header has no name'
    if (/[^\w!#$%&'*+\-.^`|~]/.test(name)) return `header name "${name}" holds a character that HTTP does not allow`
    if (forbidden.has(name.toLowerCase())) return `header "${name}" is set by the protocol and cannot be configured`
    if (/[^\t\u0020-\u007e]/.test(value))
      return `the value of header "${name}" holds a character that is not printable ASCII`
  }
  return checkAuth(auth)
}

function checkAuth(auth: AuthConfig): string | undefined {
  const { flow, signingAlgorithm, scopes = [] } = auth
  if (flow && !authFlows.includes(flow))
    return `auth.flow is "${flow}"; want "authorization-code", "client-credentials", "jwt-bearer" or "enterprise-managed"`
  if (signingAlgorithm && !signingAlgorithms.includes(signingAlgorithm))
    return `auth.signingAlgorithm is "${signingAlgorithm}"; want "ES256" or "RS256"`
  for (const name of openAuthFields) {
    const value = auth[name as 'issuer']
    if (!value) continue
    if ((name.endsWith('Url') || name === 'issuer') && (checkURL(value) || value.startsWith('builtin:')))
      return `auth.${name} is not an http or https URL`
    if (/[\u0000-\u001f\u007f]/.test(value)) return `auth.${name} holds a control character`
  }
  for (const scope of scopes) if (/[^!#-[\]-~]/.test(scope)) return `auth.scopes holds "${scope}", which is no scope`
  return undefined
}

function checkURL(url: string): string | undefined {
  if (url.startsWith('builtin:')) return undefined
  const [, scheme = '', rest = ''] = /^(.*?):\/\/(.*)$/s.exec(url) ?? []
  if (!/^https?$/i.test(scheme)) return 'url must start with https:// or http:// (or be builtin:demo)'
  const host = rest.split(/[/?#]/, 1)[0]!
  if (host === '') return 'url has no host'
  if (host.includes('@')) return 'url holds a user name or password; use an Authorization header'
  if (/[\u0000-\u0020\u007f\\]/.test(url)) return 'url holds a space, a control character or a backslash'
  return undefined
}
