import type { State } from '../messages.ts'

/**
 * What a report of a fault needs, as JSON text: no prompt, answer, label, title, address of a page or name of a
 * client.
 */
export function debugBundle(state: State, troubles: readonly unknown[]): string {
  const { version, link, pairing, stopped, options, permissions, chats, runs, activity, tools } = state
  return JSON.stringify(
    {
      version,
      at: new Date().toISOString(),
      browser: navigator.userAgent,
      link: { status: link.status, error: link.error?.code ?? null, ephemeral: link.ephemeral },
      pairing: pairing?.step ?? null,
      stopped,
      options,
      permissions: { ...permissions, origins: permissions.origins.length },
      chats: Object.fromEntries(
        Object.entries(chats).map((
          [site, { enabled, mode, granted, waiting, usedThisHour, answered, failed, timedOut }],
        ) => [site, { enabled, mode, granted, waiting, usedThisHour, answered, failed, timedOut }]),
      ),
      runs: runs.map(({ site, phase, mode }) => ({ site, phase, mode })),
      tools: tools.reduce<Record<string, number>>((n, { source }) => ({ ...n, [source]: (n[source] ?? 0) + 1 }), {}),
      activity: activity.slice(-100).map(({ at, kind, outcome, code, durationMs, site }) => ({
        at,
        kind,
        outcome,
        code,
        durationMs,
        site,
      })),
      troubles,
    },
    null,
    2,
  )
}
