import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connectRegistry, createRegistry, portChannel, serveRegistry } from '../../dist/npm/index.js'
import type { PortLike, Registry } from '../../wasm/js/shared/types.ts'
import { sdkServer } from './servers/sdkserver.ts'

let server: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  server = await sdkServer([{
    name: 'strict',
    inputSchema: {
      type: 'object',
      properties: { steps: { type: 'integer' } },
      required: ['steps'],
      additionalProperties: false,
    },
  }])
})
after(() => server.close())

async function open(validate?: boolean): Promise<Registry> {
  const r = await createRegistry({ storage: 'memory', validate, servers: { s: { url: server.url } } })
  await r.discover()
  server.calls.length = 0
  return r
}

test('arguments that do not fit the schema are refused before they are sent', async () => {
  const r = await open(true)
  await assert.rejects(
    r.call('s__strict', '{"city":"Bonn"}'),
    (e: Error & { code: string; server: string; hint: string }) => {
      assert.equal(e.message, 'invalid arguments: /steps: is required; /city: there is no such property')
      assert.equal(e.code, 'invalid_arguments')
      assert.equal(e.server, 's')
      assert.match(e.hint, /inputSchema/)
      return true
    },
  )
  assert.deepEqual(server.calls, [])
  assert.equal(r.getHealth().s!.consecutiveFailures, 0)
  assert.equal(await r.dispatch('s__strict', { steps: 0 }), 'done')
  await assert.rejects(r.call('s__nope', {}), { code: 'unknown_tool' })
  await r.close()
})

test('without the option the server has the only word', async () => {
  const r = await open()
  assert.equal(await r.dispatch('s__strict', { steps: 0, city: 'Bonn' }), 'done')
  assert.deepEqual(server.calls, ['strict'])
  await r.close()
})

test('a registry across a port refuses by the rules of its owner', async () => {
  const r = await open(true)
  const { port1, port2 } = new MessageChannel()
  const stop = serveRegistry(r, portChannel(port1 as unknown as PortLike))
  const remote = await connectRegistry(portChannel(port2 as unknown as PortLike))
  await assert.rejects(remote.call('s__strict', {}), { code: 'invalid_arguments', server: 's' })
  await remote.close()
  stop()
  port1.close()
  await r.close()
})
