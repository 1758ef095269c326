/**
 * The only file that touches `chrome.*`. What is exported here is what the
 * extension uses of the browser, in the words of the extension; nothing decides.
 */

/** One end of a port. `onclose` is called once, when the other end is gone. */
export interface Port {
  post(message: unknown): void
  onmessage: ((message: unknown) => void) | null
  onclose: (() => void) | null
  close(): void
}

/** Who opened a port, as the browser says it. */
export interface Sender {
  id: string | undefined
  origin: string | undefined
}

function wrap(raw: chrome.runtime.Port): Port {
  const port: Port = {
    onmessage: null,
    onclose: null,
    post(message) {
      try {
        raw.postMessage(message)
      } catch { /* it is gone: onclose tells */ }
    },
    close: () => raw.disconnect(),
  }
  raw.onMessage.addListener((m) => port.onmessage?.(m))
  raw.onDisconnect.addListener(() => {
    void chrome.runtime.lastError // asked for, or the console complains
    port.onclose?.()
    port.onclose = null
  })
  return port
}

// Pages and the background.

export const extensionId = (): string => chrome.runtime.id
export const extensionVersion = (): string => chrome.runtime.getManifest().version
export const extensionUrl = (path: string): string => chrome.runtime.getURL(path)
export const connectPort = (name: string): Port => wrap(chrome.runtime.connect({ name }))
export const openOptions = (): void => void chrome.runtime.openOptionsPage()
export const openTab = (url: string): void => void chrome.tabs.create({ url })

/** Ports that other parts of this extension open. Register at top level: the browser wakes the worker for it. */
export function onPort(handler: (name: string, sender: Sender, port: Port) => void): void {
  chrome.runtime.onConnect.addListener((raw) => {
    handler(raw.name, { id: raw.sender?.id, origin: raw.sender?.origin }, wrap(raw))
  })
}

/** In a content script: the ports that the background opens to this tab. */
export function onBackgroundPort(handler: (port: Port) => void): void {
  chrome.runtime.onConnect.addListener((raw) => {
    if (raw.sender?.id === chrome.runtime.id && !raw.sender.tab) handler(wrap(raw))
  })
}

// Permissions.

export interface Wanted {
  permissions?: string[]
  origins?: string[]
}
const asked = (p: Wanted) => p as chrome.permissions.Permissions

/** Must be called in the click itself. */
export const requestPermissions = (p: Wanted): Promise<boolean> => chrome.permissions.request(asked(p))
export const removePermissions = (p: Wanted): Promise<boolean> => chrome.permissions.remove(asked(p))
export const hasPermissions = (p: Wanted): Promise<boolean> => chrome.permissions.contains(asked(p))
export async function grantedPermissions(): Promise<{ permissions: string[]; origins: string[] }> {
  const { permissions = [], origins = [] } = await chrome.permissions.getAll()
  return { permissions, origins }
}
export function onPermissions(handler: () => void): void {
  chrome.permissions.onAdded.addListener(handler)
  chrome.permissions.onRemoved.addListener(handler)
}

// Storage. `local` lasts; `session` ends with the browser. Both are for this extension's own pages.

export type Area = 'local' | 'session'
export async function readStored<T>(area: Area, key: string): Promise<T | undefined> {
  return (await chrome.storage[area].get(key))[key] as T | undefined
}
export const writeStored = (area: Area, key: string, value: unknown): Promise<void> =>
  chrome.storage[area].set({ [key]: value })
export const removeStored = (area: Area, key: string): Promise<void> => chrome.storage[area].remove(key)
/** Keeps content scripts out. */
export async function guardStorage(): Promise<void> {
  await Promise.all(
    (['local', 'session'] as const).map((area) =>
      chrome.storage[area].setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' })
    ),
  )
}

// Waking.

export function onAlarm(name: string, handler: () => void): void {
  chrome.alarms.onAlarm.addListener((alarm) => {
    if (alarm.name === name) handler()
  })
}
export async function setAlarm(name: string, minutes: number): Promise<void> {
  if ((await chrome.alarms.get(name))?.periodInMinutes !== minutes)
    await chrome.alarms.create(name, { periodInMinutes: minutes })
}
export const clearAlarm = (name: string): Promise<boolean> => chrome.alarms.clear(name)
/** After the browser started, and after the extension was installed or updated. */
export function onStart(handler: () => void): void {
  chrome.runtime.onStartup.addListener(handler)
  chrome.runtime.onInstalled.addListener(handler)
}

let awake: ReturnType<typeof setInterval> | undefined
/** The worker lives on while this is on: each call of the browser counts. For what a person does meanwhile. */
export function stayAwake(on: boolean): void {
  clearInterval(awake)
  awake = on ? setInterval(() => void chrome.runtime.getPlatformInfo(), 20_000) : undefined
}

/** The worker lives on while this is under way. */
export async function awakeDuring<T>(work: () => Promise<T>): Promise<T> {
  const beat = setInterval(() => void chrome.runtime.getPlatformInfo(), 20_000)
  try {
    return await work()
  } finally {
    clearInterval(beat)
  }
}

// The button in the toolbar.

export function showBadge(text: string, color: string, title: string): void {
  void chrome.action.setBadgeText({ text })
  void chrome.action.setBadgeBackgroundColor({ color })
  void chrome.action.setTitle({ title })
}
export const sidePanelOnClick = (): void =>
  void chrome.sidePanel?.setPanelBehavior({ openPanelOnActionClick: true }).catch(() => {})

