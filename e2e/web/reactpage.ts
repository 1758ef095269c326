// The page that react.test.ts bundles, once with React and once with Preact.

import { createElement as h, createRef, startTransition, StrictMode, useEffect, useState } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { createRegistry } from '../../dist/npm/index.js'
import '../../dist/npm/prompts.js'
import { Elicitation, PortolanPanel, useMCP, useQuestions, useRegistry } from '../../dist/npm/react.js'
import type { ElicitationAnswer, ElicitationUrlRequest, Registry, Snapshot } from '../../wasm/js/shared/types.ts'
import type { PortolanPanel as PanelElement } from '../../web/panel/types.ts'
import type { PortolanPrompts } from '../../web/prompts/types.ts'
import type { Questions, UseMCP } from '../../web/react/types.ts'

const made: Worker[] = []
const OwnWorker = Worker
window.Worker = class extends OwnWorker {
  constructor(...args: ConstructorParameters<typeof OwnWorker>) {
    super(...args)
    made.push(this)
  }
}

const mount = (): { root: Root; at: HTMLElement } => {
  const at = document.body.appendChild(document.createElement('div'))
  return { root: createRoot(at), at }
}

async function until(what: () => unknown): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (what()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`waited in vain for ${what}`)
}

const demo = (): Promise<Registry> =>
  createRegistry({ mode: 'main', storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })

/** Renders of components that select, before and after changes that concern them or not. */
export async function renders(): Promise<unknown> {
  const r = await demo()
  await r.discover()
  const counts: Record<string, number> = {}
  const View = ({ name, select }: { name: string; select?: (s: Snapshot) => unknown }) => {
    counts[name] = (counts[name] ?? 0) + 1
    const value = select ? useRegistry(r, select) : useRegistry(r)
    return h('p', { id: name }, value instanceof Set ? value.size : JSON.stringify(value))
  }
  const names = (s: Snapshot) => s.tools.map((t) => t.name)
  const set = (s: Snapshot) => new Set(names(s))
  const { root, at } = mount()
  root.render(
    h(
      'div',
      null,
      h(View, { name: 'names', select: names }),
      h(View, { name: 'inline', select: (s) => ({ first: s.tools[0]?.name }) }),
      h(View, { name: 'set', select: set }),
      h(View, { name: 'status', select: (s) => s.servers.demo?.status }),
      h(View, {
        name: 'latency',
        select: (s) => s.servers.demo?.lastSuccessful,
      }),
      h(View, { name: 'whole' }),
    ),
  )
  await until(() => at.querySelector('#whole'))
  const first = { ...counts }
  const lastSuccess = () => r.getSnapshot().servers.demo!.lastSuccessful
  const before = lastSuccess()
  await r.call('demo__echo', { text: 'x' })
  await until(() =>
    lastSuccess() !== before &&
    at.querySelector('#whole')!.textContent!.includes(`"version":${r.getSnapshot().version}`)
  )
  const afterCall = { ...counts }
  await r.setEnabled('demo', false)
  await until(() =>
    at.querySelector('#status')!.textContent === '"disabled"' && at.querySelector('#names')!.textContent === '[]' &&
    at.querySelector('#set')!.textContent === '0'
  )
  const afterSwitch = { ...counts }
  root.unmount()
  await r.close()
  return { first, afterCall, afterSwitch }
}

/**
 * All that is committed is of one state, though rendering is slow and the state changes meanwhile; without `strict`,
 * once that is over.
 */
