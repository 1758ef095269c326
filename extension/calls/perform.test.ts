import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aliasesOf } from '../chats/aliases.ts'
import type { Tool } from '../tools/tool.ts'
import { ActivityLog } from './activity.ts'
import { Approvals } from './approvals.ts'
import { Clients } from './clients.ts'
import { Performer } from './perform.ts'
import { LargeResults } from './results.ts'

const area = { set: async () => {} }
Object.assign(globalThis, { chrome: { storage: { local: area, session: area } } })

test("a client's setting of a tool holds under the tool's other names, unless those have their own", async () => {
  const tool: Tool = {
    name: 'page_dom',
    description: '',
    inputSchema: { properties: {}, required: [] },
    run: async () => ({ content: [{ type: 'text', text: 'done' }] }),
  }
  const tools = [tool, ...aliasesOf([tool], [])]
  const clients = new Clients(() => {})
  const performer = new Performer({
    clients,
    approvals: new Approvals(() => {}),
    activity: new ActivityLog(() => {}),
    results: new LargeResults(),
    stopped: () => false,
    tool: (name) => tools.find((t) => t.name === name),
  })
  const client = clients.seen({ name: 'Editor' }, 'bridge')
  const { signal } = new AbortController()
  const caller = { progress() {}, elicit: async () => {}, sample: async () => {} }
  const said = async (name: string) => (await performer.perform(name, {}, client, signal, caller)).content[0]!.text
  assert.equal(await said('get_page_dom'), 'done')
  await clients.setGrant(client.key, 'page_dom', 'deny')
  assert.match(String(await said('page_dom')), /\(DENIED\)$/)
  assert.match(String(await said('get_page_dom')), /\(DENIED\)$/)
  await clients.setGrant(client.key, 'get_page_dom', 'allow')
  assert.equal(await said('get_page_dom'), 'done')
})

test('a cancelled call whose tool answers with its faults, as one of several chats does, is in the activity as cancelled', async () => {
  const control = new AbortController()
  const tool: Tool = {
    name: 'chat_all',
    description: '',
    inputSchema: {},
    async run() {
      control.abort()
      return { content: [{ type: 'text', text: 'no answer (CANCELLED)' }], isError: true }
    },
  }
  const clients = new Clients(() => {})
  const activity = new ActivityLog(() => {})
  const performer = new Performer({
    clients,
    approvals: new Approvals(() => {}),
    activity,
    results: new LargeResults(),
    stopped: () => false,
    tool: () => tool,
  })
  const client = clients.seen({ name: 'Editor' }, 'bridge')
  const caller = { progress() {}, elicit: async () => {}, sample: async () => {} }
  await performer.perform('chat_all', {}, client, control.signal, caller)
  assert.deepEqual(activity.value.map((a) => a.outcome), ['cancelled'])
})
