import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContentBlock } from '../../shared/types.ts'
import { Offers } from './offers.ts'
import { Results } from '../models/results.ts'

/** The offers of a registry whose server answers every prompt with these blocks. */
function offering(...blocks: ContentBlock[]): { offers: Offers; results: Results } {
  const results = new Results()
  const value = { messages: blocks.map((content) => ({ role: 'user', content })) }
  const source = {
    requests: { ask: async () => ({ server: 's', tool: 'p', isError: false, durationMs: 1, value }) },
    remote: false,
    results: async () => results,
    resultBytes: () => 2000,
    snapshot: () => ({ servers: {} }),
  }
  return { offers: new Offers(source as never), results }
}

test('the text of a resource in a prompt counts to its bound as other texts do', async () => {
  const long = 'x'.repeat(1500)
  const resource = (text: unknown) =>
    ({ type: 'resource', resource: { uri: 'a://b', mimeType: 'text/plain', text } }) as ContentBlock
  const { offers, results } = offering({ type: 'text', text: long }, resource(long), resource(long), resource(7))
  const { messages, truncated, handle } = await offers.prompt('s__p')
  const texts = messages.map(({ content }) => content as ContentBlock & { resource?: { text: unknown } })
    .map((content) => content.resource ? content.resource.text : content['text'])
  assert.equal(texts[0], long)
  for (const text of texts.slice(1, 3)) assert.ok(String(text).length <= 1000 && /cut: \d+ characters/.test(`${text}`))
  assert.equal(texts[3], '7')
  assert.equal(truncated, true)
  assert.equal(results.read(handle!).text, long)
  assert.deepEqual(messages[1]!.content, {
    type: 'resource',
    resource: { uri: 'a://b', mimeType: 'text/plain', text: texts[1] },
  })
})

test('a watched resource counts as changed once the module runs again, because an update may be lost', async () => {
  let crash = (_: unknown) => {}
  const ask = (_: unknown, { onProgress }: { onProgress(): void }) => {
    onProgress() // the server agrees
    return new Promise((_, reject) => crash = reject)
  }
  const offers = new Offers({ requests: { ask } } as never)
  let changes = 0, changed = () => {}
  const heard = new Promise<void>((resolve) => changed = resolve)
  const end = await offers.subscribe('s', 'a://b', () => {
    changes++
    changed()
  })
  assert.equal(changes, 0)
  crash(Object.assign(new Error('crashed'), { code: 'runtime_crashed', retryable: true }))
  await heard
  assert.equal(changes, 1)
  end()
})

test('a subscription outlives that its server is away when the module runs again', async () => {
  const away = ['network', 'suspended']
  let crash = (_: unknown) => {}, asked = 0
  const error = (code: string) => Object.assign(new Error(code), { code, retryable: true })
  const ask = (_: unknown, { onProgress }: { onProgress(): void }) => {
    const code = asked++ ? away.shift() : undefined
    if (code) return Promise.reject(error(code))
    onProgress()
    return new Promise((_, reject) => crash = reject)
  }
  const offers = new Offers({ requests: { ask } } as never)
  let changed = () => {}
  const heard = new Promise<void>((resolve) => changed = resolve)
  const end = await offers.subscribe('s', 'a://b', () => changed())
  crash(error('runtime_crashed'))
  await heard
  assert.equal(asked, 4)
  end()
})

test('a subscription outlives that its server is switched off or signed out when the module runs again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answers = ['disabled', 'sign_in_needed', undefined, 'unsupported']
  let crash = (_: unknown) => {}, asked = 0
  const error = (code: string, retryable = false) => Object.assign(new Error(code), { code, retryable })
  const ask = (_: unknown, { onProgress }: { onProgress(): void }) => {
    const code = asked++ ? answers.shift() : undefined
    if (code) return Promise.reject(error(code))
    onProgress()
    return new Promise((_, reject) => crash = reject)
  }
  let changes = 0
  await new Offers({ requests: { ask } } as never).subscribe('s', 'a://b', () => changes++)
  const settle = () => new Promise(setImmediate)
  const wait = async () => {
    await settle()
    t.mock.timers.tick(15_000)
    await settle()
  }
  crash(error('runtime_crashed', true))
  for (let i = 0; i < 3; i++) await wait()
  assert.deepEqual([asked, changes], [4, 1])
  crash(error('runtime_crashed', true))
  for (let i = 0; i < 3; i++) await wait()
  assert.equal(asked, 5) // another error ends it
})

test('a subscription that its server refuses at first rejects', async () => {
  const ask = () => Promise.reject(Object.assign(new Error(), { code: 'network', retryable: true }))
  await assert.rejects(new Offers({ requests: { ask } } as never).subscribe('s', 'a://b', () => {}), {
    code: 'network',
  })
})
