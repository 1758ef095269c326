import type { RedactedConfig, ServerConfig } from '../../../wasm/js/shared/types.ts'
import type { Entry } from './types.ts'
import { get } from './value.ts'

export type Conflict = 'new' | 'same' | 'different'

/**
 * How each entry stands to the servers there are. The values of headers cannot be compared: `same` is the same but for
 * them.
 */
export const conflicts = (existing: Record<string, RedactedConfig>, entries: readonly Entry[]): Conflict[] =>
  entries.map((entry) => {
    const before = get(existing, entry.name) as RedactedConfig | undefined
    if (!before) return 'new'
    return entry.config && shape(before) === shape(entry.config) ? 'same' : 'different'
  })

function shape({ url, headers, transport, tools, proxy, enabled, timeoutMs }: ServerConfig): string {
  const names = Object.keys(headers ?? {}).map((h) => h.toLowerCase()).sort()
  return JSON.stringify([
    URL.canParse(url) ? new URL(url).href : url,
    names,
    transport ?? 'auto',
    tools?.allow,
    tools?.deny ?? [],
    proxy ?? false,
    enabled ?? true,
    timeoutMs,
  ])
}
