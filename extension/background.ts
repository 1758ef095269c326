/**
 * The extension's service worker, which composes the rooms. Listeners are registered while this file runs, because the
 * browser only wakes the worker for those. All other work waits until the state was read.
 */
import * as browser from './browser.ts'
import { ActivityLog } from './calls/activity.ts'
import { Approvals } from './calls/approvals.ts'
import { Clients } from './calls/clients.ts'
import { failure, Performer } from './calls/perform.ts'
import { Questions } from './calls/questions.ts'
import { aliasesOf } from './chats/aliases.ts'
import { Chats } from './chats/chats.ts'
import { Comparisons } from './chats/comparisons.ts'
import { compareTools } from './chats/comparetools.ts'
import { StartedCalls } from './chats/started.ts'
import { chatTools } from './chats/tools.ts'
import { troubleFile } from './chats/troubles.ts'
import type { LinkRecord } from './link/bridgelink.ts'
import { browserKeys } from './link/keys.ts'
import { Links } from './link/links.ts'
import { ToolModule } from './link/module.ts'
import { Pairer } from './link/pairing.ts'
import { panelPort, registryPort, type State } from './messages.ts'
import { Settings } from './settings.ts'
import { debugBundle, StatePublisher } from './state.ts'
import { damaged, isLike, loadAll } from './stored.ts'
import { timeout } from './timeout.ts'
import { bookmarkTools, onBookmarkEvent } from './tools/bookmarks.ts'
import { originOf } from '../wasm/js/shared/origin.ts'
import { PublishedRegistry } from './tools/registry.ts'
import { LargeResults } from './calls/results.ts'
import { tabTools } from './tools/tabs.ts'
import type { Client, Tool, ToolCall } from './tools/tool.ts'
import { PageTools } from './webmcp/pages.ts'

const origin = browser.extensionUrl('').replace(/\/$/, '')
const alarm = 'revive'
/** The longest time that clients wait at the start for the tools of servers, in ms. */
const patience = 5000

let permissions: State['permissions'] = { bookmarks: false, debugger: false, origins: [] }
const changed = () => publisher.changed()
const toolsChanged = () => {
  toolList = undefined
  changed()
  offerSoon()
}

const settings = new Settings(() => {
  toolsChanged()
  withModule((running) => running.changed())
})
const clients = new Clients(changed)
const approvals = new Approvals(changed)
const activity = new ActivityLog(changed)
const chats = new Chats(() => settings.options, changed, toolsChanged, (trouble, client) => {
  const params = { name: `${trouble.site}-${trouble.at.replace(/\W/g, '-')}`, file: troubleFile(trouble) }
  links.notify('notifications/portolan/trouble', (pairing) => pairing === client.pairing && params)
})
const results = new LargeResults()
const comparisons = new Comparisons(chats, changed)
const questions = new Questions(changed, () => publisher.isSeen)
const pages = new PageTools(() => settings.pageTools, toolsChanged)
const registry = new PublishedRegistry(
  (question, signal) => questions.ask(question, signal),
  toolsChanged,
  () => withModule((running) => running.changed()),
  ({ server, logger, level, text, dropped }) =>
    withModule((running) =>
      running.log(
        logger ? `${server}/${logger}` : server,
        level,
        dropped ? `${dropped} messages were dropped` : text,
      )
    ),
  (uri) => settings.options.publishRegistry && withModule((running) => running.updated(uri)),
)

// The tools.

type Source = State['tools'][number]['source']
type ToolList = Map<string, { tool: Tool; source: Source }>
let toolList: ToolList | undefined

