import { checkName, checkPatch, checkWhole } from './checkconfig.ts'
import type { WireError } from '../shared/errors.ts'
import { mergeConfig, redactAuth } from '../shared/mergeconfig.ts'
import { originOf } from '../shared/origin.ts'
import type { StateEvent, RequestBody } from '../shared/protocol.ts'
import type { ServerConfig } from '../shared/types.ts'
import { disabledError, invalidConfigError, unknownServerError, unknownToolError } from '../shared/wire.gen.ts'

// What a registry says and does before the module is needed: all its servers are off.

type Servers = ReadonlyMap<string, ServerConfig>
type Reply = { result: unknown } | { error: WireError }

/** The servers as a snapshot has them. */
export function states(servers: Servers): StateEvent['servers'] {
  return Object.fromEntries([...servers].map(([name, { headers, auth, ...config }]) => [name, {
    status: 'disabled',
    suspended: false,
    toolCount: 0,
    toolTotal: 0,
    lastSuccessful: null,
    lastConnected: null,
    lastError: null,
    consecutiveFailures: 0,
    retryAt: null,
    latencyMs: null,
    config: {
      ...config,
      proxy: config.proxy ?? false,
      ...(auth && { auth: redactAuth(auth) }),
      ...(headers && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, '[redacted]'])) }),
    },
  }]))
}

const done: Reply = { result: null }

/** Answers a request as the module would; undefined: the module is needed. */
export function answer(servers: Servers, m: RequestBody): Reply | undefined {
  switch (m.method) {
    case 'addServer': {
      const patch = checkPatch(m.config, undefined)
      if (patch) return bad(patch)
      const name = checkName(m.name)
      if (name) return bad(name)
      const whole = checkWhole(mergeConfig({ url: '' }, m.config))
      if (whole) return bad(whole, m.name, 'add')
      if (servers.has(m.name)) return bad('a server of that name exists; remove or update it', m.name, 'add')
      return m.config.enabled === false ? done : undefined
    }
    case 'updateServer': {
      const old = servers.get(m.name)
      if (!old) return known(servers, m.name, 'update')
      const config = mergeConfig(old, m.config)
      const moved = config.url !== undefined && originOf(config.url) !== originOf(old.url)
      const patch = checkPatch(m.config, moved ? undefined : old.headers, moved ? undefined : old.auth)
      if (patch) return bad(patch)
      const whole = checkWhole(config)
      if (whole) return bad(whole, m.name, 'update')
      return config.enabled === false ? done : undefined
    }
    case 'discover':
      return m.names?.map((name) => known(servers, name, 'discover')).find((a) => a !== done) ?? done
    case 'removeServer':
      return known(servers, m.name, 'remove')
    case 'approveTools':
      return known(servers, m.name, 'approve')
    case 'setEnabled':
      return m.enabled && servers.has(m.name) ? undefined : known(servers, m.name, 'enable')
    case 'signOut':
      return known(servers, m.name, 'sign out')
    case 'signIn':
    case 'retry': {
      const op = m.method === 'retry' ? 'retry' : 'sign in'
      const answer = known(servers, m.name, op)
      return answer === done
        ? failure(
          disabledError,
          `server ${m.name}: ${op}: server is disabled`,
          m.name,
        )
        : answer
    }
    case 'call':
      return failure(
        unknownToolError,
        `unknown tool: ${m.name.slice(0, 200)}`,
      )
    case 'online':
    case 'wake':
    case 'close':
      return done
  }
  return undefined
}

const known = (servers: Servers, name: string, op: string): Reply =>
  servers.has(name)
    ? done
    : failure(
      unknownServerError,
      `server ${name}: ${op}: unknown server`,
      name,
    )

const bad = (what: string, server?: string, op?: string): Reply =>
  failure(
    invalidConfigError,
    `${server === undefined ? '' : `server ${server}: ${op}: `}invalid server configuration: ${what}`,
    server,
  )

const failure = (error: Omit<WireError, 'message'>, message: string, server?: string): Reply => ({
  error: { ...error, message, server },
})
