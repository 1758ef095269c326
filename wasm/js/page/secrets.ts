import { RegistryError } from '../shared/registry-error.ts'
import { originOf } from '../shared/origin.ts'
import type { ServerConfig } from '../shared/types.ts'
import { openVault } from '../shared/vault.ts'
import { secretAuthFields } from '../shared/wire.gen.ts'
import { once } from './imported.ts'
import { within } from './requests.ts'

/** The longest wait for the database, in ms. */
const patience = 5000

/** Opens the vault of this realm. */
const open = once(openVault)

/** Works that the database has not answered in time. Until they settle, others fail at once. */
let late = 0

/** Keeps header values and the secrets of `auth`, each bound to the origin it was entrusted to. */
export interface SecretStore {
  /** The configuration with its secrets. Undefined if there are none. */
  get(server: string, config: ServerConfig): Promise<ServerConfig | undefined>
  /** Keeps the secrets of a configuration, of which these fields have changed, by default all. */
  set(server: string, config: ServerConfig | undefined, fields?: readonly string[]): Promise<void>
}

/** Opens the store of the option `rememberSecrets`. Secrets are bound to the origin of their server. */
export async function openSecrets(): Promise<SecretStore> {
  const vault = await inTime(open).catch((cause: unknown) => {
    if (cause instanceof RegistryError) throw cause
    throw new RegistryError('invalid_option', 'rememberSecrets needs IndexedDB and WebCrypto, which are not here', {
      hint: 'Use it in a page of a secure origin (https or localhost) that may store data.',
      cause,
    })
  })
  const context = (server: string, url: string) => JSON.stringify([server, originOf(url)])
  return {
    async get(server, config) {
      const text = await inTime(() => vault.text(server, context(server, config.url)))
      return text ? filled(config, JSON.parse(text) as Record<string, string>) : undefined
    },
    async set(server, config, fields) {
      // This tab does not know what another tab has stored meanwhile.
      if (fields && !fields.some((field) => ['url', 'headers', 'auth', 'rememberSecrets'].includes(field))) return
      const secrets = config ? secretsOf(config) : {}
      const text = Object.keys(secrets).length ? JSON.stringify(secrets) : ''
      return inTime(() => vault.setText(server, text, context(server, config?.url ?? '')))
    },
  }
}

/** Does work of the database, with a bound on the wait. */
async function inTime<T>(work: () => Promise<T>): Promise<T> {
  const fault = (message: string, hint: string) => new RegistryError('invalid_option', message, { hint })
  const silent = () =>
    fault(
      'the database that rememberSecrets needs does not open',
      'Close the other tabs of this site: one of them may keep its database from opening.',
    )
  if (late) throw silent()
  let isLate = false
  const done = work().finally(() => isLate && late--)
  return within(AbortSignal.timeout(patience), done).catch((e: { name: string; code?: unknown }) => {
    if (e.name === 'QuotaExceededError')
      throw fault('this site has no room for secrets', 'Free disk space, or delete data of this site.')
    if (e.code !== 'aborted') throw e
    isLate = !!++late
    throw silent()
  })
}

/** Header values, and the secrets of `auth` with a colon before the name, which no header has. */
const secretsOf = ({ headers, auth }: ServerConfig): Record<string, string> => ({
  ...headers,
  ...Object.fromEntries(
    Object.entries(auth ?? {}).filter(([k, v]) => v && secretAuthFields.includes(k)).map(([k, v]) => [`:${k}`, v]),
  ),
})

function filled(config: ServerConfig, secrets: Record<string, string>): ServerConfig {
  const headers: Record<string, string> = {}, auth: Record<string, string> = {}
  for (const [k, v] of Object.entries(secrets)) (k[0] === ':' ? auth : headers)[k.replace(/^:/, '')] = v
  return {
    ...config,
    ...(Object.keys(headers).length && { headers }),
    ...(config.auth && { auth: { ...config.auth, ...auth } }),
  }
}
