import type { Snapshot } from '../../../wasm/js/shared/types.ts'
import { readArguments } from '../../../wasm/js/cassette/key.ts'
import { maskSecrets } from '../../../wasm/js/shared/leaks.ts'
import { parsed } from '../../ui/json.ts'
import type { Row } from './log.ts'

/** The exchanges as an HTTP archive (HAR 1.2). Secrets are not in them. */
export function asHAR(rows: readonly Row[], version: string): string {
  const named = (headers: [name: string, value: string][] = []) => headers.map(([name, value]) => ({ name, value }))
  const typeIn = (headers: [name: string, value: string][] = []) =>
    headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  const common = { httpVersion: '', cookies: [], headersSize: -1 }
  const entries = rows.flatMap(({ exchange: x, at, durationMs = 0, over }) =>
    x && over
      ? [{
        startedDateTime: new Date(at).toISOString(),
        time: durationMs,
        request: {
          ...common,
          method: x.method,
          url: x.url,
          headers: named(x.requestHeaders),
          queryString: [],
          bodySize: -1,
          ...(x.requestBody !== undefined && {
            postData: { mimeType: typeIn(x.requestHeaders), text: x.requestBody },
          }),
        },
        response: {
          ...common,
          status: x.status ?? 0,
          statusText: '',
          headers: named(x.responseHeaders),
          content: { size: -1, mimeType: typeIn(x.responseHeaders), text: x.responseBody ?? '' },
          redirectURL: '',
          bodySize: -1,
        },
        cache: {},
        timings: { send: 0, wait: durationMs, receive: 0 },
      }]
      : []
  )
  return fileText({ log: { version: '1.2', creator: { name: 'portolan', version }, entries } })
}

/** The calls whose arguments and answers are whole, as a cassette for `replay` of portolan/cassette. */
export function asCassette(rows: readonly Row[], snapshot: Snapshot): string {
  const servers: Record<string, unknown> = {}
  for (const [name, { config: _, ...health }] of Object.entries(snapshot.servers)) {
    const tools = snapshot.tools.filter((t) => t.server === name)
    servers[name] = { health, tools: tools.map(({ name, tool, definition }) => ({ name, tool, definition })) }
  }
  const calls = rows.flatMap((row) => {
    const result = row.answer === undefined ? undefined : parsed(row.answer) as Record<string, unknown> | undefined
    if (!row.tool || row.args === undefined || parsed(row.args) === undefined || !result) return []
    const { content, structuredContent, isError } = result
    const tool = snapshot.tools.find((t) => t.name === row.tool)?.tool ?? row.tool
    const value = { content, structuredContent }
    return [{
      tool: row.tool,
      arguments: readArguments(row.args),
      result: { server: row.server, tool, isError, durationMs: row.durationMs ?? 0, value },
    }]
  })
  return fileText({ portolan: 'cassette', version: 1, servers, calls })
}

/** The text of a file. Likely secrets are masked, because people pass files on. */
const fileText = (value: unknown) =>
  JSON.stringify(value, (_, v: unknown) => typeof v === 'string' ? maskSecrets(v) : v, 1)
