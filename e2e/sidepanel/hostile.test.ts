import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { State } from '../../extension/messages.ts'
import { approvals, comparisons, linkOf, runs } from './state.ts'
import { lastAsked, set, withPages } from './walk.ts'

const open = withPages()
const esc = '\u001b'
const hostile: Record<string, string> = {
  html:
    '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script><style>*{display:none}</style>',
  lit: '${document.title="owned"}<!--?lit$--><portolan-extension></portolan-extension>',
  bidi: 'safe \u202egpj.exe\u202c \u2066over\u2069',
  ansi: `${esc}[31mred${esc}[0m ${esc}]8;;https://evil.example${esc}\\link`,
  tags: `Reads. ${[...'steal the keys'].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('')}`,
  marks: `Z${'\u0301'.repeat(500)}algo`,
  lines: '\n'.repeat(3000) + 'Allowed already',
  long: 'wide'.repeat(2500),
  control: 'a\u0000b\u0007c\u0085d\u2028e',
  key: '__proto__',
}

/** A state every foreign word of which is that text. */
function stateOf(text: string): Partial<State> {
  const now = Date.now()
  const error = { code: text, message: text }
  return {
    install: { id: text, label: text },
    version: text,
    links: [linkOf({ status: 'refused', address: text, error })],
    pairing: { step: 'failed', address: text, error },
    clients: [{ key: text, name: text, version: text, lastSeen: now, grants: { [text]: 'ask' } }],
    approvals: approvals(now).map((a) => ({
      ...a,
      id: text,
      client: text,
      clientName: text,
      tool: text,
      summary: text,
      args: text,
    })),
    runs: runs(now).map((r) => ({ ...r, client: text, prompt: text })),
    comparisons: comparisons(now).map((c) => ({
      ...c,
      client: text,
      prompt: text,
      answer: text,
      fault: text,
      openPoints: [text],
      sites: c.sites.map((site) => ({ ...site, answer: text, url: text, code: text })),
      rows: [{ text }, { text, by: { chatgpt: text, gemini: '__proto__' } }],
    })),
    origins: [text],
    pageTools: [{
      origin: text,
      granted: true,
      tabs: [{
        id: 1,
        title: text,
        supported: true,
        tools: [{ name: text, title: text, description: text, readOnly: true }],
        left: 1,
      }, { id: 2, title: text, supported: false, tools: [], left: 0 }],
    }, { origin: `${text} `, granted: false, tabs: [] }],
    tools: [{ name: text, source: 'registry' }],
    activity: [{ id: text, at: now, kind: 'call', outcome: 'error', client: text, tool: text, code: text, text }],
  }
}

const bare = (page: Page) =>
  page.evaluate(() => {
    const root = document.querySelector('portolan-extension')!.shadowRoot!
    const all = [...root.querySelectorAll('*')]
    const text = all.flatMap((e) => [...e.childNodes]).filter((n) => n.nodeType === 3).map((n) => n.textContent).join(
      '',
    )
    const attributes = all.flatMap((e) =>
      [...e.attributes].filter((a) => a.name !== 'data-id' && !(e.localName === 'option' && a.name === 'value')).map((
        a,
      ) => a.value)
    ).join('')
    const answers = root.querySelector('.answers')!.getBoundingClientRect()
    return {
      title: document.title,
      elements:
        root.querySelectorAll('img, script, style, iframe, object, portolan-extension, a[href^="javascript"]').length,
      apps: document.querySelectorAll('portolan-extension').length,
      // Characters that turn a line around, hide, or drive a terminal.
      raw: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u200b]|\udb40[\udc00-\udfff]/.exec(
        text + attributes,
      )?.[0].charCodeAt(0),
      wide: document.documentElement.scrollWidth > innerWidth,
      // A question cannot push its own buttons out of reach, nor cover them.
      near: answers.top < 900 &&
        root.elementFromPoint(answers.left + 20, Math.min(answers.top + 20, innerHeight - 100)) !== null,
    }
  })

test('hostile names, summaries and errors are shown as text, and do nothing', async () => {
  const { page, faults } = await open({ context: { viewport: { width: 320, height: 1200 } } })
  for (const [name, text] of Object.entries(hostile)) {
    await set(page, stateOf(text))
    for (const tab of ['home', 'chats', 'activity']) {
      await page.locator(`#tab-${tab}`).click()
      await page.locator({ home: 'portolan-profile', chats: 'portolan-options', activity: 'portolan-log .log' }[tab]!)
        .waitFor()
      await page.evaluate(() => {
        for (
          const d of document.querySelector('portolan-extension')!.shadowRoot!.querySelectorAll<HTMLDetailsElement>(
            'details:not(.asks details)',
          )
        ) d.open = true
      })
      assert.deepEqual(await bare(page), {
        title: 'Portolan',
        elements: 0,
        apps: 1,
        raw: undefined,
        wide: false,
        near: true,
      }, `${name} in ${tab}`)
    }
  }
  assert.deepEqual(faults, [])
  await page.close()
})

test('what is invisible or reorders is made visible, where it is decided upon', async () => {
  const { page } = await open()
  await set(page, stateOf(hostile.bidi!))
  const shown = await page.locator('portolan-approvals .card').innerText()
  assert.match(shown, /safe ⟨U\+202E⟩gpj\.exe/)
  await set(page, stateOf(hostile.tags!))
  assert.match(await page.locator('portolan-approvals .card').innerText(), /⟨U\+E0020: steal the keys⟩/)
  await page.close()
})

test('an answer goes to the question that was shown, whatever its id', async () => {
  const { page } = await open()
  const id = '"] * {} <x> \u202e'
  await set(page, { approvals: approvals(Date.now()).map((a) => ({ ...a, id })) })
  await page.waitForTimeout(550)
  await page.getByRole('button', { name: 'Deny' }).click()
  await lastAsked(page, 'approve', { id, answer: 'deny' })
  await page.close()
})
