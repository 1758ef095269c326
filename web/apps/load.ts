import { fromBase64 } from '../../wasm/js/shared/base64.ts'
import { isObject } from '../../wasm/js/shared/object.ts'
import type { Registry, ResourceContents, ToolInfo, ToolResult } from '../../wasm/js/shared/types.ts'
import { featuresIn, type Csp, type Feature } from './policy.ts'

/** The type of an app's html (MCP Apps, 2026-01-26). */
export const mimeType = 'text/html;profile=mcp-app'

/** The largest html, in bytes of UTF-8. The specification names no bound; the largest app that we know has 4.4 MB. */
const most = 8 << 20
/** The same in base64, with line breaks. */
const longestBlob = most * 3 / 2

/** The reason why there is no app to show. The words are `app_…`. */
export type Fault =
  | 'no_sandbox'
  | 'bad_sandbox'
  | 'unreadable'
  | 'bad_type'
  | 'too_large'
  | 'silent'
  | 'flood'
  | 'left'
  | 'closed'

/** Thrown while an app is loaded or runs. Its message is why. */
export class AppFault extends Error {
  declare message: Fault
}

/** An app, as its server sent it. */
export interface App {
  html: string
  csp?: Csp
  permissions: Feature[]
  /** Tells versions of the app apart. Undefined where the page cannot make digests. */
  digest: string | undefined
}

type Meta = Record<string, unknown> | undefined
const uiOf = (meta: unknown): Meta => {
  const ui = (meta as Meta)?.['ui']
  return isObject(ui) ? ui : undefined
}

/** The URI of a tool's app, or undefined. */
export function uriOf({ definition: { _meta: meta } }: ToolInfo): string | undefined {
  const uri = uiOf(meta)?.['resourceUri'] ?? (meta as Meta)?.['ui/resourceUri']
  return typeof uri === 'string' && uri.startsWith('ui://') && uri.length < 2000 ? uri : undefined
}

/** The tool of that name for models, or the one that a result is of. */
export const toolOf = (tools: ToolInfo[], name: string | undefined, result?: ToolResult): ToolInfo | undefined =>
  tools.find((t) => name ? t.name === name : t.server === result?.server && t.tool === result.tool)

/** Reads an app. Throws an AppFault, or what the registry throws. */
export async function load(registry: Registry, server: string, uri: string, signal: AbortSignal): Promise<App> {
  const { contents } = await registry.readResource(server, uri, { signal })
  const found = contents.find((c) => c.uri === uri) ?? contents[0]
  if (!found) throw new AppFault('unreadable')
  if (found.mimeType?.toLowerCase().replace(/\s/g, '') !== mimeType) throw new AppFault('bad_type')
  const html = htmlOf(found)
  // The server's list of resources may have the policy that the contents lack.
  const ui = uiOf(found._meta) ??
    uiOf((await registry.resources({ servers: [server], signal }).catch(() => [])).find((r) => r.uri === uri)?._meta)
  const csp = ui?.['csp']
  const app = { html, ...(isObject(csp) && { csp }), permissions: featuresIn(ui?.['permissions']) }
  return { ...app, digest: await digestOf(JSON.stringify(app)) }
}

/** The text of an app's contents, within the bound. */
function htmlOf({ text, blob = '' }: ResourceContents): string {
  if (blob.length > longestBlob) throw new AppFault('too_large')
  const bytes = text === undefined ? fromBase64(blob) : new TextEncoder().encode(text)
  if (bytes.length > most) throw new AppFault('too_large')
  return text ?? new TextDecoder().decode(bytes)
}

async function digestOf(text: string): Promise<string | undefined> {
  const digest = await crypto.subtle?.digest('SHA-256', new TextEncoder().encode(text))
  return digest && btoa(String.fromCharCode(...new Uint8Array(digest)))
}
