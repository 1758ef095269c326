import type { ServerConfig } from '../../../wasm/js/shared/types.ts'

type Choice = NonNullable<ServerConfig['tools']>

/**
 * The choice after some tools are switched, as small as it can be said. All off
 * is an empty `allow`, so that tools which the server adds later are off as well;
 * all on is no choice.
 */
export function chosen(
  choice: Choice | undefined,
  all: readonly string[],
  names: readonly string[],
  on: boolean,
): Choice | undefined {
  const change = new Set(names)
  if (all.every((name) => change.has(name))) return on ? undefined : { allow: [] }
  const deny = (choice?.deny ?? []).filter((name) => !change.has(name))
  if (choice?.allow) {
    const allow = choice.allow.filter((name) => !change.has(name))
    if (on) allow.push(...names)
    return { allow, ...(deny.length && { deny }) }
  }
  if (!on) deny.push(...names)
  return deny.length ? { deny } : undefined
}
