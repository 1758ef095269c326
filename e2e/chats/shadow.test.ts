import assert from 'node:assert/strict'
import { test } from 'node:test'
import type * as shadowModule from '../../extension/chats/driver/shadow.ts'
import type * as matcherModule from '../../extension/chats/driver/matcher.ts'
import type * as waiterModule from '../../extension/chats/driver/waiter.ts'
import { inPage } from './inpage.ts'

declare global {
  var shadowIn: typeof shadowModule
  var matcherIn: typeof matcherModule
  var waiterIn: typeof waiterModule
}

const inside = inPage({ shadowIn: 'shadow.ts', matcherIn: 'matcher.ts', waiterIn: 'waiter.ts' })

const ids = (html: string, selector: string, scope?: string) =>
  inside.page.evaluate(([html, selector, scope]) => {
    document.body.setHTMLUnsafe(html!)
    const dom = new shadowIn.ShadowDom(document)
    dom.learn(document)
    return dom.all(selector!, scope ? dom.all(scope)[0] : undefined).map(({ id }) => id).join(' ')
  }, [html, selector, scope] as const)

const nested =
  `<p id=a></p><x-a id=h><template shadowrootmode=open><p id=b></p><x-b id=i><template shadowrootmode=open><p id=c></p></template><p id=d></p></x-b><p id=e></p></template><p id=f></p></x-a><p id=g></p>`

test("finds through shadow roots, in the page's order, each once", async () => {
  assert.equal(await ids(nested, 'p'), 'a b c d e f g')
  assert.equal(await ids(nested, 'p, p#b'), 'a b c d e f g')
  assert.equal(await ids(nested, 'p', 'x-b'), 'c d')
  assert.equal(await ids(nested, 'x-a >>> x-b >>> p'), 'c d')
  assert.equal(await ids('<p id=a></p>', 'p', 'p'), '')
})

test('closed roots, and hosts that are gone, have nothing', async () => {
  assert.equal(await ids('<x-a><template shadowrootmode=closed><p id=b></p></template></x-a>', 'p'), '')
  assert.equal(
    await inside.page.evaluate(() => {
      document.body.setHTMLUnsafe('<x-a><template shadowrootmode=open><p id=b></p></template></x-a>')
      const dom = new shadowIn.ShadowDom(document)
      dom.learn(document)
      const before = dom.all('p').length
      document.querySelector('x-a')!.remove()
      return `${before} ${dom.all('p').length}`
    }),
    '1 0',
  )
})

test('later roots are learnt and watched', async () => {
  const seen = await inside.page.evaluate(async () => {
    document.body.innerHTML = '<div id=late></div>'
    const dom = new shadowIn.ShadowDom(document)
    const waiter = new waiterIn.Waiter(dom)
    const { signal } = new AbortController()
    const out: string[] = []
    const host = document.createElement('x-c')
    host.attachShadow({ mode: 'open' }).innerHTML = '<p>1</p>'
    document.body.append(host)
    out.push(String(await waiter.until(() => dom.all('p').length === 1, 1000, signal)))
    host.shadowRoot!.append(document.createElement('p'))
    out.push(String(await waiter.until(() => dom.all('p').length === 2, 1000, signal)))
    // An element that gets its root late is found by the next rescan.
    document.querySelector('#late')!.attachShadow({ mode: 'open' }).innerHTML = '<p>3</p>'
    await new Promise((resolve) => setTimeout(resolve, 1050))
    const found = waiter.until(() => dom.all('p').length === 3, 1000, signal)
    waiter.tick()
    out.push(String(await found))
    waiter.close()
    return out
  })
  assert.deepEqual(seen, ['true', 'true', 'true'])
})

test('waits end by their time without any tick, and by their signal', async () => {
  const ended = await inside.page.evaluate(async () => {
    const waiter = new waiterIn.Waiter(new shadowIn.ShadowDom(document))
    const control = new AbortController()
    const slow = waiter.until(() => false, 60_000, control.signal).catch((e: Error) => e.message)
    const none = await waiter.until(() => false, 150, control.signal)
    const failed = await waiter.until(
      () => {
        throw new Error('probe')
      },
      1000,
      control.signal,
    ).catch((e: Error) => e.message)
    control.abort(new Error('over'))
    const after = await waiter.until(() => true, 1000, control.signal).catch((e: Error) => e.message)
    return [none === undefined, failed, await slow, after]
  })
  assert.deepEqual(ended, [true, 'probe', 'over', 'over'])
})

test('visible, enabled, and by name', async () => {
  const found = await inside.page.evaluate(() => {
    document.body.innerHTML =
      `<form id=f><div id=field></div><button id=a aria-label="Stop  streaming…">x</button><button id=b style="display:none" aria-label="Stop streaming">x</button>
      <button id=c style="visibility:hidden">Stop streaming</button><button id=d disabled>Send</button><button id=e aria-disabled=true>Send</button><fieldset disabled><button id=g>Send</button></fieldset>
      <div inert><button id=h>Send</button></div><button id=i><span id=icon></span>Send</button></form><nav><button id=n>Stop streaming</button></nav>`
    const dom = new shadowIn.ShadowDom(document)
    const near = matcherIn.composer(document.querySelector('#field')!, dom)
    const names = (els: Element[]) => els.map(({ id }) => id).join(' ')
    return [
      near.id,
      names(matcherIn.matched(dom, { selector: ['#none'], words: ['stop streaming'] }, near)),
      names(matcherIn.matched(dom, { selector: ['#icon'], words: ['stop streaming'] }, near)),
      names(matcherIn.matched(dom, { selector: [], words: ['send'] }, near).filter(matcherIn.enabled)),
      matcherIn.pressable(document.querySelector('#icon')!).id,
    ]
  })
  assert.deepEqual(found, ['f', 'a', 'icon', 'i', 'i'])
})

test('5,000 elements and 50 shadow roots are searched in little time', async () => {
  const ms = await inside.page.evaluate(() => {
    document.body.innerHTML = Array.from(
      { length: 1000 },
      (_, n) => `<div class=t><p>${n}</p><span></span><i></i><b></b></div>`,
    ).join('')
    for (let n = 0; n < 50; n++) document.body.append(Object.assign(document.createElement('x-d')))
    for (const host of document.querySelectorAll('x-d'))
      host.attachShadow({ mode: 'open' }).innerHTML = '<p class=s></p>'.repeat(20)
    const dom = new shadowIn.ShadowDom(document)
    dom.learn(document)
    const begun = performance.now()
    for (let n = 0; n < 100; n++) {
      dom.all('button[data-testid="stop-button"]')
      dom.all('.s')
    }
    return (performance.now() - begun) / 200
  })
  console.log(`# a search takes ${ms.toFixed(2)} ms`)
  assert.ok(ms < 100, 'a walk through the whole page for each search takes longer')
})
