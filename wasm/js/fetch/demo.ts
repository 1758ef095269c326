// The MCP server `builtin:demo`. It shows what a server can offer, without a network. It speaks 2026-07-28.

/** A PNG of one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const text = (text: string) => ({ content: [{ type: 'text', text }] })
const failure = (reason: string) => ({ ...text(reason), isError: true })

/** The address of the app of `tide_app`. */
const appUri = 'ui://demo/tide'

/** An app without a library: it shakes hands, shows the result, and calls a tool of its server. */
const appHtml = `<!doctype html><html lang=en><title>Tide</title><style>
:root{color-scheme:light dark;font:16px system-ui}body{margin:1rem}button{font:inherit;padding:.4rem .8rem}</style>
<h1>High water</h1><p id=result role=status>…</p><button>Another day</button><script>
let id=0,day=0;const open={},days=['monday','tuesday','wednesday','thursday','friday']
const post=m=>parent.postMessage({jsonrpc:'2.0',...m},'*')
const ask=(method,params)=>new Promise(r=>{open[++id]=r;post({id,method,params})})
const show=r=>{result.textContent=r.content[0].text}
const theme=c=>{if(c.theme)document.documentElement.style.colorScheme=c.theme}
addEventListener('message',({source,data:m})=>{if(source!==parent)return
if(m.method==='ui/notifications/tool-result')show(m.params)
else if(m.method==='ui/notifications/host-context-changed')theme(m.params)
else if(m.method)m.id!==undefined&&post({id:m.id,result:{}})
else open[m.id]?.(m.result)})
document.querySelector('button').onclick=async()=>show(await ask('tools/call',{name:'tide_app',arguments:{day:days[++day%5]}}))
ask('ui/initialize',{protocolVersion:'2026-01-26',appInfo:{name:'tide',version:'1'},appCapabilities:{}}).then(r=>{theme(r.hostContext)
post({method:'ui/notifications/initialized'});post({method:'ui/notifications/size-changed',params:{height:document.documentElement.offsetHeight+32}})})
</script></html>`

const textOf = (value: unknown, absent: string) => typeof value === 'string' ? value : absent
const numberOf = (value: unknown, least: number, most: number, absent: number) =>
  typeof value === 'number' ? Math.min(Math.max(value, least), most) : absent
const limitOf = (to: unknown) => Math.trunc(numberOf(to, 1, 100, 5))

type Args = Partial<Record<'text' | 'a' | 'b' | 'to' | 'delayMs' | 'city' | 'reason' | 'day', unknown>>

const tool = (
  name: string,
  description: string,
  properties: object,
  required: string[] | undefined,
  /** Makes the result of a call. Lists of tools do not show it, because JSON has no functions. */
  run: (args: Args) => object,
) => ({ name, description, inputSchema: { type: 'object', properties, required }, run })

const string = { type: 'string' }, number = { type: 'number' }

const tools = [
  tool(
    'echo',
    'Returns the text that it is given.',
    { text: { ...string, description: 'What to say' } },
    ['text'],
    (args) => text(textOf(args.text, '')),
  ),
  tool(
    'add',
    'Adds two numbers.',
    { a: number, b: number },
    ['a', 'b'],
    ({ a, b }) =>
      typeof a === 'number' && typeof b === 'number' ? text(`${a + b}`) : failure('a and b must be numbers'),
  ),
  tool(
    'count',
    'Counts slowly and reports progress.',
    {
      to: { type: 'integer', minimum: 1, maximum: 100, default: 5 },
      delayMs: { type: 'integer', minimum: 0, maximum: 10000, default: 200 },
    },
    undefined,
    ({ to }) => text(`counted to ${limitOf(to)}`),
  ),
  tool('picture', 'Returns a small image.', {}, undefined, () => ({
    content: [{ type: 'text', text: 'One pixel:' }, { type: 'image', mimeType: 'image/png', data: pixel }],
  })),
  tool('weather', 'Returns made-up weather as structured content.', { city: string }, ['city'], ({ city }) => {
    const structuredContent = { city: textOf(city, 'nowhere'), celsius: 21.5, sky: 'clear' }
    return { ...text(JSON.stringify(structuredContent)), structuredContent }
  }),
  tool(
    'fail',
    'Always answers with an error.',
    { reason: string },
    undefined,
    ({ reason }) => failure(textOf(reason, 'this tool always fails')),
  ),
]

/** The tool with a user interface, for clients that show apps. */
const appTool = {
  ...tool(
    'tide_app',
    'Shows an interactive app with the tide of a day.',
    { day: { ...string, enum: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] } },
    undefined,
    ({ day }) => {
      const on = textOf(day, 'monday')
      return text(`${read(`demo://tide/${on}`) ?? 'No tide'} on ${on}`)
    },
  ),
  _meta: { ui: { resourceUri: appUri } },
}

interface Params {
  name?: string
  uri?: string
  arguments?: Args & { who?: string }
  argument?: { value?: string }
  inputResponses?: { name?: { action?: string; content?: { name?: unknown } } }
  _meta?: {
    progressToken?: number
    'io.modelcontextprotocol/clientCapabilities'?: { elicitation?: object; extensions?: object }
  }
}

