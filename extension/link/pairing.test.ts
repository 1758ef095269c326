import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Pairer } from './pairing.ts'

/** The browser's socket, as far as a connection uses it. */
class Socket extends EventTarget {
  readonly sent: string[] = []
  closed = false
  send(text: string): void {
    this.sent.push(text)
  }
  close(code = 1000, reason = ''): void {
    this.closed = true
    queueMicrotask(() => this.dispatchEvent(Object.assign(new Event('close'), { code, reason })))
  }
}

test('a pairing that is cancelled while it connects asks the bridge for nothing', async () => {
  const socket = new Socket()
  const pairer = new Pairer({
    dial: () => socket as never,
    profile: async () => ({ installId: 'id', label: 'Work' }),
    origin: 'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    changed() {},
    links: {
      problem: () => undefined,
      paired: () => Promise.reject(new Error('paired')),
      unpair: async () => {},
    },
    awakeDuring: (work) => work(),
  })
  const done = pairer.pair('127.0.0.1:55156')
  assert.equal(pairer.state?.step, 'connecting')
  pairer.cancel()
  socket.dispatchEvent(new Event('open'))
  await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 500))])
  assert.deepEqual(socket.sent, []) // a bridge takes one attempt at a time
  assert.equal(socket.closed, true)
  assert.equal(pairer.state, null)
})
