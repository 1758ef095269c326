/**
 * The extension's service worker: puts the parts together. Listeners are
 * registered while this file runs, or the browser does not wake the worker for
 * them; everything else waits until the state was read.
 */
import * as browser from './browser.ts'
import { ChatDesk } from './chats/desk.ts'
import { chatTools } from './chats/tools.ts'
import { ActivityLog } from './desk/activity.ts'
import { Approvals } from './desk/approvals.ts'
import { showState } from './desk/badge.ts'
import { Clients } from './desk/clients.ts'
import { debugBundle } from './desk/debug.ts'
import { Panels } from './desk/panels.ts'
import { Performer } from './desk/perform.ts'
import { Settings } from './desk/settings.ts'
import { browserKeys } from './link/keys.ts'
import { Link, type LinkRecord } from './link/link.ts'
import { ToolModule } from './link/module.ts'
import { Pairer } from './link/pairer.ts'
import type { Socket } from './link/socket.ts'
import { panelPort, registryPort, type State } from './messages.ts'
import { bookmarkTools, onBookmarkEvent } from './tools/bookmarks.ts'
import { PublishedRegistry } from './tools/registry.ts'
import { tabTools } from './tools/tabs.ts'
import type { Tool } from './tools/tool.ts'

const origin = browser.extensionUrl('').replace(/\/$/, '')
const alarm = 'revive'

let permissions: State['permissions'] = { bookmarks: false, debugger: false, origins: [] }
const changed = () => panels.tell()
/** What is offered may be other tools now. */
const reshelve = () => {
  shelved = undefined
  changed()
  offerSoon()
}

const settings = new Settings(reshelve)
const clients = new Clients(changed)
const approvals = new Approvals(changed)
const activity = new ActivityLog(changed)
const chats = new ChatDesk(() => settings.options, changed)
const registry = new PublishedRegistry(reshelve)

// What is offered.

type Source = State['tools'][number]['source']
type Shelf = Map<string, { tool: Tool; source: Source }>
let shelved: Shelf | undefined

function shelf(): Shelf {
  if (shelved) return shelved
  const { options } = settings
  const of = (source: Source, tools: Tool[]) => tools.map((tool) => ({ tool, source }))
  const own = [
    ...of('chats', chatTools(chats, options.aliases)),
    ...of('tabs', options.pages ? tabTools : []),
    ...of('bookmarks', options.bookmarks && permissions.bookmarks ? bookmarkTools : []),
  ]
  // A server's tool never takes the place of one of ours.
  const all = [...of('registry', options.publishRegistry ? registry.tools : []), ...own]
  shelved = new Map(all.map((entry) => [entry.tool.name, entry]))
  return shelved
}

const performer = new Performer({
  clients,
  approvals,
  activity,
  stopped: () => settings.stopped,
  tool: (name) => shelf().get(name)?.tool,
})

let module: Promise<ToolModule> | undefined
let offered = ''
let offering: ReturnType<typeof setTimeout> | undefined

/** The module with the tools of now; started when it is first needed, and again when it ended. */
async function tools(): Promise<ToolModule> {
  if (module && (await module.catch(() => undefined))?.ended !== false) module = undefined
  module ??= fetch(browser.extensionUrl('tools.wasm')).then((r) => WebAssembly.compileStreaming(r)).then((wasm) => {
    offered = ''
    return ToolModule.start(wasm, browser.extensionVersion(), {
      async call({ tool, arguments: args, client }, signal, caller) {
        const output = await performer.perform(tool, args, clients.seen(client), signal, {
          progress: (progress, total, message) => caller.progress({ progress, total, message }),
          elicit: (params) => caller.elicit(params),
        })
        return JSON.stringify(output)
      },
    })
  })
  const running = await module
  offer(running)
  return running
}

function offer(running: ToolModule): void {
  const list = [...shelf().values()].map((
    { tool: { name, title, description, inputSchema, outputSchema, annotations }, source },
  ) => (
    { definition: { name, title, description, inputSchema, outputSchema, annotations }, check: source !== 'registry' }
  ))
  const text = JSON.stringify(list)
  if (text === offered) return
  running.offer(list)
  offered = text
}

/** After a change; only a module that runs is told. */
function offerSoon(): void {
  offering ??= setTimeout(() => {
    offering = undefined
    void module?.then(offer, () => {})
  }, 50)
}

// The bridge.