export async function tearing(strict: boolean): Promise<unknown> {
  const r = await demo()
  const torn: string[] = []
  const Slow = () => {
    const { version } = useRegistry(r)
    const end = performance.now() + 2
    while (performance.now() < end) { /* a slow component */ }
    return h('i', null, version)
  }
  let more = (_: number): void => {}
  const App = () => {
    const [n, set] = useState(1)
    more = (n) => startTransition(() => set(n))
    return h('div', null, Array.from({ length: n }, (_, i) => h(Slow, { key: i })))
  }
  const { root, at } = mount()
  const look = () => {
    const seen = new Set([...at.querySelectorAll('i')].map((e) => e.textContent))
    if (seen.size > 1) torn.push([...seen].join())
  }
  if (strict) new MutationObserver(look).observe(at, { childList: true, subtree: true, characterData: true })
  root.render(h(App))
  await until(() => at.querySelector('i'))
  more(60)
  for (let i = 0; i < 10; i++) {
    await r.addServer(`s${i}`, { url: 'builtin:demo', enabled: false })
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await until(() =>
    at.querySelectorAll('i').length === 60 &&
    [...at.querySelectorAll('i')].every((e) => e.textContent === String(r.getSnapshot().version))
  )
  root.unmount()
  await r.close()
  return torn
}

/** A component with useMCP in StrictMode, mounted and unmounted. */
export async function lifetime(): Promise<unknown> {
  made.length = 0
  let mcp!: UseMCP
  const seen: string[] = []
  const Chat = () => {
    mcp = useMCP({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
    if (seen.at(-1) !== mcp.status) seen.push(mcp.status)
    return h('p', null, mcp.tools.length)
  }
  const first = mount().root
  first.render(h(StrictMode, null, h(Chat)))
  await until(() => made.length)
  const waiting = mcp.dispatch('demo__echo', {}).catch(() => {})
  first.unmount()
  const waits = new Promise((resolve) => setTimeout(resolve, 5000, 'waits'))
  await Promise.race([waiting, waits])
  const later = mcp.dispatch('demo__echo', {}).catch((e: { code: string }) => e.code)
  const left = await Promise.race([later, waits])
  const { root, at } = mount()
  mcp = undefined!
  made.length = seen.length = 0
  root.render(h(StrictMode, null, h(Chat)))
  await until(() => mcp)
  const early = await mcp.dispatch('demo__echo', { text: 'early' }).catch((e: { code: string }) => e.code)
  await until(() => at.textContent === '7')
  const { dispatch, registry, rediscover } = mcp
  const text = await dispatch('demo__echo', { text: 'hello' })
  const { status } = await rediscover()
  const stable = dispatch === mcp.dispatch && registry === mcp.registry
  const health = mcp.health.demo!.status
  root.unmount()
  let closed = ''
  const ask = () =>
    registry!.dispatch('demo__echo', {}).catch((e: { code: string }) => {
      closed = e.code
    })
  await until(() => (void ask(), closed))
  return { seen, early, text, status, stable, health, workers: made.length, closed, left }
}

/** Calls in the first effect of a component. */
export async function firstEffect(): Promise<unknown> {
  const calls: Record<string, Promise<string>> = {}
  const Chat = () => {
    const { dispatch } = useMCP({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
    useEffect(() => {
      const answer = (name: string, args = {}) => dispatch(name, args).catch((e: { code: string }) => e.code)
      calls['said'] ??= answer('demo__echo', { text: 'early' })
      calls['unknown'] ??= answer('demo__nothing')
    }, [])
    return null
  }
  const { root } = mount()
  root.render(h(Chat))
  await until(() => calls['unknown'])
  const answers = await Promise.all(Object.entries(calls).map(async ([name, call]) => [name, await call]))
  root.unmount()
  return Object.fromEntries(answers)
}

/** A call is cancelled while it waits for the list of a server that is silent. */
export async function cancelled(): Promise<unknown> {
  let mcp!: UseMCP
  const Chat = () => {
    mcp = useMCP({ storage: 'memory', servers: { silent: { url: `${location.origin}/silent` } } })
    return null
  }
  const { root } = mount()
  root.render(h(Chat))
  await until(() => mcp?.registry)
  const ends = new AbortController()
  const call = mcp.dispatch('silent__echo', {}, { signal: ends.signal }).catch((e: { code: string }) => e.code)
  ends.abort()
  const code = await call
  const { lastError } = mcp.registry!.getSnapshot().servers['silent']!
  root.unmount()
  return { code, lastError }
}

/** A call is cancelled while it waits for a registry whose module does not come. */
export async function cancelledEarly(): Promise<unknown> {
  let mcp!: UseMCP
  const Chat = () => {
    mcp = useMCP({ wasm: '/silent', mode: 'main', storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
    return null
  }
  const { root } = mount()
  root.render(h(Chat))
  await until(() => mcp)
  const ends = new AbortController()
  const call = (signal: AbortSignal) =>
    mcp.dispatch('demo__echo', {}, { signal }).catch((e: { code: string }) => e.code)
  const waiting = call(ends.signal)
  ends.abort()
  const codes = [await waiting, await call(ends.signal)]
  const { status } = mcp
  root.unmount()
  return { codes, status }
}

/** A component whose registry somebody else closes. */
export async function closing(): Promise<unknown> {
  let mcp!: UseMCP
  const Chat = () => {
    mcp = useMCP({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
    const { status } = useRegistry(mcp.registry)
    return h('p', null, `${mcp.status} ${status} ${mcp.tools.length} ${mcp.health['demo']?.errorCode ?? ''}`.trim())
  }
  const { root, at } = mount()
  root.render(h(Chat))
  await until(() => at.textContent === 'ready ready 7')
  const before = at.textContent
  await mcp.registry!.close()
  await until(() => at.textContent !== before)
  const after = at.textContent
  root.unmount()
  return { before, after }
}

/** A component whose module ends during the first discovery, as in a crash. */
export async function crashing(): Promise<unknown> {
  const { instantiate } = WebAssembly
  let exit!: (sp: number) => void
  WebAssembly.instantiate = (async (module: WebAssembly.Module, imports: { gojs: Record<string, typeof exit> }) => {
    exit = imports.gojs['runtime.wasmExit']!
    return instantiate(module, imports as never)
  }) as never
  let mcp!: UseMCP
  const Chat = () => {
    mcp = useMCP({
      mode: 'main',
      storage: 'memory',
      servers: { demo: { url: 'builtin:demo' }, silent: { url: `${location.origin}/silent` } },
    })
    return null
  }
  const { root } = mount()
  root.render(h(Chat))
  await until(() => mcp?.registry)
  exit(0)
  WebAssembly.instantiate = instantiate
  await until(() => mcp.tools.length || mcp.error)
  const said = await mcp.dispatch('demo__echo', { text: 'again' }).catch((e: { code: string }) => e.code)
  root.unmount()
  return { error: mcp.error?.code ?? null, said }
}

/** A component whose options are wrong. */
export async function failing(options: object): Promise<unknown> {
  let mcp!: UseMCP
  const Chat = () => {
    mcp = useMCP(options as never)
    return null
  }
  const { root } = mount()
  root.render(h(Chat))
  await until(() => mcp?.error)
  const refused = await mcp.dispatch('a', {}).catch((e: { code: string }) => e.code)
  root.unmount()
  return { code: mcp.error!.code, status: mcp.status, tools: mcp.tools, refused }
}

/** The panel's element, its properties and events. */
export async function panel(): Promise<unknown> {
  const r = await demo()
  const views: string[] = []
  const ref = createRef<PanelElement>()
  const App = ({ view, budget }: { view?: 'tools' | 'activity'; budget?: number }) =>
    h(PortolanPanel, {
      ref,
      registry: r,
      className: 'mine',
      view,
      budget,
      onView: (v: string) => views.push(`${v} ${budget}`),
    })
  const { root, at } = mount()
  root.render(h(App, { view: 'tools' }))
  await until(() => at.querySelector('portolan-panel')?.shadowRoot?.childElementCount)
  const element = at.querySelector('portolan-panel')!
  await until(() => element.registry === r)
  const props = {
    registry: element.registry === r,
    view: element.view,
    class: element.className,
    ref: ref.current === element,
  }
  element.dispatchEvent(new CustomEvent('portolan-view', { detail: { view: 'servers' } }))
  root.render(h(App, { view: 'activity', budget: 500 }))
  await until(() => element.budget === 500)
  element.dispatchEvent(new CustomEvent('portolan-view', { detail: { view: 'tools' } }))
  const later = { view: element.view, same: element === at.querySelector('portolan-panel') }
  const heard = [...views]
  root.unmount()
  await until(() => {
    const before = views.length
    element.dispatchEvent(new CustomEvent('portolan-view', { detail: { view: 'tools' } }))
    return views.length === before
  })
  await r.close()
  return { props, later, views: heard }
}

/** A page of a server whose slash menu is defined before React takes it over. */
export async function hydrated(): Promise<unknown> {
  const at = document.body.appendChild(document.createElement('div'))
  at.innerHTML = '<main><textarea id="field"></textarea><portolan-prompts for="field"></portolan-prompts></main>'
  const field = at.querySelector('textarea')!
  const menu = at.querySelector('portolan-prompts') as PortolanPrompts & { updateComplete: Promise<unknown> }
  await menu.updateComplete
  const faults: unknown[] = []
  const ready = new Promise<void>((resolve) => {
    const App = () => {
      useEffect(() => resolve(), [])
      return h('main', null, h('textarea', { id: 'field' }), h('portolan-prompts', { for: 'field' }))
    }
    hydrateRoot(at, h(App), { onRecoverableError: (e) => faults.push(String(e)) })
  })
  await ready
  const r = await demo()
  menu.registry = r
  await menu.updateComplete
  const same = field === at.querySelector('textarea') && menu === at.querySelector('portolan-prompts')
  const list = document.getElementById(field.getAttribute('aria-controls')!)?.role
  at.remove()
  await r.close()
  return { faults, same, list }
}

/** A panel that was rendered on a server, and is defined before React hydrates it. */
export async function hydratedPanel(): Promise<unknown> {
  await import('../../dist/npm/panel.js')
  const at = document.body.appendChild(document.createElement('div'))
  at.innerHTML = '<main><portolan-panel id="hydrated"></portolan-panel></main>'
  const panel = at.querySelector<PanelElement>('#hydrated')!
  await (panel as unknown as { updateComplete: Promise<unknown> }).updateComplete
  const faults: unknown[] = []
  const { error } = console
  console.error = (...said) => void faults.push(said.join(' '))
  const r = await demo()
  const App = ({ view }: { view: 'servers' | 'tools' }) =>
    h('main', null, h(PortolanPanel, { id: 'hydrated', registry: r, view }))
  const hydrate = (view: 'servers' | 'tools') =>
    hydrateRoot(at, h(App, { view }), { onRecoverableError: (e) => faults.push(String(e)) })
  const root = hydrate('servers')
  await until(() => panel.registry === r)
  root.render(h(App, { view: 'tools' }))
  await until(() => panel.getAttribute('view') === 'tools')
  const isSame = panel === at.querySelector('#hydrated')
  console.error = error
  root.unmount()
  at.remove()
  await r.close()
  return { faults, isSame }
}

/** A chat without a panel, whose servers may ask. With `own`, it renders the questions itself. */
export async function chat(own = false): Promise<void> {
  let questions!: Questions
  const Chat = () => {
    questions = useQuestions()
    const { onElicitation, onElicitationUrl } = questions
    const { registry, status } = useMCP({
      mode: 'main',
      storage: 'memory',
      servers: { demo: { url: 'builtin:demo' } },
      onElicitation,
      onElicitationUrl,
    })
    Object.assign(window, { registry })
    const children = (request: { message: string; url?: unknown }, answer: (a: ElicitationAnswer) => void) =>
      h(
        'button',
        { id: 'own', onClick: () => answer({ action: 'accept', content: { berth: 3 } }) },
        String(request.url ?? request.message),
      )
    return h(
      'p',
      { id: 'chat' },
      status,
      (status === 'ready' || questions.current) && h(Elicitation, { questions, ...(own && { children }) }),
    )
  }
  const { root, at } = mount()
  root.render(h(StrictMode, null, h(Chat)))
  await until(() => at.textContent === 'ready')
  const { onElicitation, onElicitationUrl } = questions
  const request = { server: 's', signal: new AbortController().signal }
  const asked = { ...request, message: 'Which berth?', requestedSchema: { type: 'object', properties: {} } }
  const stop = new AbortController()
  const url = (url = 'https://pay.example/1') =>
    ({ ...request, mode: 'url', message: 'Pay', url, elicitationId: '1' }) as ElicitationUrlRequest
  Object.assign(window, {
    address: (to?: string) => onElicitationUrl(url(to)),
    question: () => onElicitation(asked),
    withdrawn: () => onElicitation({ ...asked, signal: stop.signal }),
    withdraw: () => stop.abort(),
    unmountChat: () => root.unmount(),
  })
}

Object.assign(window, {
  renders,
  tearing,
  lifetime,
  firstEffect,
  cancelled,
  cancelledEarly,
  closing,
  crashing,
  failing,
  panel,
  hydrated,
  hydratedPanel,
  chat,
})
