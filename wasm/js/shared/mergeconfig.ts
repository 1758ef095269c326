import { originOf } from './origin.ts'
import type { AuthConfig, ServerConfig } from './types.ts'
import { secretAuthFields } from './wire.gen.ts'

/** A configuration after an accepted patch, as the module applies it (applyConfig of package api). */
export function mergeConfig(old: ServerConfig | undefined, patch: Partial<ServerConfig>): ServerConfig {
  const moved = old && patch.url !== undefined && originOf(old.url) !== originOf(patch.url)
  const merged: Record<string, unknown> = {
    ...old,
    ...(moved && { headers: undefined, auth: openAuth(old.auth) }),
    ...patch,
  }
  for (const key of ['headers', 'auth'] as const) {
    const kept = old?.[key] as Record<string, unknown> | undefined
    if (patch[key]) merged[key] = pick(patch[key], (k, v) => (v === '[redacted]' ? kept?.[k] : v))
  }
  return pick(merged, (_, v) => v ?? undefined) as unknown as ServerConfig
}

/** What of it may be stored in clear. */
export const openAuth = (auth: AuthConfig | undefined): AuthConfig | undefined =>
  auth && pick(auth, (k, v) => (isSecret(k) ? undefined : v))

/** As it may be shown. */
export const redactAuth = (auth: AuthConfig): AuthConfig => pick(auth, (k, v) => (isSecret(k) ? '[redacted]' : v))

const isSecret = (k: string) => secretAuthFields.includes(k)

/** A copy in which undefined is left out. */
const pick = <T extends object>(o: T, value: (k: string, v: unknown) => unknown): T =>
  JSON.parse(JSON.stringify(o, (k, v) => (k ? value(k, v) : v)))