function offeredTools(): ToolList {
  if (toolList) return toolList
  const { options } = settings
  const direct = [...chatTools(chats), ...compareTools(comparisons, chats.enabled)]
  const ofChats = [...direct, ...started.tools(direct)]
  const ofTabs = [...options.pages ? tabTools : [], ...pages.tools]
  const bySource: [Source, Tool[]][] = [
    ['registry', options.publishRegistry ? registry.tools : []],
    // A later tool wins its name, so a server's tool never replaces one of ours.
    ['chats', options.aliases ? aliasesOf([...ofChats, ...ofTabs], chats.enabled) : []],
    ['chats', ofChats],
    ['tabs', ofTabs],
    ['bookmarks', options.bookmarks && permissions.bookmarks ? bookmarkTools : []],
  ]
  if (bySource.some(([, tools]) => tools.length)) bySource.push(['chats', [results.tool]])
  toolList = new Map(bySource.flatMap(([source, tools]) => tools.map((tool) => [tool.name, { tool, source }])))
  return toolList
}

const performer = new Performer({
  clients,
  approvals,
  activity,
  results,
  stopped: () => settings.stopped,
  tool: (name) => offeredTools().get(name)?.tool,
})

const started = new StartedCalls((...call) => performer.perform(...call))

let module: Promise<ToolModule> | undefined
let offered = ''
let offering: ReturnType<typeof setTimeout> | undefined

/** Does something with the module if it runs. */
const withModule = (work: (running: ToolModule) => void) => void module?.then(work, () => {})

/** Returns the module with the current tools. Starts it if it is not running. */
async function runningModule(): Promise<ToolModule> {
  const known = module
  const isOver = known && (await known.catch(() => undefined))?.ended !== false
  if (isOver && module === known) module = undefined // no other caller has started one meanwhile
  module ??= fetch(browser.extensionUrl('tools.wasm')).then((r) => WebAssembly.compileStreaming(r)).then((wasm) => {
    offered = ''
    return ToolModule.start(wasm, browser.extensionVersion(), async (call, signal, caller) => {
      const client = clients.seen(call.client, call.pairing)
      const reached: Pick<ToolCall, 'progress' | 'elicit' | 'sample'> = {
        progress: (progress, total, message) => caller.progress({ progress, total, message }),
        elicit: (params) => caller.ask('elicitation/create', params),
        sample: (params) => caller.ask('sampling/createMessage', params),
      }
      const output = call.method
        ? await answer(call.method, call.arguments, client, signal, reached)
        : await performer.perform(call.tool ?? '', call.arguments, client, signal, reached)
      return JSON.stringify(output)
    })
  })
  const running = await module
  offer(running)
  return running
}

/** The answer to a client while the user does not offer the registry. */
const nothing: Record<string, object> = {
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
  'prompts/list': { prompts: [] },
}

/** Answers a request about resources, their subscriptions, prompts or completion. */
async function answer(
  method: string,
  params: Record<string, unknown>,
  client: Client,
  signal: AbortSignal,
  reached: Pick<ToolCall, 'progress' | 'elicit' | 'sample'>,
): Promise<object> {
  if (method === 'resources/read' && results.owns(params.uri))
    return performer.perform(method, params, client, signal, reached, results.reading)
  const empty = nothing[method]
  const offers = settings.options.publishRegistry || method === 'resources/unsubscribe'
  if (!offers || settings.stopped && empty) {
    if (!empty) throw new Error('The person does not offer the servers of the registry.')
    return empty
  }
  const request = registry.request(method)
  // Only what is read is in the activity: clients ask for the rest all the time.
  if (/read$|get$/.test(method)) return performer.perform(method, params, client, signal, reached, request)
  return request.run({ id: crypto.randomUUID(), tool: method, args: params, client, signal, ...reached }).catch(failure)
}

function offer(running: ToolModule): void {
  const list = [...offeredTools().values()].map(({ tool, source }) => {
    const { name, title, description, inputSchema, outputSchema, annotations } = tool
    const execution = source === 'registry' ? undefined : tool.execution // those of servers are not tasks of ours
    const definition = { name, title, description, inputSchema, outputSchema, annotations, execution }
    return { definition, check: source !== 'registry' }
  })
  const text = JSON.stringify(list)
  if (text === offered) return
  running.offer(list)
  offered = text
}

