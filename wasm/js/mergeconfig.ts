import { originOf } from './origin.ts'
import type { ServerConfig } from './types.ts'

/** A configuration after an accepted patch, as the module applies it (applyConfig of package api). */
export function mergeConfig(old: ServerConfig | undefined, patch: Partial<ServerConfig>): ServerConfig {
  const moved = old && patch.url !== undefined && originOf(old.url) !== originOf(patch.url)
  const merged: Record<string, unknown> = { ...old, ...(moved && { headers: undefined }), ...patch }
  if (patch.headers) {
    merged.headers = Object.fromEntries(Object.entries(patch.headers)
      .map(([k, v]) => [k, v === '[redacted]' ? old?.headers?.[k] : v]).filter(([, v]) => v !== undefined))
  }
  for (const [k, v] of Object.entries(merged)) if (v === null || v === undefined) delete merged[k]
  return merged as unknown as ServerConfig
}