// Tabs and windows.

export interface Tab {
  id: number
  windowId: number
  url: string
  title: string
  active: boolean
  complete: boolean
}
const tabOf = (t: chrome.tabs.Tab): Tab => ({
  id: t.id!,
  windowId: t.windowId,
  url: t.url ?? t.pendingUrl ?? '',
  title: t.title ?? '',
  active: t.active,
  complete: t.status === 'complete',
})
export const getTab = (id: number): Promise<Tab | undefined> => chrome.tabs.get(id).then(tabOf, () => undefined)
export const listTabs = async (): Promise<Tab[]> =>
  (await chrome.tabs.query({})).filter((t) => t.id !== undefined).map(tabOf)
export const closeTab = (id: number): Promise<void> => chrome.tabs.remove(id).catch(() => {})
export const goTo = async (id: number, url: string): Promise<void> => void await chrome.tabs.update(id, { url })
export async function showTab(id: number): Promise<void> {
  const tab = await chrome.tabs.update(id, { active: true })
  if (tab) await chrome.windows.update(tab.windowId, { focused: true })
}
export async function openBackgroundTab(url: string, windowId?: number): Promise<Tab> {
  return tabOf(await chrome.tabs.create({ url, active: false, windowId }))
}
/** Opens a tab before the person's eyes, and returns its id. */
export const openFrontTab = async (url: string): Promise<number> => (await chrome.tabs.create({ url })).id!
export const isTabOpen = (id: number): Promise<boolean> => chrome.tabs.get(id).then(() => true, () => false)
/** Opens a window of its own behind the others, and returns its tab. */
export async function openWindow(url: string, width: number, height: number): Promise<Tab> {
  const w = await chrome.windows.create({ url, focused: false, width, height, type: 'normal' })
  const tab = w?.tabs?.[0]
  if (!tab) throw new Error('the browser opened no window')
  return tabOf(tab)
}
/** The person has a tab before their eyes. */
export async function seesTab(id: number): Promise<boolean> {
  const tab = await getTab(id)
  return !!tab?.active && (await chrome.windows.get(tab.windowId)).focused
}
export function onTabClosed(handler: (id: number) => void): void {
  chrome.tabs.onRemoved.addListener((id) => handler(id))
}

/** Opens a port to the content script in a tab's main frame. */
export const connectTab = (id: number, name: string): Port => wrap(chrome.tabs.connect(id, { name, frameId: 0 }))
export async function injectFile(tabId: number, file: string, world: 'ISOLATED' | 'MAIN' = 'ISOLATED'): Promise<void> {
  await chrome.scripting.executeScript({ target: { tabId }, files: [file], world, injectImmediately: true })
}
/** From now until `undo`, a file runs in the page's own world before each document that matches, in all tabs. */
export async function injectFirst(id: string, file: string, matches: string[]): Promise<() => Promise<void>> {
  const undo = () => chrome.scripting.unregisterContentScripts({ ids: [id] }).catch(() => {})
  await undo() // an earlier worker may not have come to it
  await chrome.scripting.registerContentScripts([{
    id,
    js: [file],
    matches,
    world: 'MAIN',
    runAt: 'document_start',
    persistAcrossSessions: false,
  }])
  return undo
}
/** Runs a function that uses nothing from outside in a tab's main frame. */
export async function runInTab<A extends unknown[], R>(
  tabId: number,
  func: (...args: A) => R,
  args: A,
  world: 'ISOLATED' | 'MAIN' = 'ISOLATED',
): Promise<R> {
  const [outcome] = await chrome.scripting.executeScript({ target: { tabId }, func, args, world })
  return outcome?.result as R
}

// What DevTools can; needs the permission `debugger`.

const debugged = new Map<number, number>()
/** Runs work while the debugger is attached to a tab; works within works. */
async function debugging<T>(tabId: number, work: () => Promise<T>): Promise<T> {
  const target = { tabId }
  const users = debugged.get(tabId) ?? 0
  if (!users) await chrome.debugger.attach(target, '1.3')
  debugged.set(tabId, users + 1)
  try {
    return await work()
  } finally {
    const left = debugged.get(tabId)! - 1
    debugged.set(tabId, left)
    if (!left) await chrome.debugger.detach(target).catch(() => {})
  }
}
const command = (tabId: number, method: string, params: object) =>
  chrome.debugger.sendCommand({ tabId }, method, { ...params })

/** Input that the page takes for a person's. */
export const insertTrustedText = (tabId: number, text: string): Promise<void> =>
  debugging(tabId, async () => void await command(tabId, 'Input.insertText', { text }))

/** A tab is taken for seen and focused until `ended` settles. Resolves when it is. */
export function emulateFocus(tabId: number, ended: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    debugging(tabId, async () => {
      await command(tabId, 'Emulation.setFocusEmulationEnabled', { enabled: true })
      resolve()
      await ended.catch(() => {})
      await command(tabId, 'Emulation.setFocusEmulationEnabled', { enabled: false }).catch(() => {})
    }).catch(reject)
  })
}

// Bookmarks; undefined without the permission.

export type BookmarkNode = chrome.bookmarks.BookmarkTreeNode
export const bookmarks = (): typeof chrome.bookmarks | undefined => chrome.bookmarks
