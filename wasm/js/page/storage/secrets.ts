import { RegistryError } from '../../shared/registry-error.ts'
import { originOf } from '../../shared/origin.ts'
import type { ServerConfig } from '../../shared/types.ts'
import { openVault } from '../../shared/vault.ts'
import { secretAuthFields } from '../../shared/wire.gen.ts'
import { once } from '../imported.ts'
import { within } from '../requests.ts'

/** The longest wait for the database, in ms. */
const patience = 5000

/** Opens the vault of this realm. */
const open = once(openVault)

/** Works that the database has not answered in time. Until they settle, others fail at once. */
let late = 0

/** Keeps header values and the secrets of `auth`, each bound to the origin it was entrusted to. */
export interface SecretStore {
  /** A stored configuration with its secrets: the headers of these names, and the fields of `auth` that are empty. */
  get(server: string, config: ServerConfig, names: readonly string[]): Promise<ServerConfig>
  /** Keeps the secrets of a configuration, of which these fields have changed, by default all. Resolves to true. */
  set(server: string, config: ServerConfig | undefined, fields?: readonly string[]): Promise<true>
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
    async get(server, config, names) {
      const text = await inTime(() => vault.text(server, context(server, config.url)))
      const secrets = (text ? JSON.parse(text) : {}) as Record<string, string>
      const headers = Object.fromEntries(Object.entries(secrets).filter(([name]) => names.includes(name)))
      const auth = Object.fromEntries(
        Object.entries(config.auth ?? {}).map(([field, value]) => [field, value || secrets[`:${field}`] || '']),
      )
      return { ...config, ...(names.length && { headers }), ...(config.auth && { auth }) }
    },
    async set(server, config, fields) {
      // This tab does not know what another tab has stored meanwhile.
      if (fields && !fields.some((field) => ['url', 'headers', 'auth', 'rememberSecrets'].includes(field))) return true
      const secrets = config ? secretsOf(config) : {}
      const text = Object.keys(secrets).length ? JSON.stringify(secrets) : ''
      await inTime(() => vault.setText(server, text, context(server, config?.url ?? '')))
      return true
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
