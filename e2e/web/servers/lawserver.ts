import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import { listen, type Listening } from '../../rig/harness.ts'
import { admitPages, bodyOf, sdkSessions } from './sdksessions.ts'

/** The faults of the server. All are off at first. */
export interface Faults {
  /** Searches wait for `goOn()`, or until they are cancelled. */
  slow: boolean
  /** Every request gets 503. */
  unhealthy: boolean
  /** Requests are not answered until they are closed. */
  silent: boolean
  /** `search_with_progress` is not listed, or is listed and does not exist. */
  noProgressTool: false | 'unlisted' | 'unknown' | 'method'
  /** Each result stands three times, at addresses that differ in little. */
  duplicates: boolean
  /** The results speak of addresses that no result has. */
  foreignLinks: boolean
  /** So many of the next calls of a search get 503. */
  failures: number
  /** The search answers with an error. */
  broken: boolean
  /** Progress has no total. */
  noTotal: boolean
  /** The search finds nothing. */
  empty: boolean
  /** The result names the address of the search. */
  namesAddress: boolean
}

const none: Faults = {
  slow: false,
  unhealthy: false,
  silent: false,
  noProgressTool: false,
  duplicates: false,
  foreignLinks: false,
  failures: 0,
  broken: false,
  noTotal: false,
  empty: false,
  namesAddress: false,
}

/** Courts, and masks that stand for several. */
const databases = [
  { code: 'au/cases', name: 'All Australian cases', type: 'mask' },
  { code: 'au/cases/cth', name: 'Commonwealth cases' },
  { code: 'au/cases/cth/HCA', name: 'High Court of Australia' },
  { code: 'au/cases/cth/FCA', name: 'Federal Court of Australia' },
  { code: 'au/cases/nsw/NSWCA', name: 'New South Wales Court of Appeal' },
  { code: 'au/cases/nsw/NSWSC', name: 'Supreme Court of New South Wales' },
  { code: 'au/cases/vic/VSCA', name: 'Victorian Court of Appeal' },
  { code: 'au/cases/qld/QCA', name: 'Queensland Court of Appeal' },
]

/** The address of a case. */
export const caseUrl = (n: number): string => `https://law.example/au/cases/cth/HCA/${2000 + n}/${n}.html`
/** The number of cases that a search finds, and of those that it lists. */
export const found = { total: 240, listed: 25 }

const cases = Array.from({ length: found.listed }, (_, i) => ({
  title: `Carrier v Harbour Trust (No ${i + 1})`,
  url: caseUrl(i + 1),
  metadata: { court: 'High Court of Australia', year: 2001 + i },
}))

const string = { type: 'string' }
const search = {
  type: 'object',
  properties: { query: string, databases: { type: 'array', items: string } },
  required: ['query', 'databases'],
}

/**
 * The stand-in for the search of a law library, on the official TypeScript SDK. It has one tool for each step, and none
 * that does several. It notes the calls and the headers that it got.
 */
export interface LawServer extends Listening {
  faults: Faults
  /** Switches all faults off, and forgets what was noted. */
  reset(): void
  /** Lets slow searches end. */
  goOn(): void
  /** Resolves when a slow search waits. */
  waits(): Promise<void>
  /** The names of the called tools. */
  calls: string[]
  /** The arguments of the last search. */
  searched: Record<string, unknown> | undefined
  /** Headers and bodies of all requests. */
  requests: { method: string; headers: Record<string, string>; body: string }[]
  /** The number of cancelled searches. */
  cancelled: number
}

export async function lawServer({ readOnly = true } = {}): Promise<LawServer> {
  const annotations = readOnly ? { readOnlyHint: true } : {}
  const tools = [
    { name: 'list_databases', inputSchema: { type: 'object' }, annotations },
    { name: 'search_with_progress', inputSchema: search, annotations },
    { name: 'search', inputSchema: search, annotations },
    { name: 'build_search_url', inputSchema: search, annotations },
    { name: 'forget_search', inputSchema: { type: 'object' } },
  ]
  let open = () => {}
  let isOpen = new Promise<void>((resolve) => (open = resolve))
  let arrived = () => {}
  let hasArrived = new Promise<void>((resolve) => (arrived = resolve))

  const law: Omit<LawServer, keyof Listening> = {
    faults: { ...none },
    calls: [],
    requests: [],
    searched: undefined,
    cancelled: 0,
    reset() {
      Object.assign(law, { faults: { ...none }, calls: [], requests: [], searched: undefined, cancelled: 0 })
      isOpen = new Promise((resolve) => (open = resolve))
      hasArrived = new Promise((resolve) => (arrived = resolve))
    },
    goOn: () => open(),
    waits: () => hasArrived,
  }

  function results() {
    const { duplicates, foreignLinks, empty, namesAddress } = law.faults
    const listed = (empty ? [] : cases).flatMap((c, i) => [
      foreignLinks ? { ...c, metadata: { note: `See [more](https://elsewhere.example/${i}).` } } : c,
      ...(duplicates
        ? [{ ...c, url: `${c.url}#para1` }, { ...c, url: c.url.replace('https://', 'http://www.') }]
        : []),
    ])
    const total = duplicates || empty ? listed.length : found.total
    return {
      content: [{ type: 'text' as const, text: JSON.stringify(listed) }],
      structuredContent: { results: listed, total, ...(namesAddress && { url: 'https://law.example/s/7' }) },
    }
  }

  function program(): Server {
    const server = new Server({ name: 'law', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: tools.filter(({ name }) =>
        name !== 'search_with_progress' || law.faults.noProgressTool !== 'unlisted'
      ) as never,
    }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
      const { name, arguments: args = {}, _meta } = params
      law.calls.push(name)
      const text = (text: string) => ({ content: [{ type: 'text' as const, text }] })
      if (name === 'list_databases') return { ...text(JSON.stringify(databases)), structuredContent: { databases } }
      if (name === 'build_search_url')
        return text(`https://law.example/search?q=${encodeURIComponent(String(args['query']))}`)
      if (name === 'search_with_progress' && law.faults.noProgressTool)
        throw law.faults.noProgressTool === 'method'
          ? new McpError(ErrorCode.MethodNotFound, 'Method not found')
          : new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name}`)
      law.searched = args
      if (law.faults.broken) return { ...text('The index is being rebuilt.'), isError: true }
      const total = 4
      for (let progress = 1; name === 'search_with_progress' && progress <= total; progress++) {
        await sendNotification({
          method: 'notifications/progress',
          params: {
            progressToken: _meta!.progressToken!,
            progress,
            message: `Searched ${progress} of the courts`,
            ...(!law.faults.noTotal && { total }),
          },
        })
      }
      if (law.faults.slow) {
        arrived()
        await Promise.race([isOpen, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        if (signal.aborted) law.cancelled++
      }
      return results()
    })
    return server
  }

  const serve = sdkSessions(program)
  const listening = await listen(async (req, res) => {
    if (admitPages(req, res)) return
    const body = await bodyOf(req)
    law.requests.push({ method: req.method!, headers: req.headers as Record<string, string>, body })
    if (law.faults.silent) return
    const fails = /"name":"search/.test(body) && law.faults.failures > 0
    if (fails) {
      law.faults.failures--
      law.calls.push('503')
    }
    if (law.faults.unhealthy || fails) return void res.writeHead(503).end('no index')
    await serve(req, res, body)
  })
  // Its members change, so that it is not copied.
  return Object.assign(law, { ...listening, url: `${listening.url}/mcp` })
}
