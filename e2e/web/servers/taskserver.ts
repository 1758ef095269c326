import { randomUUID } from 'node:crypto'
import { listen, type Listening } from '../../rig/harness.ts'

/** A server of 2025-11-25 without sessions, whose tasks are done after three looks at them. */
export async function taskServer(ttl = 60_000): Promise<Listening & { methods: string[] }> {
  const tasks = new Map<string, { topic: string; looks: number; status: string }>()
  const methods: string[] = []
  const listening = await listen(async (req, res) => {
    res.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*')
    if (req.method === 'OPTIONS') return void res.writeHead(204).end()
    const chunks: Buffer[] = []
    for await (const c of req) chunks.push(c as Buffer)
    const { id, method = '', params } = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    methods.push(method)
    const say = (body: object) =>
      void res.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
    const reply = (result: object) => say({ result })
    const stateOf = (taskId: string) => ({ taskId, status: tasks.get(taskId)!.status, ttl, pollInterval: 500 })
    if (method === 'initialize') {
      return reply({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, tasks: { cancel: {}, list: {}, requests: { tools: { call: {} } } } },
        serverInfo: { name: 'harbour', version: '1' },
      })
    }
    if (method === 'tools/list') {
      return reply({
        tools: ['optional', 'forbidden'].map((taskSupport) => (
          { name: `research_${taskSupport}`, inputSchema: { type: 'object' }, execution: { taskSupport } }
        )),
      })
    }
    if (method === 'tools/call') {
      const topic = params.arguments.topic as string
      if (!params.task) return reply({ content: [{ type: 'text', text: `at once: ${topic}` }] })
      const taskId = randomUUID()
      tasks.set(taskId, { topic, looks: 0, status: 'working' })
      return reply({ task: stateOf(taskId) })
    }
    if (method.startsWith('tasks/')) {
      const task = tasks.get(params.taskId)
      if (!task) return say({ error: { code: -32602, message: 'no such task' } })
      if (method === 'tasks/cancel') task.status = 'cancelled'
      else if (method === 'tasks/result') return reply({ content: [{ type: 'text', text: `about ${task.topic}` }] })
      else if (++task.looks === 3 && task.status === 'working') task.status = 'completed'
      return reply(stateOf(params.taskId))
    }
    res.writeHead(method.startsWith('notifications/') ? 202 : 404).end()
  })
  return { ...listening, url: `${listening.url}/mcp`, methods }
}
