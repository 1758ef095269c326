import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Site } from '../../extension/chats/drivermessages.ts'
import { soak } from '../rig/soak.ts'
import { Asking, sites } from './asking.ts'

// Many prompts, one after another on each site: no wrong or stale answer, and the time of each.

const rounds = Number(process.env.PORTOLAN_CHAT_ROUNDS ?? (soak ? 3 : 1))
/** The time of the stand-ins for a plain answer, in ms. */
const theirs = 450

let asking: Asking
before(async () => {
  asking = await Asking.create()
})
after(() => asking?.close())

/** Records in the page when the marks of a complete answer appear. */
const watch = (tabId: number) =>
  asking.rig.panel.evaluate(async (tabId) => {
    await chrome.scripting.executeScript({
      target: { tabId },
      func: () => {
        const noted = globalThis as { endAt?: number; watched?: boolean }
        if (noted.watched) return
        noted.watched = true
        const known = new WeakSet<Node>()
        const marks =
          '[data-testid="good-response-turn-action-button"], [data-turn-key] > [role="group"] button, img[alt="thumb_up"], button[iconname="thumb_up"]'
        let before = -1
        const look = () => {
          let count = 0
          const walk = (root: Document | ShadowRoot) => {
            if (!known.has(root)) observer.observe(root, { childList: true, subtree: true })
            known.add(root)
            count += root.querySelectorAll(marks).length
            for (const el of root.querySelectorAll('*')) if (el.shadowRoot) walk(el.shadowRoot)
          }
          walk(document)
          if (before >= 0 && count > before) noted.endAt = Date.now()
          before = count
        }
        const observer = new MutationObserver(look)
        look()
      },
    })
  }, tabId).catch(() => {}) // the tab navigates

const endAt = (tabId: number) =>
  asking.rig.panel.evaluate(async (tabId) => {
    const [r] = await chrome.scripting.executeScript({
      target: { tabId },
      func: () => (globalThis as { endAt?: number }).endAt,
    })
    return r?.result ?? undefined
  }, tabId)

interface Cost {
  added: number
  late: number | undefined
}

async function round(
  site: Site,
  conversationId: string | undefined,
  turn: number,
): Promise<Cost & { conversationId: string }> {
  let over = false
  const { id } = await asking.tab(site)
  const watching = (async () => {
    while (!over) {
      await watch(id)
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
  })()
  try {
    const answered = await asking.ask(site, '', { turn, ...conversationId && { conversationId } })
    const now = Date.now()
    assert.equal(answered.confidence, 'high')
    const end = await endAt(id)
    return {
      conversationId: answered.conversationId,
      added: answered.timings.totalMs! - theirs,
      late: end && now - end,
    }
  } finally {
    over = true
    await watching
  }
}

const at = (values: number[], part: number) =>
  Math.round(values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!)

for (const hidden of [false, true])
  test(`${rounds} rounds of each site, ${hidden ? 'hidden' : 'in a window of its own'}`, async () => {
    await Promise.all(sites.map(async (site) => {
      await asking.ask(site)
      if (hidden) {
        const { id, windowId } = await asking.tab(site)
        await asking.rig.panel.evaluate(
          async (windowId) => void await chrome.tabs.create({ windowId, active: true, url: 'about:blank' }),
          windowId,
        )
        assert.equal((await asking.look(id)).hidden, true)
      }
      const costs: Cost[] = []
      let before: { conversationId: string } | undefined
      for (let n = 0; n < rounds; n++) {
        const goesOn = n % 3 > 0 // earlier answers are on the page
        if (site === 'chatgpt' && !goesOn) asking.pages.set(site, { layout: n % 2 ? 'article' : 'turn-key' })
        const cost = await round(site, goesOn ? before?.conversationId : undefined, 1 + n % 3)
        before = cost
        costs.push(cost)
      }
      const added = costs.map((c) => c.added)
      const late = costs.flatMap((c) => c.late ?? [])
      console.log(
        `# ${site}${hidden ? ', hidden' : ''}: added p50 ${at(added, 0.5)} ms, p95 ${
          at(added, 0.95)
        } ms; from the page's end marks to the client (n=${late.length}) p50 ${at(late, 0.5)} ms, p95 ${
          at(late, 0.95)
        } ms`,
      )
      assert.ok(late.length >= rounds / 2)
      // The goal is 500, but other programs use the machine too.
      assert.ok(at(late, 0) < 5000, 'it waits for what is not to come')
    }))
  })
