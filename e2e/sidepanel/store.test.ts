import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'
import type { Port } from '../../extension/browser.ts'
import type { FromBackground, Link, ToBackground } from '../../extension/messages.ts'
import { fresh } from './state.ts'
import { Store } from '../../extension/panel/store.ts'

/** The background's end of one connection. */
class Line implements Port {
  readonly got: ToBackground[] = []
  closed = false
  onmessage: ((m: unknown) => void) | null = null
  onclose: (() => void) | null = null
  post(m: unknown): void {
    this.got.push(m as ToBackground)
  }
  close(): void {
    this.closed = true
  }
  say(m: FromBackground): void {
    this.onmessage?.(m)
  }
  drop(): void {
    this.onclose?.()
  }
}

let lines: Line[]
let store: Store
const open = () => lines[lines.push(new Line()) - 1]!
const state = () => ({ state: fresh() })

beforeEach(() => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout'] })
  lines = []
  store = new Store(open)
  store.start()
})

test('a request is answered by its id, whatever the order', async () => {
  const first = store.request('exportHistory', {}), second = store.request('debugBundle', {})
  const [a, b] = lines[0]!.got
  lines[0]!.say({ id: b!.id, result: 'bundle' })
  lines[0]!.say({ id: a!.id, result: 'history' })
  assert.deepEqual([await first, await second], ['history', 'bundle'])
})

test('a refusal has its code and message', async () => {
  const asked = store.request('pair', { address: 'x' })
  lines[0]!.say({ id: lines[0]!.got[0]!.id, error: { code: 'BAD_ADDRESS', message: 'no port' } })
  await assert.rejects(asked, { name: 'RequestError', code: 'BAD_ADDRESS', message: 'no port' })
})

test('when the background dies, requests under way fail and can be made again', async () => {
  lines[0]!.say(state())
  const asked = store.request('stop', {})
  lines[0]!.drop()
  await assert.rejects(asked, { code: 'background_gone' })
  const again = store.request('stop', {}) // does not wait for the next try
  assert.equal(lines.length, 2)
  lines[1]!.say({ id: lines[1]!.got[0]!.id, result: null })
  await again
})

test('the state stays, and only a silence of a second is shown', () => {
  lines[0]!.say(state())
  const kept = store.state
  lines[0]!.drop()
  mock.timers.tick(50)
  assert.equal(lines.length, 2, 'it connects again')
  mock.timers.tick(900)
  assert.deepEqual([store.state, store.away], [kept, false])
  mock.timers.tick(100)
  assert.deepEqual([store.state, store.away], [kept, true])
  lines[1]!.say(state())
  assert.equal(store.away, false)
  mock.timers.tick(5000)
  assert.equal(store.away, false)
})

test('a pairing that ends with its background fails, and stays until the person goes on', async () => {
  const pairing = (step: 'digits' | 'failed', error: { code: string; message: string } | null = null) => ({
    state: { ...fresh(), pairing: { step, address: 'x', error } },
  })
  const next = () => {
    lines.at(-1)!.drop()
    mock.timers.tick(50)
    lines.at(-1)!.say(state())
  }
  const shown = () => [store.state?.pairing?.step, store.state?.pairing?.error?.code]
  lines[0]!.say(pairing('digits'))
  next()
  assert.deepEqual(shown(), ['failed', 'background_gone'])
  lines.at(-1)!.say(state())
  assert.ok(store.state?.pairing, 'another change')
  const left = store.request('cancelPairing', {})
  assert.equal(store.state.pairing, null)
  lines.at(-1)!.say({ id: lines.at(-1)!.got.at(-1)!.id, result: null })
  await left
  lines.at(-1)!.say(pairing('failed', { code: 'DECLINED', message: 'no' }))
  next()
  assert.deepEqual(shown(), ['failed', 'DECLINED'])
  lines.at(-1)!.say(pairing('digits'))
  lines.at(-1)!.say(state())
  assert.equal(store.state?.pairing, null, 'it was given up')
})

test('a pairing whose background ends after it has made a link has succeeded', () => {
  lines[0]!.say({ state: { ...fresh(), links: [], pairing: { step: 'terminal', address: 'x', error: null } } })
  lines[0]!.drop()
  mock.timers.tick(50)
  const link = {
    pairing: 'p',
    address: 'x',
    ephemeral: false,
    status: 'connected',
    since: 1,
    retryAt: null,
    error: null,
  }
  lines[1]!.say({ state: { ...fresh(), links: [link as Link] } })
  assert.equal(store.state?.pairing, null)
})

test('it tries less and less often, until the background speaks', () => {
  lines[0]!.say(state())
  for (const wait of [50, 100, 200, 400, 800, 1600, 2000, 2000]) {
    const before = lines.length
    lines.at(-1)!.drop()
    mock.timers.tick(wait - 1)
    assert.equal(lines.length, before, `not before ${wait} ms`)
    mock.timers.tick(1)
    assert.equal(lines.length, before + 1, `after ${wait} ms`)
  }
  lines.at(-1)!.say(state())
  lines.at(-1)!.drop()
  mock.timers.tick(50)
  assert.equal(lines.length, 10)
})

test('what a closed port still says is not heard', () => {
  lines[0]!.say(state())
  lines[0]!.drop()
  const late = { ...fresh(), version: 'late' }
  lines[0]!.say({ state: late })
  assert.notEqual(store.state?.version, 'late')
})

test('an extension that is gone is named, and asked for nothing', async () => {
  const lost = new Store(() => {
    throw new Error('Extension context invalidated.')
  })
  lost.start()
  await assert.rejects(lost.request('go', {}), { code: 'background_gone' })
  mock.timers.tick(1000)
  assert.equal(lost.away, true)
  lost.stop()
})

test('stopping closes the port, ends requests and connects no more', async () => {
  const asked = store.request('go', {})
  store.stop()
  await assert.rejects(asked, { code: 'background_gone' })
  mock.timers.tick(10_000)
  assert.deepEqual([lines.length, lines[0]!.closed], [1, true])
})
