import type { RedactedConfig, Registry, ScopeOptions, ServerConfig } from '../../../wasm/js/shared/types.ts'
import { fill, missing } from '../../config/placeholders.ts'
import { plainName, renameFree } from '../../config/address.ts'
import type { Entry } from '../../config/types.ts'
import { get } from '../../config/json.ts'
import { configFields } from '../../../wasm/js/shared/wire.gen.ts'

export type Clash = 'rename' | 'overwrite' | 'skip'

/** The plan for an entry. */
export interface Plan {
  entry: Entry
  chosen: boolean
  name: string
  clash: Clash
  values: Record<string, string>
  /** Its secrets are stored on this device. Undefined: as the registry does. */
  keep?: boolean
}

/** Plans for entries. An entry that equals an existing server, apart from secrets, is skipped. */
export function plansOf(entries: readonly Entry[], servers: Record<string, { config: RedactedConfig }>): Plan[] {
  return entries.map((entry) => {
    const { name, config } = entry
    const before = (get(servers, name) as { config: RedactedConfig } | undefined)?.config
    return {
      entry,
      chosen: !!config,
      name: before ? name : plainName(name) || name,
      clash: before && config && shape(before) === shape({ proxy: before.proxy, ...config }) ? 'skip' : 'rename',
      values: {},
    }
  })
}

/** The plans that need nothing more from the person. */
export function ready(plans: readonly Plan[], taken: ReadonlySet<string>): Plan[] {
  return plans.filter((p) =>
    p.chosen && p.entry.config && p.name.trim() && !missing(p.entry, p.values).length &&
    !p.entry.lints.some((l) => l.level === 'error') && !(taken.has(p.name) && p.clash === 'skip')
  )
}

/** A field that an overwritten server had, and its new configuration has not, takes its default. */
const bare = Object.fromEntries(configFields.slice(1).map((field) => [field, undefined])) as Partial<ServerConfig>

/** Names that no server can have, because every object has them. */
const inherited = Object.getOwnPropertyNames(Object.prototype)

/** Adds servers and connects to them. A fault ends it; `done` has the name of each plan that was carried out. */
export async function carryOut(
  registry: Registry,
  plans: readonly Plan[],
  done: Map<Plan, string>,
  options: ScopeOptions = {},
): Promise<void> {
  try {
    for (const plan of plans) {
      const { entry, name: wished, clash, values, keep } = plan
      const config = fill(entry, values)
      if (keep !== undefined) config.rememberSecrets = keep
      if (!config.url.startsWith('builtin:')) config.proxy ??= 'auto'
      const taken = new Set(Object.keys(registry.getSnapshot().servers))
      const name = clash === 'overwrite' ? wished : renameFree(wished, [...inherited, ...taken])
      if (taken.has(name)) await registry.updateServer(name, { ...bare, ...config })
      else await registry.addServer(name, config, options)
      done.set(plan, name)
    }
  } finally {
    void registry.discover([...done.values()]).catch(() => {}) // health tells
  }
}

/** The text by which two configurations are compared. Header values are hidden, so they do not count. */
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
