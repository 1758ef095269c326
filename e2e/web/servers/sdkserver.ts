import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { listen, type Listening } from '../../rig/harness.ts'
import { admitPages, bodyOf, sdkSessions } from './sdksessions.ts'

const schema = { type: 'object', properties: {} } as const

/**
 * A server on the official TypeScript SDK, with tools that a test can steer:
 * raw (says its arguments as they arrived), wait (until it is cancelled), steps
 * (progress). It notes what it was asked, and is open to pages of any origin unless `cors` is false.
 * It awaits `before` with each request.
 */
export async function sdkServer(
  tools: unknown[] = [],
  { cors = true, before = async () => {}, finish, instructions, results = {}, card }: {
    cors?: boolean
    before?: () => Promise<unknown>
    /** The tool `steps` awaits it after its progress. */
    finish?: Promise<unknown>
    /** Is called for each session. */
    instructions?: () => string
    /** The results of tools, by name. */
    results?: Record<string, { content: object[]; structuredContent?: object; isError?: boolean }>
    /** The server card at /.well-known/mcp/server-card.json. */
    card?: object
  } = {},
): Promise<Listening & { calls: string[]; methods: string[]; headers: Record<string, string | undefined>[] }> {
  const calls: string[] = []
  const headers: Record<string, string | undefined>[] = []
  const bodies: string[] = []
  const methods: string[] = []

  function program(): Server {
    const server = new Server({ name: 'steered', version: '1' }, {
      capabilities: { tools: { listChanged: true }, logging: {} },
      ...(instructions && { instructions: instructions() }),
    })
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [...['raw', 'wait', 'steps'].map((name) => ({ name, inputSchema: schema })), ...tools] as never,
    }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification, sendRequest }) => {
      const text = (text: string) => ({ content: [{ type: 'text' as const, text }] })
      calls.push(params.name)
      if (results[params.name]) return results[params.name]! as never
      if (params.name === 'raw') return text(bodies.at(-1)!)
      if (params.name === 'wait') {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        calls.push('cancelled')
        return text('too late')
      }
      if (params.arguments?.['log']) {
        const data = params.arguments['log']
        await sendNotification({ method: 'notifications/message', params: { level: 'warning', logger: 'tide', data } })
        return text('logged')
      }
      if (params.name === 'ask' && params.arguments?.['sample']) {
        const sample = params.arguments['sample'] as never // params of sampling/createMessage
        const answer = sendRequest({ method: 'sampling/createMessage', params: sample }, CreateMessageResultSchema)
        return text(JSON.stringify(await answer.catch((e) => ({ refused: e.code }))))
      }
      if (params.name === 'ask' && params.arguments?.['question']) {
        const question = params.arguments['question'] as never // params of elicitation/create
        return text(
          JSON.stringify(await sendRequest({ method: 'elicitation/create', params: question }, ElicitResultSchema)),
        )
      }
      if (params.name === 'ask' && params.arguments?.['later']) { // on the session's own stream, after the call
        setImmediate(async () => {
          const question = { message: 'who?', requestedSchema: { type: 'object' as const, properties: {} } }
          const { action } = await server.elicitInput(question).catch(() => ({ action: 'none' }))
          calls.push(`later: ${action}`)
        })
        return text('later')
      }
      if (params.name === 'ask') { // for who lists it
        const answer = await sendRequest({
          method: 'elicitation/create',
          params: {
            message: String(params.arguments?.['message'] ?? 'who?'),
            requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
          },
        }, ElicitResultSchema)
        return text(String(answer.content?.name))
      }
      const { steps, everyMs } = params.arguments as { steps: number; everyMs: number }
      for (let i = 1; i <= steps; i++) {
        await new Promise((resolve) => setTimeout(resolve, everyMs))
        await sendNotification({
          method: 'notifications/progress',
          params: { progressToken: params._meta!.progressToken!, progress: i, total: steps },
        })
      }
      await finish
      return text('done')
    })
    return server
  }

  const serve = sdkSessions(program)
  const listening = await listen(async (req, res) => {
    if (cors && admitPages(req, res)) return
    if (req.method === 'OPTIONS') return void res.writeHead(405).end()
    if (card && req.url === '/.well-known/mcp/server-card.json')
      return void res.writeHead(200, { 'content-type': 'application/mcp-server-card+json' }).end(JSON.stringify(card))
    await before()
    headers.push({ authorization: req.headers.authorization, origin: req.headers.origin })
    const body = await bodyOf(req)
    if (body) methods.push((JSON.parse(body) as { method?: string }).method ?? 'answer')
    if (body.includes('tools/call')) bodies.push(body)
    await serve(req, res, body)
  })
  return { ...listening, url: `${listening.url}/mcp`, calls, methods, headers }
}
