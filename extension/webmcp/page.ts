import { cleanTool } from '../../wasm/js/fetch/hygiene.ts'
import { validateArguments } from '../../wasm/js/page/validate.ts'
import { extentOf, isObject } from '../../wasm/js/shared/json.ts'
import { plain } from '../../wasm/js/shared/plaintext.ts'
import { onBackgroundPort, type Port } from '../browser.ts'
import {
  longest,
  mostLevels,
  mostResult,
  mostSchemas,
  mostTools,
  pagePort,
  type FromPage,
  type PageList,
  type PageTool,
  type ToPage,
} from './pagemessages.ts'

// The content script for the tools of a page (WebMCP). It runs in the extension's own world, which no script of the
// page reaches. The browser's modelContext is there, too.

/** Changes within this time, in ms, are one list. */
const pause = 1000

/** The interface of Chromium 156 beside the draft of June 2026. In older versions a schema is JSON text. */
interface ModelContext extends EventTarget {
  getTools(): Promise<RegisteredTool[]>
  executeTool(tool: RegisteredTool, args: object, options: { signal: AbortSignal }): Promise<unknown>
}
interface RegisteredTool {
  name: string
  title?: string
  description: string
  inputSchema?: object | string
  annotations?: { readOnlyHint?: boolean }
  origin?: string
  window?: Window
}

/** The browser's own modelContext. In this world, no element of the page hides it by its name. */
function modelContext(): ModelContext | undefined {
  const { modelContext: context } = document as { modelContext?: Partial<ModelContext> }
  return typeof context?.getTools === 'function' && typeof context.executeTool === 'function'
    ? context as ModelContext
    : undefined
}

/** The tools of this page and of its frames of the same origin. A name stands for the page's own tool first. */
async function toolsOf(context: ModelContext): Promise<Map<string, RegisteredTool>> {
  const all = (await context.getTools()).filter((t) => t.origin === undefined || t.origin === location.origin)
  const own = all.filter((t) => t.window === undefined || t.window === window)
  return new Map([...all.filter((t) => !own.includes(t)), ...own].map((t) => [t.name, t]))
}

/** The schema of a tool, or undefined for one that is none or too large. */
function schemaOf({ inputSchema }: RegisteredTool): object | undefined {
  try {
    const schema: unknown = typeof inputSchema === 'string' ? JSON.parse(inputSchema || '{}') : inputSchema ?? {}
    if (!isObject(schema) || !extentOf(schema, mostLevels)) return undefined
    return JSON.stringify(schema).length <= longest.schema ? schema : undefined
  } catch {
    return undefined
  }
}

/** The tool as clients get it: within the bounds, and without hidden text. Undefined if it cannot be offered. */
function offered(tool: RegisteredTool): PageTool | undefined {
  const inputSchema = schemaOf(tool)
  if (!inputSchema) return undefined
  const { tool: cleaned, flags = [], refused } = cleanTool({
    name: tool.name,
    title: (tool.title ?? '').slice(0, longest.title),
    description: tool.description.slice(0, longest.description),
    inputSchema,
  })
  const { name, title, description } = cleaned as unknown as PageTool
  return refused ? undefined : {
    name,
    title,
    description,
    inputSchema: cleaned['inputSchema'] as object,
    readOnly: tool.annotations?.readOnlyHint === true,
    flags,
  }
}

async function list(context: ModelContext | undefined): Promise<PageList> {
  const about = { origin: location.origin, title: plain(document.title).text.slice(0, longest.title) }
  if (!context) return { supported: false, ...about, tools: [], left: 0 }
  const all = [...(await toolsOf(context)).values()]
  const tools: PageTool[] = []
  let left = mostSchemas
  for (const tool of all.slice(0, mostTools)) {
    const made = offered(tool)
    const size = made && JSON.stringify(made.inputSchema).length
    if (!size || size > left) continue
    left -= size
    tools.push(made)
  }
  return { supported: true, ...about, tools, left: all.length - tools.length }
}

class Fault extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

async function call(
  context: ModelContext | undefined,
  asked: PageTool,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<string> {
  const tool = context && (await toolsOf(context)).get(asked.name)
  const made = tool && offered(tool)
  if (!made) throw new Fault('UNKNOWN_TOOL', `The page has no tool ${JSON.stringify(asked.name)} now.`)
  if (JSON.stringify(made) !== JSON.stringify(asked))
    throw new Fault('TOOL_CHANGED', `The page has changed ${asked.name} meanwhile. It was not called. List it again.`)
  const problems = validateArguments(schemaOf(tool), args)
  if (problems) throw new Fault('INVALID_ARGUMENTS', `Invalid arguments: ${problems}`)
  let value: unknown
  try {
    value = await context!.executeTool(tool, args, { signal })
  } catch (e) {
    const { name, message } = e as Error
    // The browser does not say more, because the page's error may be about another origin.
    throw new Fault('TOOL_FAILED', `The page's tool failed: ${plain(`${name}: ${message}`).text.slice(0, 300)}`)
  }
  const text = typeof value === 'string' ? value : ''
  if (text.length > mostResult)
    throw new Fault('TOO_LARGE', `The result has ${text.length} characters, and ${mostResult} are the most.`)
  return text
}

/** Serves a port of the background: the list, each change of it, and calls. Its end ends them. */
function serve(port: Port): void {
  const post = (message: FromPage) => port.post(message)
  const context = modelContext()
  const calls = new Map<number, AbortController>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const tell = async () => {
    timer = undefined
    // A policy may forbid the page's tools. Then the browser gives no list, as without a context.
    post({ type: 'tools', list: await list(context).catch(() => list(undefined)) })
  }
  const changed = () => void (timer ??= setTimeout(tell, pause))
  context?.addEventListener('toolchange', changed)
  port.onmessage = async (raw) => {
    const m = raw as ToPage
    if (m.type === 'cancel') return calls.get(m.id)?.abort()
    const control = new AbortController()
    calls.set(m.id, control)
    try {
      post({ type: 'result', id: m.id, text: await call(context, m.tool, m.args, control.signal) })
    } catch (e) {
      const { code = 'UNKNOWN', message } = e as Fault
      post({ type: 'failed', id: m.id, code, message })
    } finally {
      calls.delete(m.id)
    }
  }
  port.onclose = () => {
    clearTimeout(timer)
    context?.removeEventListener('toolchange', changed)
    for (const control of calls.values()) control.abort()
  }
  void tell()
}

// The background injects this file before it connects. A page that has it already keeps it.
const loaded = Symbol.for('portolan.webmcp')
const scope = globalThis as { [loaded]?: true }
if (!scope[loaded]) {
  scope[loaded] = true
  onBackgroundPort(pagePort, serve)
}