const asker = { name: 'ask', description: 'Asks for your name during the call.', inputSchema: { type: 'object' } }

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday']

/** The lists of what is no tool, by method. */
const lists: Record<string, object> = {
  'resources/list': {
    resources: [{ uri: 'demo://harbour', name: 'harbour', title: 'The harbour', mimeType: 'text/markdown' }],
  },
  'resources/templates/list': {
    resourceTemplates: [{ uriTemplate: 'demo://tide/{day}', name: 'tide', title: 'The tide of a day' }],
  },
  'prompts/list': {
    prompts: [{ name: 'greet', title: 'Greet somebody', arguments: [{ name: 'who', required: true }] }],
  },
}

const read = (uri: string) => {
  const day = days.indexOf(uri.slice('demo://tide/'.length))
  if (uri === 'demo://harbour') return '# The harbour\n\nEight metres deep, and open all night.'
  return uri.startsWith('demo://tide/') && day >= 0 ? `High water: ${(1.1 + day / 10).toFixed(1)} m` : undefined
}

/** The result of the tool that asks: its question, at first. */
function asked({ inputResponses, _meta }: Params): object {
  const { action, content } = inputResponses?.name ?? {}
  if (action || !_meta?.['io.modelcontextprotocol/clientCapabilities']?.elicitation)
    return {
      resultType: 'complete',
      ...text(`Hello, ${action === 'accept' ? textOf(content?.name, '') : 'stranger'}.`),
    }
  const requestedSchema = { type: 'object', properties: { name: string }, required: ['name'] }
  const params = { mode: 'form', message: 'What is your name?', requestedSchema }
  return { resultType: 'input_required', inputRequests: { name: { method: 'elicitation/create', params } } }
}

function outcome(method: string, params: Params): object {
  const { name, uri = '', arguments: args = {} } = params
  const complete = (result: object) => ({ result: { resultType: 'complete', ...result } })
  const refuse = (code: number, message: string) => ({ error: { code, message } })
  if (method === 'tools/list') {
    const { extensions = {} } = params._meta?.['io.modelcontextprotocol/clientCapabilities'] ?? {}
    const apps = 'io.modelcontextprotocol/ui' in extensions ? [appTool] : []
    return complete({ tools: [...tools, asker, ...apps] })
  }
  if (method === 'server/discover')
    return complete({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'portolan-demo', version: '1' } },
    })
  if (lists[method]) return complete(lists[method])
  if (method === 'resources/read') {
    if (uri === appUri) return complete({ contents: [{ uri, mimeType: 'text/html;profile=mcp-app', text: appHtml }] })
    const found = read(uri)
    return found ? complete({ contents: [{ uri, text: found }] }) : refuse(-32602, `unknown resource: ${uri}`)
  }
  if (method === 'prompts/get') {
    const content = { type: 'text', text: `Greet ${args.who} in one sentence.` }
    return complete({ messages: [{ role: 'user', content }] })
  }
  if (method === 'completion/complete') {
    const values = days.filter((day) => day.startsWith(textOf(params.argument?.value, '')))
    return complete({ completion: { values } })
  }
  if (method !== 'tools/call') return refuse(-32601, 'method not found')
  if (name === asker.name) return { result: asked(params) }
  const called = [...tools, appTool].find((tool) => tool.name === name)
  return called ? complete(called.run(args)) : refuse(-32602, `unknown tool: ${name}`)
}

/** The events of a call of count: a report of progress after each delay, and the response. */
function counting(
  { to, delayMs }: Args,
  progressToken: unknown,
  response: string,
  signal: AbortSignal,
): ReadableStream {
  const total = limitOf(to)
  return new ReadableStream({
    start(controller) {
      const send = (json: string) => controller.enqueue(new TextEncoder().encode(`data: ${json}\n\n`))
      let progress = 0
      const timer = setInterval(() => {
        const params = { progressToken, progress: ++progress, total, message: `at ${progress}` }
        if (progressToken !== undefined)
          send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }))
        if (progress < total) return
        clearInterval(timer)
        send(response)
        controller.close()
      }, numberOf(delayMs, 0, 10_000, 200))
      signal.addEventListener('abort', () => {
        clearInterval(timer)
        controller.error(signal.reason)
      })
    },
  })
}

/** Answers a request as fetch does. */
export async function demo(init: RequestInit): Promise<Response> {
  const { id, method, params = {} } = JSON.parse(new TextDecoder().decode(init.body as Uint8Array)) as {
    id: number
    method: string
    params?: Params
  }
  const json = JSON.stringify({ jsonrpc: '2.0', id, ...outcome(method, params) })
  const streams = method === 'tools/call' && params.name === 'count'
  const body = streams ? counting(params.arguments ?? {}, params._meta?.progressToken, json, init.signal!) : json
  return new Response(body, { headers: { 'content-type': streams ? 'text/event-stream' : 'application/json' } })
}