/** Offers changed tools if the module runs. */
function offerSoon(): void {
  offering ??= setTimeout(() => {
    offering = undefined
    withModule(offer)
  }, 50)
}

// The bridges.

const linkHost = {
  dial: (url: string) => new WebSocket(url),
  origin,
  profile: async () => ({ installId: settings.install.id, label: settings.install.label }),
  changed,
}
const links = new Links({
  ...linkHost,
  keys: browserKeys(),
  records: {
    async get() {
      const stored = await browser.readStored<LinkRecord[]>('local', 'bridge')
      if (!Array.isArray(stored)) return stored
      const sound = stored.filter((r) => isLike(r, { pairing: '', address: '' }) || !damaged.add('bridge'))
      if (sound.length < stored.length) void this.set(sound).catch(() => {})
      return sound
    },
    set: (records) => browser.writeStored('local', 'bridge', records),
  },
  async serve(connection, pairing) {
    notifyOrigins()
    // The bridge subscribes again over a new connection.
    void connection.ended.then(() => registry.offers.unwatchAll(pairing))
    // Some clients list tools only once.
    await Promise.all([runningModule(), timeout(patience, followRegistry().then(() => registry.listed))])
    ;(await runningModule()).serve(connection, pairing) // with the tools that are there now
  },
  ended: (pairing) => started.stop(pairing),
  watch: (on) => void (on ? browser.setAlarm(alarm, browser.wakingMinutes()) : browser.clearAlarm(alarm)),
})
/** Passes the logs of servers on while the user offers them. */
const followRegistry = () => registry.follow(settings.options.publishRegistry).catch(() => {})
const pairer = new Pairer({
  ...linkHost,
  links,
  awakeDuring: browser.awakeDuring,
})
/** Names the approved origins, this profile, and the clients that get no events to all bridges. */
const notifyOrigins = () =>
  links.notify('notifications/portolan/origins', (pairing) => ({
    origins: settings.origins,
    label: settings.install.label,
    denied: clients.denied(pairing, bookmarkTools),
  }))

// The pages.

function state(): State {
  return {
    version: browser.extensionVersion(),
    install: settings.install,
    links: links.states,
    pairing: pairer.state,
    stopped: settings.stopped,
    chats: chats.views,
    runs: chats.runs,
    comparisons: comparisons.list,
    options: settings.options,
    permissions,
    clients: clients.list,
    approvals: approvals.list,
    questions: questions.list,
    origins: settings.origins,
    pageTools: pages.view,
    activity: activity.value,
    tools: [...offeredTools().values()].map(({ tool: { name }, source }) => ({ name, source })),
  }
}

/** Stops everything, or lets it go on. Rejects if the next worker will not know. */
async function setStopped(stopped: boolean): Promise<void> {
  const kept = settings.setStopped(stopped)
  if (stopped) {
    performer.stop()
    started.stop()
    chats.stop()
    pairer.cancel()
  }
  links.stop(stopped)
  activity.add({ kind: 'stop', outcome: 'ok', text: stopped ? 'Everything was stopped' : 'Allowed to go on' })
  const fault = await kept
  if (fault) throw fault
}