const linkHost = {
  dial: (url: string) => new WebSocket(url) as unknown as Socket,
  origin,
  profile: async () => ({ installId: settings.install.id, label: settings.install.label }),
}
const link = new Link({
  ...linkHost,
  keys: browserKeys(),
  record: {
    get: () => browser.readStored<LinkRecord>('local', 'bridge'),
    set: (r) => (r ? browser.writeStored('local', 'bridge', r) : browser.removeStored('local', 'bridge')),
  },
  async serve(line) {
    link.notify('notifications/portolan/origins', { origins: settings.origins })
    ;(await tools()).serve(line)
    if (settings.options.publishRegistry) void registry.open()
  },
  changed,
  watch: (on) => void (on ? browser.setAlarm(alarm, 0.5) : browser.clearAlarm(alarm)),
})
const pairer = new Pairer({
  ...linkHost,
  changed,
  paired: (address, key) => link.paired(address, key),
  awake: browser.stayAwake,
})

// The pages.

function state(): State {
  return {
    version: browser.extensionVersion(),
    install: settings.install,
    link: link.state,
    pairing: pairer.state,
    stopped: settings.stopped,
    chats: chats.views,
    runs: chats.runs,
    options: settings.options,
    permissions,
    clients: clients.list,
    approvals: approvals.list,
    origins: settings.origins,
    activity: activity.list,
    tools: [...shelf().values()].map(({ tool, source }) => ({
      name: tool.name,
      title: tool.title,
      source,
      destructive: !!tool.annotations?.destructiveHint,
    })),
  }
}

const panels = new Panels(
  {
    pair: ({ address }) => void pairer.pair(address),
    digits: ({ digits }) => pairer.digits(digits),
    cancelPairing: () => pairer.cancel(),
    unpair: () => link.unpair(),
    reconnect: () => void link.again(),
    useToken: ({ address, token }) => link.useToken(address, token),
    setLabel: ({ label }) => settings.setLabel(label),
    setChat: async ({ site, patch }) => {
      await readPermissions()
      chats.set(site, patch)
      reshelve()
    },
    setOptions: async (patch) => {
      await readPermissions()
      settings.set(patch)
    },
    approve: ({ id, answer }) => approvals.answer(id, answer),
    setGrant: ({ client, tool, grant }) => clients.setGrant(client, tool, grant),
    forgetClient: ({ client }) => clients.forget(client),
    approveOrigin: ({ origin, approved }) => {
      settings.approve(origin, approved)
      link.notify('notifications/portolan/origins', { origins: settings.origins })
    },
    stop() {
      settings.setStopped(true)
      performer.stop()
      chats.end()
      pairer.cancel()
      link.stop(true)
      activity.add({ kind: 'stop', outcome: 'ok', text: 'Everything was stopped' })
    },
    go() {
      settings.setStopped(false)
      link.stop(false)
      activity.add({ kind: 'stop', outcome: 'ok', text: 'Allowed to go on' })
    },
    clearActivity: () => activity.clear(),
    cancelRun: ({ id }) => chats.cancel(id),
    resumeRun: ({ id }) => chats.resume(id),
    handOver: ({ id }) => chats.handOver(id),
    showRun: ({ id }) => chats.show(id),
    debugBundle: () => debugBundle(state(), chats.history.troublesSeen),
    exportHistory: () => chats.history.lines(),
    clearHistory: () => chats.history.clear(),
  },
  state,
  showState,
)

/** Again when the permission is there. */
function watchBookmarks(): void {
  onBookmarkEvent((event) => {
    if (settings.options.bookmarks) link.notify('notifications/portolan/event', { source: 'bookmarks', ...event })
  })
}

// Waking up.

async function readPermissions(): Promise<void> {
  const { permissions: names, origins } = await browser.grantedPermissions()
  permissions = { bookmarks: names.includes('bookmarks'), debugger: names.includes('debugger'), origins }
  await chats.rules.permissionsChanged()
  watchBookmarks()
  reshelve()
}

const ready = (async () => {
  await browser.guardStorage()
  await Promise.all([settings, clients, activity, chats].map((s) => s.load()))
  await readPermissions()
  if (settings.stopped) link.stop(true)
})()

browser.onPort((name, sender, port) => {
  // Pages of this extension only: no web page, no other extension, no content script (S9).
  if (sender.id !== browser.extensionId() || sender.origin !== origin) return port.close()
  if (name === panelPort) panels.open(port, ready)
  else if (name === registryPort) registry.serve(port, ready).catch(() => port.close())
  else port.close()
})
browser.onAlarm(
  alarm,
  () => void ready.then(() => Promise.all([link.wake(), chats.places.tidy((site) => chats.busy(site))])),
)
browser.onStart(() => {})
browser.onTabClosed((id) => void ready.then(() => chats.places.closed(id)))
browser.onPermissions(() => void ready.then(readPermissions))
watchBookmarks()
browser.sidePanelOnClick()
void ready.then(() => link.wake())
