import { originOf } from './origin.ts'
import type { AuthConfig, ServerConfig } from './types.ts'

/** A configuration after an accepted patch, as the module applies it (applyConfig of package api). */
export function mergeConfig(old: ServerConfig | undefined, patch: Partial<ServerConfig>): ServerConfig {
  const moved = old && patch.url !== undefined && originOf(old.url) !== originOf(patch.url)
  const merged: Record<string, unknown> = { ...old, ...(moved && { headers: undefined, auth: old.auth && openAuth(old.auth) }), ...patch }
  for (const key of ['headers', 'auth'] as const) {
    const kept = old?.[key] as Record<string, unknown> | undefined
    if (patch[key]) merged[key] = pick(patch[key], (k, v) => (v === '[redacted]' ? kept?.[k] : v))
  }
  for (const [k, v] of Object.entries(merged)) if (v === null || v === undefined) delete merged[k]
  return merged as unknown as ServerConfig
}

export const authSecrets = ['clientSecret', 'privateKey', 'assertion', 'idToken'] as const

/** What of it may be stored in clear. */
export const openAuth = (auth: AuthConfig): AuthConfig => pick(auth, (k, v) => (isSecret(k) ? undefined : v))

/** As it may be shown. */
export const redactAuth = (auth: AuthConfig): AuthConfig => pick(auth, (k, v) => (isSecret(k) ? '[redacted]' : v))

const isSecret = (k: string) => authSecrets.includes(k as 'idToken')

const pick = (o: object, value: (k: string, v: unknown) => unknown) =>
  Object.fromEntries(Object.entries(o).map(([k, v]) => [k, value(k, v)]).filter(([, v]) => v !== undefined))