const publisher = new StatePublisher(
  {
    pair: ({ address }) => void pairer.pair(address),
    digits: ({ digits }) => pairer.digits(digits),
    cancelPairing: () => pairer.cancel(),
    unpair: ({ pairing }) => links.unpair(pairing),
    reconnect: ({ pairing }) => void links.reconnect(pairing),
    useToken: ({ address, token }) => links.useToken(address, token),
    setLabel: ({ label }) => settings.setLabel(label).then(notifyOrigins),
    setChat: async ({ site, patch }) => {
      await readPermissions()
      await chats.set(site, patch).finally(toolsChanged)
    },
    setOptions: async (patch) => {
      await readPermissions()
      await settings.set(patch)
      if (patch.publishRegistry !== undefined) void followRegistry()
    },
    profile: ({ site }) => chats.profiles.view(site),
    setProfile: ({ site, json }) => chats.profiles.use(site, json),
    approve: ({ id, answer }) => approvals.settle(id, answer),
    answerQuestion: ({ id, answer }) => questions.settle(id, answer),
    setGrant: ({ client, tool, grant }) => clients.setGrant(client, tool, grant),
    forgetClient: async ({ client }) => {
      await clients.forget(client)
      chats.conversations.forget(client)
    },
    approveOrigin: async ({ origin, approved }) => {
      await settings.setOrigin('origins', origin, approved)
      notifyOrigins()
    },
    setPageTools: async ({ origin, on }) => {
      await settings.setOrigin('pageTools', origin, on)
      await pages.follow()
      return !registry.uses(origin) &&
        !Object.values(chats.views).some((c) => c.enabled && originOf(c.newChat) === origin)
    },
    stop: () => setStopped(true),
    go: () => setStopped(false),
    clearActivity: () => activity.clear(),
    cancelRun: ({ id }) => chats.cancel(id),
    resumeRun: ({ id }) => chats.resume(id),
    handOver: ({ id }) => chats.handOver(id),
    showRun: ({ id }) => chats.show(id),
    debugBundle: () => debugBundle(state(), chats.troubles.value),
    history: (query) => chats.history.page(query),
    exportHistory: ({ after }) => chats.history.lines(after),
    deleteHistory: ({ id }) => chats.history.db.remove(id),
    clearHistory: () => chats.history.db.clear(),
    clearComparisons: () => comparisons.clear(),
    troubles: () =>
      chats.troubles.value.map((t) => ({ id: t.id, at: t.at, site: t.site, code: t.code, file: troubleFile(t) })),
  },
  state,
  () => questions.cancel(),
)

/** Watches bookmarks once their permission is granted. */
function watchBookmarks(): void {
  onBookmarkEvent((event) => {
    if (!settings.options.bookmarks) return
    notifyOrigins() // a client may be denied by now
    links.notify('notifications/portolan/event', () => ({ source: 'bookmarks', ...event }))
  })
}

// Waking up.

async function readPermissions(): Promise<void> {
  const { permissions: names, origins } = await browser.grantedPermissions()
  permissions = { bookmarks: names.includes('bookmarks'), debugger: names.includes('debugger'), origins }
  await chats.permissionsChanged()
  watchBookmarks()
  await pages.follow()
  toolsChanged()
}

/** Reads the state. Nothing works without it, so a storage that fails is read again after `wait` ms. */
async function readAll(wait = 50): Promise<void> {
  try {
    await browser.guardStorage()
    await loadAll([settings, clients, activity, chats])
    await readPermissions()
    links.stop(settings.stopped)
    await links.load()
    for (const key of damaged)
      activity.add({ kind: 'storage', outcome: 'error', text: `A damaged part of ${key} was left out` })
  } catch (e) {
    console.error(e)
    await new Promise((resolve) => setTimeout(resolve, wait))
    return readAll(2 * wait)
  }
}
const ready = readAll()

browser.onPort((name, sender, port) => {
  // Only pages of this extension: no web page, no other extension, no content script.
  if (sender.id !== browser.extensionId() || sender.origin !== origin) return port.close()
  if (name === panelPort) publisher.open(port, ready)
  else if (name === registryPort) registry.serve(port, ready).catch(() => port.close())
  else port.close()
})
const wake = () => void ready.then(() => Promise.all([links.wake(), chats.tidy()]))
browser.onAlarm(alarm, wake)
browser.onStart(() => {}) // a listener is enough to start the worker
browser.onTabClosed((id) => void ready.then(() => chats.tabs.closed(id)))
browser.onTabReplaced((id, replaced) => void ready.then(() => chats.tabs.replaced(id, replaced)))
browser.onPermissions(() => void ready.then(readPermissions))
watchBookmarks()
browser.sidePanelOnClick()
wake()
