import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { policy } from '../panel/site.ts'
import type { PortolanRun } from '../../web/run/element/types.ts'
import type { RunEvent } from '../../web/run/types.ts'
import { servePage, type Listening } from '../rig/harness.ts'
import { caseUrl, type LawServer } from './servers/lawserver.ts'

declare global {
  interface Window {
    element: PortolanRun
    /** The model's texts, in turn; a promise holds it up. */
    says: string[]
    /** Lets a model that hangs go on. */
    goOn(): void
    happened: RunEvent[]
    copied: string[]
    shared: object[]
    start: Record<string, unknown>[]
  }
}

/** The model's texts in the first place: a plan, a plan that asks, and the summary. */
export const plan = (more = {}) =>
  JSON.stringify({ query: 'carrier liability', databases: ['au/cases/cth/HCA'], ...more })
export const asks = plan({ clarify: 'By sea or by <b>air</b>?' })
export const summary = `## Summary
Carriers are **liable** for <img src=x onerror="document.title='owned'"> loss.
## Key Cases
- [Carrier v Harbour Trust](${caseUrl(1)}) is first
- [elsewhere](https://elsewhere.example/) is not
## Notes
Look further.`

/** Each stage of a run, and what brings it about. */
export const stages: Record<
  string,
  { says: string[]; query?: Record<string, string>; fault?: Partial<LawServer['faults']>; shows: string }
> = {
  question: { says: [asks], shows: '[part=question]' },
  search: { says: [plan()], fault: { slow: true }, shows: '.stages progress' },
  preview: { says: [plan(), 'hang'], shows: '[part=results]' },
  answer: { says: [plan(), summary], query: { quota: '5' }, shows: '[part=answer]' },
  partial: { says: [plan(), ''], shows: '.badge' },
  fault: { says: [plan()], fault: { broken: true }, shows: '[role=alert]' },
}

const script = `import { createRegistry } from './npm/index.js'
import { run } from './npm/run.js'
import { remoteRun } from './npm/run-endpoint.js'
import './npm/run-element.js'
const params = new URLSearchParams(location.search)
Object.assign(window, { says: JSON.parse(params.get('says') ?? '[]'), happened: [], copied: [], shared: [], start: [] })
navigator.clipboard.writeText = async (text) => { copied.push(text) }
navigator.share = async (data) => { shared.push(data) }
const registry = await createRegistry({ mode: 'main', storage: 'memory', servers: { law: { url: params.get('law'), transport: 'streamable-http' } } })
await registry.discover()
const model = async (messages, { signal }) => {
  const say = says.shift()
  if (say !== 'hang') return say
  return new Promise((resolve, reject) => {
    window.goOn = () => resolve(says.shift())
    signal.addEventListener('abort', () => {
      document.documentElement.dataset.aborted = ''
      reject(signal.reason)
    })
  })
}
const roles = { list: 'list_databases', search: ['search_with_progress', 'search'], link: 'build_search_url' }
const quota = params.has('quota') ? { key: String(Math.random()), perDay: Number(params.get('quota')) } : undefined
const element = document.querySelector('portolan-run')
element.start = (request) => {
  const { signal, ...rest } = request
  start.push(rest)
  return params.has('endpoint') ? remoteRun(params.get('endpoint'), request) : run({ ...request, registry, model, roles, quota, cache: false })
}
if (params.has('locale')) Object.assign(element, { locale: params.get('locale'), messages: (await import('./npm/locales/' + params.get('locale') + '.js')).default })
addEventListener('run-event', (e) => happened.push(e.detail))
Object.assign(window, { element })
await element.updateComplete
document.documentElement.dataset.ready = ''
`
const page = `<!doctype html><html lang="en"><title>Research</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><link rel="stylesheet" href="page.css"><script type="module" src="page.js"></script>
<main><h1>Research</h1><portolan-run></portolan-run></main>`
const style =
  `:root { color-scheme: light dark; background: light-dark(#fff, #0b1114); color: light-dark(#14252c, #e7eeec) }
body { font-family: system-ui, sans-serif; margin: 0 } main { padding: 1rem; max-width: 56rem; margin-inline: auto }`

/** Serves a page with the built element in it, under the strictest policy. */
export const runSite = (): Promise<Listening> =>
  servePage({ '/': page, '/page.js': script, '/page.css': style }, {
    'content-security-policy': `${policy}; style-src 'self'; img-src data:`,
  })

/** Opens the page; the model says what is in `says`. */
export async function openRun(
  browser: Browser,
  site: Listening,
  law: string,
  says: string[],
  query: Record<string, string> = {},
  context: BrowserContextOptions = {},
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...context })
  const faults: string[] = []
  page.on('pageerror', (e) => faults.push(e.stack ?? e.message))
  page.on('console', (m) => {
    if (m.type() === 'error' && !/status of (40[05]|503)/.test(m.text())) faults.push(m.text())
  })
  await page.goto(`${site.url}/?${new URLSearchParams({ law, says: JSON.stringify(says), ...query })}`)
  await page.locator('html[data-ready]').waitFor()
  return { page, faults }
}
