import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Layout } from '../../extension/chats/sites/site.ts'
import { siteSpecs } from '../../extension/chats/sites/index.ts'
import type * as shadowModule from '../../extension/chats/driver/shadow.ts'
import type * as turnsModule from '../../extension/chats/driver/turns.ts'
import { inPage } from './inpage.ts'

declare global {
  var shadowIn: typeof shadowModule
  var turnsIn: typeof turnsModule
}

const inside = inPage({ shadowIn: 'shadow.ts', turnsIn: 'turns.ts' })

const article = siteSpecs.chatgpt.layouts.find(({ name }) => name === 'article')!
const turnKey = siteSpecs.chatgpt.layouts.find(({ name }) => name === 'turn-key')!

const user = (text: string, id = '') =>
  `<article id="${id}" data-turn="user"><div data-message-author-role="user"><div class="whitespace-pre-wrap">${text}</div></div></article>`
const answer = (id: string) =>
  `<article id="${id}" data-turn="assistant"><p role="alert" id="${id}-alert">x</p></article>`
const keyed = (key: string, text: string) =>
  `<div data-turn-key="${key}"><div data-user-message-bubble><div class="whitespace-pre-wrap">${text}</div></div><div id="${key}" data-markdown-text-style="assistant-message">a</div></div>`

/**
 * The ids of our turn's answers for each state of the page; the first is what was there before sending. `keep` leaves
 * its elements as they are.
 */
const found = (layout: Layout, states: string[], o: { keep?: boolean; edited?: boolean } = {}) =>
  inside.page.evaluate(([layout, states, keep, edited]) => {
    const out: string[] = []
    const turns = new turnsIn.Turns(new shadowIn.ShadowDom(document), layout, 'ask this', edited)
    for (const [n, state] of states.entries()) {
      if (n && keep) document.body.insertAdjacentHTML('beforeend', state)
      else document.body.innerHTML = state
      if (!n) turns.record()
      else out.push(turns.ours()?.answers.map(({ id }) => id).join('+') ?? 'none')
    }
    return out
  }, [layout, states, o.keep ?? false, o.edited ?? false] as const)

test('a turn with our words that was there before is not ours', async () => {
  assert.deepEqual(
    await found(article, [user('ask this') + answer('old'), '', user('other'), user('ask this') + answer('new')], {
      keep: true,
    }),
    ['none', 'none', 'new'],
  )
  assert.deepEqual(
    await found(turnKey, [keyed('k1', 'ask this'), '', keyed('k2', 'other'), keyed('k3', 'ask this')], { keep: true }),
    ['none', 'none', 'k3'],
  )
})

test('replaced elements do not make an old turn ours', async () => {
  const old = user('ask this') + answer('old')
  assert.deepEqual(
    await found(article, [old, old, old + user('ask this') + answer('new'), old + user('ask this') + answer('new')]),
    ['none', 'new', 'new'],
  )
  assert.deepEqual(await found(turnKey, [keyed('k1', 'ask this'), keyed('k1', 'ask this'), keyed('k2', 'ask this')]), [
    'none',
    'k2',
  ])
})

test('of new turns the lowest on the screen: an old conversation may come late, or in reverse', async () => {
  assert.deepEqual(await found(article, ['', user('ask this') + answer('late') + user('ask this') + answer('ours')]), [
    'ours',
  ])
  assert.deepEqual(
    await found(turnKey, [
      '',
      `<div style="display:flex;flex-direction:column-reverse">${keyed('ours', 'ask this')}${
        keyed('late', 'ask this')
      }</div>`,
    ]),
    ['ours'],
  )
})

test('answers end where the next turn begins', async () => {
  assert.deepEqual(
    await found(article, ['', user('ask this') + answer('a') + answer('b') + user('later') + answer('c')]),
    ['a+b'],
  )
  assert.deepEqual(await found(article, [answer('before'), answer('before') + user('ask this')]), [''])
})

test('an edited prompt is ours only in assist mode', async () => {
  assert.deepEqual(await found(article, ['', user('ask that') + answer('a')]), ['none'])
  assert.deepEqual(await found(article, ['', user('ask that') + answer('a')], { edited: true }), ['a'])
  assert.deepEqual(
    await found(article, ['', user('ask this') + answer('a') + user('ask that') + answer('b')], { edited: true }),
    ['a'],
  )
})

test('notices in other turns do not count', async () => {
  assert.deepEqual(
    await inside.page.evaluate(
      ([layout, html]) => {
        document.body.innerHTML = html
        const turns = new turnsIn.Turns(new shadowIn.ShadowDom(document), layout, 'ask this')
        const ours = turns.ours()
        return ['old-alert', 'new-alert', 'toast'].map((
          id,
        ) => [
          turns.foreign(document.getElementById(id)!, ours),
          turns.foreign(document.getElementById(id)!, undefined),
        ])
      },
      [
        article,
        user('other') + answer('old') + user('ask this') + answer('new') + '<p role="alert" id="toast">x</p>',
      ] as const,
    ),
    [[true, true], [false, true], [false, false]],
  )
})
