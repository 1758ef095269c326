/** The only file that touches `chrome.*`. It has what the extension uses of the browser, and decides nothing. */
import type { Channel } from '../wasm/js/shared/types.ts'

/** One end of a port. `onclose` is called once, when the other end has closed. */
export interface Port extends Channel {
  onclose: (() => void) | null
}

function wrap(raw: chrome.runtime.Port): Port {
  const port: Port = {
    onmessage: null,
    onclose: null,
    post(message) {
      try {
        raw.postMessage(message)
      } catch { /* the port is closed, and onclose reports it */ }
    },
    close: () => raw.disconnect(),
  }
  raw.onMessage.addListener((m) => port.onmessage?.(m))
  raw.onDisconnect.addListener(() => {
    void chrome.runtime.lastError // without this read the browser logs an error
    port.onclose?.()
    port.onclose = null
  })
  return port
}

// Pages and the background.

export const extensionId = (): string => chrome.runtime.id
export const extensionVersion = (): string => chrome.runtime.getManifest().version
export const extensionUrl = (path: string): string => chrome.runtime.getURL(path)
export const inFirefox = (): boolean => extensionUrl('').startsWith('moz-extension:')
export const connectPort = (name: string): Port => wrap(chrome.runtime.connect({ name }))
export const openOptions = (): void => void chrome.runtime.openOptionsPage()
export const openTab = (url: string): void => void chrome.tabs.create({ url })

/** Handles ports that other parts of this extension open. Call it at top level, so that a port wakes the worker. */
export function onPort(handler: (name: string, sender: { id?: string; origin?: string }, port: Port) => void): void {
  chrome.runtime.onConnect.addListener((raw) => handler(raw.name, raw.sender ?? {}, wrap(raw)))
}

/** Handles ports of a name that the background opens to this tab. For content scripts. */
export function onBackgroundPort(name: string, handler: (port: Port) => void): void {
  chrome.runtime.onConnect.addListener((raw) => {
    if (raw.name === name && raw.sender?.id === chrome.runtime.id && !raw.sender.tab) handler(wrap(raw))
  })
}

// Permissions.

export interface Wanted {
  permissions?: string[]
  origins?: string[]
}
/** Firefox refuses patterns with a port. Those without one are for every port. */
const asked = ({ origins, ...rest }: Wanted) =>
  ({
    ...rest,
    ...(origins && { origins: inFirefox() ? origins.map((o) => o.replace(/:\d+\/\*$/, '/*')) : origins }),
  }) as chrome.permissions.Permissions

/** Call it in the click's own handler. */
export const requestPermissions = (p: Wanted): Promise<boolean> => chrome.permissions.request(asked(p))
export const removePermissions = (p: Wanted): Promise<boolean> => chrome.permissions.remove(asked(p))
/** A permission that the browser does not know is not granted. Firefox throws for it. */
export async function hasPermissions(p: Wanted): Promise<boolean> {
  try {
    return await chrome.permissions.contains(asked(p))
  } catch {
    return false
  }
}
export async function grantedPermissions(): Promise<{ permissions: string[]; origins: string[] }> {
  const { permissions = [], origins = [] } = await chrome.permissions.getAll()
  return { permissions, origins }
}
export function onPermissions(handler: () => void): void {
  chrome.permissions.onAdded.addListener(handler)
  chrome.permissions.onRemoved.addListener(handler)
}

// Storage. `local` lasts, and `session` ends with the browser.

export type Area = 'local' | 'session'
export async function readStored<T>(area: Area, key: string): Promise<T | undefined> {
  return (await chrome.storage[area].get(key))[key] as T | undefined
}
/** Rejects with the code NOT_STORED. */
export const writeStored = (area: Area, key: string, value: unknown): Promise<void> =>
  chrome.storage[area].set({ [key]: value }).catch((e: Error) => {
    throw Object.assign(e, { code: 'NOT_STORED' })
  })
