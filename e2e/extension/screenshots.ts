import { createServer } from 'node:net'
import { writeFile } from 'node:fs/promises'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { sites, type Site } from '../../extension/chats/sites/site.ts'
import { startPages } from '../sites/serve.ts'
import type { CdpPage } from '../rig/cdp.ts'
import { root } from '../rig/harness.ts'
import { TestBridge } from './bridge.ts'
import { Chromium } from './chromium.ts'
import { call, hasTool, Rig } from './rig.ts'

// Pictures of the side panel for docs/screenshots: the real extension, real bridges, and stand-ins of the sites.
//
//   ./build.sh screenshots

const dir = `${root}docs/screenshots`
const width = 380
/** Longer pages are cut. */
const tallest = 900

/** Returns free ports, of those where the extension looks for bridges. 55157 is left to the gateway. */
async function freePorts(n: number): Promise<number[]> {
  const free: number[] = []
  for (let port = 55156; port <= 55165 && free.length < n; port++) {
    if (port === 55157) continue
    const server = createServer()
    const listens = await new Promise((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!listens) continue
    await new Promise((resolve) => server.close(resolve))
    free.push(port)
  }
  if (free.length < n) throw new Error('other programs use the ports of bridges')
  return free
}

/** Returns an expression for the first visible element that matches, in any shadow root. */
const deep = (selector: string, text = '') =>
  `(function find(r){for(const e of r.querySelectorAll('*')){if(e.matches(${
    JSON.stringify(selector)
  })&&e.getClientRects().length&&e.textContent.includes(${
    JSON.stringify(text)
  }))return e;const f=e.shadowRoot&&find(e.shadowRoot);if(f)return f}})(document)`

const size = (page: CdpPage, height: number) =>
  page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })

/** Takes a picture of the page down to the end of `last`, light and dark. */
async function picture(page: CdpPage, name: string, last: string): Promise<void> {
  for (const scheme of ['light', 'dark']) {
    await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
    await size(page, 400)
    await size(page, await page.evaluate(() => document.documentElement.scrollHeight))
    const end = await page.evaluate(async (last) => {
      const element = (0, eval)(last) as Element // the policy refuses it after an await
      scrollTo(0, 0)
      for (let frame = 0; frame < 3; frame++) await new Promise((resolve) => requestAnimationFrame(resolve))
      await Promise.all(
        document.getAnimations().map((a) => a.effect?.getTiming().iterations === Infinity || a.finished),
      )
      return element.getBoundingClientRect().bottom
    }, last)
    const clip = { x: 0, y: 0, width, height: Math.min(Math.ceil(end) + 12, tallest), scale: 1 }
    const { data } = await page.send<{ data: string }>('Page.captureScreenshot', { format: 'png', clip })
    await writeFile(`${dir}/sidepanel-${name}-${scheme}.png`, Buffer.from(data, 'base64'))
    console.log(`sidepanel-${name}-${scheme}.png`)
  }
}

const tab = (rig: Rig, name: string) => rig.panel.click(deep(`#tab-${name}`))
const shows = (rig: Rig, text: string) =>
  rig.panel.until((find) => !!(0, eval)(find), [deep('*', text)], `“${text}” is shown`)

/** The steps of pairing, with two bridges that are found. */
async function pairing(rig: Rig, other: TestBridge): Promise<void> {
  await rig.panel.click(deep('portolan-bridges button', 'Look for bridges'))
  await shows(rig, other.address)
  await rig.panel.evaluate(() => (document.activeElement as HTMLElement).blur())
  await picture(rig.panel, 'bridges', deep('portolan-pairing'))
  const said = rig.bridge.pair(async (digits) => {
    await rig.until('the digits are asked for', (s) => s.pairing?.step === 'digits')
    await rig.panel.click(deep('.digits'))
    await rig.panel.send('Input.insertText', { text: digits })
    await picture(rig.panel, 'pairing', deep('portolan-pairing'))
    await rig.panel.click(deep('button', 'Check'))
  })
  await rig.bridge.waitsForPairing()
  await rig.panel.click(deep(`portolan-bridges [aria-label$="${rig.bridge.address}"]`))
  await said
  await rig.connected()
  await Object.assign(Object.create(rig) as Rig, { bridge: other }).pair()
}

const isJudging = (prompt: string) => prompt.includes('Reply with one JSON object')
const isRevising = (prompt: string) => prompt.includes('reply with these two words only: NO CHANGE')

