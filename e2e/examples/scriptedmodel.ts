import type { ServerResponse } from 'node:http'
import { listen, type Listening } from '../rig/harness.ts'

interface Message {
  role: string
  content: string
  tool_call_id?: string
  tool_calls?: { id: string }[]
}
interface Body {
  model: string
  messages: Message[]
  stream?: boolean
  tools?: { function: { name: string } }[]
}
interface Turn {
  content?: string
  calls?: [name: string, args: string][]
}

export interface ScriptedModel extends Listening {
  /** The questions to it, in order. */
  asked: Body[]
  /** Lets a pause in an answer end. */
  goOn(): void
}

/**
 * An endpoint that speaks OpenAI's chat completions, whose model does what its script
 * has for the question: it gets the results of the tools that it asked for since,
 * and says what it wants next.
 */
export async function scriptedModel(
  key: string,
  script: Record<string, (results: string[]) => Turn>,
): Promise<ScriptedModel> {
  const asked: Body[] = []
  let goOn = () => {}
  const { url, close } = await listen(async (req, res) => {
    res.setHeader('access-control-allow-origin', '*')
    res.setHeader('access-control-allow-headers', 'authorization, content-type')
    if (req.method === 'OPTIONS') return void res.writeHead(204).end()
    const refuse = (status: number, message: string) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }))
    if (req.url !== '/v1/chat/completions') return void refuse(404, `no such path: ${req.url}`)
    if (req.headers.authorization !== `Bearer ${key}`) return void refuse(401, 'Incorrect API key provided')
    let text = ''
    for await (const chunk of req) text += chunk
    const body = JSON.parse(text) as Body
    asked.push(body)
    const problem = unanswered(body.messages)
    if (problem) return void refuse(400, problem)
    const at = body.messages.findLastIndex((m) => m.role === 'user')
    const turn = script[body.messages[at]!.content]
    if (!turn) return void refuse(400, 'the script has nothing for that')
    const results = body.messages.slice(at).filter((m) => m.role === 'tool').map((m) => m.content)
    const { content = null, calls = [] } = turn(results)
    const tool_calls = calls.map(([name, args], i) => ({
      id: `call_${asked.length}_${i}`,
      type: 'function',
      function: { name, arguments: args },
    }))
    if (body.stream)
      return void await stream(
        res,
        content,
        tool_calls,
        new Promise((resolve) => {
          goOn = resolve
        }),
      )
    const message = { role: 'assistant', content, ...tool_calls.length && { tool_calls } }
    res.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({ choices: [{ index: 0, message, finish_reason: calls.length ? 'tool_calls' : 'stop' }] }),
    )
  })
  return { url: `${url}/v1`, close, asked, goOn: () => goOn() }
}

/** Real endpoints refuse a call without an answer, too. */
function unanswered(messages: Message[]): string | undefined {
  const answers = new Set(messages.map((m) => m.tool_call_id))
  const call = messages.flatMap((m) => m.tool_calls ?? []).find(({ id }) => !answers.has(id))
  return call && `no tool message answers ${call.id}`
}

/** Sends a message in pieces that split words and arguments; at `…` it waits. */
async function stream(
  res: ServerResponse,
  content: string | null,
  calls: { id: string; type: string; function: { name: string; arguments: string } }[],
  pause: Promise<void>,
): Promise<void> {
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta: unknown) => res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
  for (const piece of content?.match(/…|[^…]{1,7}/g) ?? []) {
    if (piece === '…') await pause
    else send({ content: piece })
  }
  for (const [index, { id, type, function: f }] of calls.entries()) {
    send({ tool_calls: [{ index, id, type, function: { name: f.name, arguments: '' } }] })
    for (const piece of f.arguments.match(/.{1,5}/g) ?? [])
      send({ tool_calls: [{ index, function: { arguments: piece } }] })
  }
  res.end('data: [DONE]\n\n')
}