export const removeStored = (area: Area, keys: string | string[]): Promise<void> => chrome.storage[area].remove(keys)
/** Keeps content scripts out of the storage. */
export async function guardStorage(): Promise<void> {
  // Firefox has no levels. Content scripts reach `local` there, which has neither keys nor header values as texts.
  for (const area of ['local', 'session'] as const)
    await chrome.storage[area].setAccessLevel?.({ accessLevel: 'TRUSTED_CONTEXTS' })
}

// Waking.

export function onAlarm(name: string, handler: () => void): void {
  chrome.alarms.onAlarm.addListener((alarm) => {
    if (alarm.name === name) handler()
  })
}
/**
 * The time between two alarms that keep the background awake, in minutes. Chromium allows no shorter one. Firefox ends
 * an event page 30 s after its last event, so the alarm must come sooner there.
 */
export const wakingMinutes = (): number => (inFirefox() ? 0.25 : 0.5)
export async function setAlarm(name: string, minutes: number): Promise<void> {
  if ((await chrome.alarms.get(name))?.periodInMinutes !== minutes)
    await chrome.alarms.create(name, { periodInMinutes: minutes })
}
export const clearAlarm = (name: string): Promise<boolean> => chrome.alarms.clear(name)
/** Runs after the browser started, and after the extension was installed or updated. */
export function onStart(handler: () => void): void {
  chrome.runtime.onStartup.addListener(handler)
  chrome.runtime.onInstalled.addListener(handler)
}

/** Keeps the worker alive during work: each call of the browser does. */
export function awakeDuring<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void chrome.runtime.getPlatformInfo(), 20_000)
  return work().finally(() => clearInterval(timer))
}

// The button in the toolbar.

export function showBadge(text: string, color: string, title: string): void {
  void chrome.action.setBadgeText({ text })
  void chrome.action.setBadgeBackgroundColor({ color })
  void chrome.action.setTitle({ title })
}
export function sidePanelOnClick(): void {
  const { sidebarAction } = chrome as unknown as { sidebarAction?: { toggle(): Promise<void> } }
  if (sidebarAction) chrome.action.onClicked.addListener(() => void sidebarAction.toggle())
  else void chrome.sidePanel?.setPanelBehavior({ openPanelOnActionClick: true }).catch(() => {})
}

// Tabs and windows.

export type Tab = ReturnType<typeof tabOf>
const tabOf = (t: chrome.tabs.Tab) => ({
  id: t.id!,
  windowId: t.windowId,
  url: t.url ?? t.pendingUrl ?? '',
  title: t.title ?? '',
  active: t.active,
  complete: t.status === 'complete',
})
/** The tab of an id. The browser throws for a number that is none, such as -1. */
export async function getTab(id: number): Promise<Tab | undefined> {
  try {
    return tabOf(await chrome.tabs.get(id))
  } catch {
    return undefined
  }
}
export const listTabs = async (): Promise<Tab[]> =>
  (await chrome.tabs.query({})).filter((t) => t.id !== undefined).map(tabOf)
export const closeTab = (id: number): Promise<void> => chrome.tabs.remove(id).catch(() => {})
export const goTo = (id: number, url: string): Promise<unknown> => chrome.tabs.update(id, { url })
export async function showTab(id: number): Promise<void> {
  const tab = await chrome.tabs.update(id, { active: true })
  if (tab) await chrome.windows.update(tab.windowId, { focused: true })
}
export const openBackgroundTab = async (url: string): Promise<Tab> =>
  tabOf(await chrome.tabs.create({ url, active: false }))