const pages = await startPages()
const ends: (() => Promise<unknown>)[] = [() => pages.close()]
try {
  const [one, two] = await freePorts(2)
  const bridge = await TestBridge.create(undefined, one)
  const other = await TestBridge.create(undefined, two)
  ends.push(() => bridge.close(), () => other.close())
  await Promise.all([bridge.start(), other.start()])
  const rig = new Rig(bridge, await Chromium.create({ granted: true, args: pages.flags }))
  ends.push(() => rig.close())
  await rig.openPanel()
  await rig.panel.send('Emulation.setScrollbarsHidden', { hidden: true })
  await size(rig.panel, 640)
  await pairing(rig, other)

  await rig.ask('setLabel', { label: 'Chromium, Work' })
  await rig.ask('setOptions', { bookmarks: true, history: true })
  const asked: Site[] = ['chatgpt', 'gemini', 'claude']
  for (const site of asked) await rig.ask('setChat', { site, patch: { enabled: true, acceptedAt: Date.now() } })
  const desk = await bridge.stdioClient('Claude Desktop', '--project', 'pilot-book')
  const cursor = await other.stdioClient('Cursor', '--project', 'tide-tables')
  await hasTool(desk, 'chat_claude')
  await hasTool(cursor, 'chat_claude')

  const { id } = JSON.parse(
    (await call(desk, 'bookmark_add', { title: 'Tide tables, Oslo', url: 'https://tides.example/oslo' })).text,
  ) as { id: string }
  const removing = call(desk, 'bookmark_remove', { id })
  await shows(rig, 'Tide tables, Oslo')
  await picture(rig.panel, 'question', deep('.asks'))
  const { approvals } = await rig.until('the question', (s) => s.approvals.length)
  await rig.ask('approve', { id: approvals[0]!.id, answer: 'once' })
  await removing
  await call(cursor, 'bookmark_search', { query: 'tide' })
  await picture(rig.panel, 'bridges-connected', deep('portolan-clients'))

  await tab(rig, 'chats')
  await shows(rig, 'DeepSeek')
  await picture(rig.panel, 'sites', deep('portolan-chat', 'Claude'))
  await rig.ask('setProfile', {
    site: 'chatgpt',
    json: '{ "version": 1, "layouts": [{ "name": "article", "input": ["#new-field"] }] }',
  })
  await rig.panel.click(deep('summary', 'Site profile'))
  await shows(rig, 'layouts/article/input')
  await picture(rig.panel, 'profile', deep('portolan-chat', 'ChatGPT'))
  await rig.ask('setProfile', { site: 'chatgpt', json: '' })

  const say = async (site: Site, client: Client, prompt: string, answer: string) => {
    pages.reply(site, () => answer)
    await call(client, `chat_${site}`, { prompt }, { timeout: 100_000 })
  }
  await say('chatgpt', desk, 'Translate “mind the swell” into Norwegian.', 'Pass på dønningene.')
  await say('claude', desk, 'Which harbours of the Algarve have a light that is seen from far away?', 'Sagres has one.')
  await say('gemini', cursor, 'How many berths does the harbour of Lagos have?', 'ok')
  await tab(rig, 'history')
  await rig.panel.click(deep('portolan-history input[type=search]'))
  await rig.panel.send('Input.insertText', { text: 'harbour' })
  await rig.panel.until(
    (find) => !(0, eval)(find),
    [deep('portolan-history .asked', 'Translate')],
    'the search has filtered',
  )
  await picture(rig.panel, 'history', deep('portolan-history .log'))
  await tab(rig, 'chats')

  // Two questions: all agree; then one chat differs, and another is signed out.
  const script = (texts: Partial<Record<Site, string>>, judgement: object) => {
    for (const site of sites)
      pages.reply(site, (prompt) =>
        isJudging(prompt)
          ? `\`\`\`json\n${JSON.stringify(judgement)}\n\`\`\``
          : isRevising(prompt)
          ? 'NO CHANGE'
          : texts[site])
  }
  script({
    chatgpt: 'It is 12 m deep at low water.',
    gemini: 'Twelve metres, at the lowest tide.',
    claude: 'The channel has 12 m at low water.',
  }, {
    claims: [
      { claim: 'The channel is 12 m deep', by: { A: 'agree', B: 'agree', C: 'agree' } },
      { claim: 'That is at low water', by: { A: 'agree', B: 'agree', C: 'agree' } },
    ],
    answer: 'The channel is 12 m deep at low water.',
    openPoints: [],
  })
  const consensus = async (prompt: string) => {
    await call(desk, 'chat_consensus', { prompt, services: asked, judge: 'chatgpt' }, { timeout: 200_000 })
    await rig.until('the end', (s) => s.comparisons[0]?.endedAt)
  }
  await consensus('How deep is the channel at the north pier?')
  await shows(rig, 'The channel is 12 m deep at low water.')
  await picture(rig.panel, 'consensus', deep('portolan-comparisons'))
  await rig.ask('clearComparisons', {})

  pages.set('claude', { loggedOut: 'wall' })
  script({
    chatgpt: 'The inner berth: the mole shelters it, and it has 6 m.',
    gemini: 'The outer berth. The inner one has 6 m, but swell runs into it.',
  }, {
    claims: [
      { claim: 'The inner berth has 6 m', by: { A: 'agree', B: 'agree' } },
      { claim: 'The mole shelters the inner berth', by: { A: 'agree', B: 'disagree' } },
      { claim: 'Swell runs into the inner berth', by: { A: 'silent', B: 'agree' } },
    ],
    answer: 'The chats differ: look at the chart before you choose the inner berth.',
    openPoints: ['Does swell run into the inner berth in a north wind?'],
  })
  await consensus('Which of the two berths is safer in a north wind?')
  await shows(rig, 'LOGIN_REQUIRED')
  await picture(rig.panel, 'consensus-differs', deep('portolan-comparisons'))
} finally {
  for (const end of ends.reverse()) await end()
}
process.exit()