/** Opens a tab in front, and returns its id. */
export const openFrontTab = async (url: string): Promise<number> => (await chrome.tabs.create({ url })).id!
/** Opens a window behind the others, and returns its tab. Rejects in Firefox, where a window always comes in front. */
export async function openWindow(url: string, width: number, height: number): Promise<Tab> {
  const tab = !inFirefox() &&
    (await chrome.windows.create({ url, focused: false, width, height, type: 'normal' }))?.tabs?.[0]
  if (!tab) throw new Error('the browser opened no window')
  return tabOf(tab)
}
/** Reports whether the user sees a tab: it is active in the focused window. */
export async function seesTab(id: number): Promise<boolean> {
  const tab = await getTab(id)
  return !!tab?.active && (await chrome.windows.get(tab.windowId)).focused
}
export function onTabClosed(handler: (id: number) => void): void {
  chrome.tabs.onRemoved.addListener(handler)
}
/** Handles each page that a tab has loaded. The result ends that. Meanwhile each one wakes the worker. */
export function onTabLoaded(handler: (id: number) => void): () => void {
  const own = (id: number, { status }: { status?: string }) => {
    if (status === 'complete') handler(id)
  }
  chrome.tabs.onUpdated.addListener(own)
  return () => chrome.tabs.onUpdated.removeListener(own)
}
/** A tab that the browser discards gets another id. */
export function onTabReplaced(handler: (id: number, replaced: number) => void): void {
  chrome.tabs.onReplaced.addListener(handler)
}

/** Opens a port to the content script in a tab's main frame. */
export const connectTab = (id: number, name: string): Port => wrap(chrome.tabs.connect(id, { name, frameId: 0 }))
export const injectFile = (tabId: number, file: string, world: 'ISOLATED' | 'MAIN' = 'ISOLATED'): Promise<unknown> =>
  chrome.scripting.executeScript({ target: { tabId }, files: [file], world, injectImmediately: true })
/** Undoes what {@link injectFirst} began, also in an earlier worker, which may have ended before it could. */
export const undoInjections = async (only: { ids?: string[] } = {}): Promise<void> =>
  chrome.scripting?.unregisterContentScripts(only).catch(() => {})
/** Runs a file in the page's own world before each matching document, in all tabs. The result undoes it. */
export async function injectFirst(id: string, file: string, matches: string[]): Promise<() => Promise<void>> {
  const undo = () => undoInjections({ ids: [id] })
  await undo() // an earlier one may have failed
  const script = { id, js: [file], matches, persistAcrossSessions: false }
  await chrome.scripting.registerContentScripts([{ ...script, world: 'MAIN', runAt: 'document_start' }])
  return undo
}
/** Runs a function in a tab's main frame. The function can use only its arguments. */
export async function runInTab<A extends unknown[], R>(
  tabId: number,
  func: (...args: A) => R,
  args: A,
): Promise<R> {
  const [outcome] = await chrome.scripting.executeScript({ target: { tabId }, func, args })
  return outcome?.result as R
}

// The debugger, with its own permission.

const debugged = new Map<number, number>()
/** Runs work while the debugger is attached to a tab. Works may overlap. */
async function debugging<T>(tabId: number, work: () => Promise<T>): Promise<T> {
  const target = { tabId }
  const users = debugged.get(tabId) ?? 0
  if (!users) {
    await chrome.debugger.detach(target).catch(() => {}) // an earlier worker may have ended before its own
    await chrome.debugger.attach(target, '1.3')
  }
  debugged.set(tabId, users + 1)
  try {
    return await work()
  } finally {
    const left = debugged.get(tabId)! - 1
    debugged.set(tabId, left)
    if (!left) await chrome.debugger.detach(target).catch(() => {})
  }
}
const command = (tabId: number, method: string, params: Record<string, unknown>) =>
  chrome.debugger.sendCommand({ tabId }, method, params)

/** Types text that the page takes for the user's. */
export const insertTrustedText = (tabId: number, text: string): Promise<unknown> =>
  debugging(tabId, () => command(tabId, 'Input.insertText', { text }))

/** Makes a tab count as visible and focused until `ended` settles. Resolves once it does. */
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

// Bookmarks. Undefined without the permission.

export type BookmarkNode = chrome.bookmarks.BookmarkTreeNode
export const bookmarks = (): typeof chrome.bookmarks | undefined => chrome.bookmarks
