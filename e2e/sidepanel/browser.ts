import type * as browser from '../../extension/browser.ts'
import { Background } from './background.ts'

/**
 * Stands in for extension/browser.ts where there is no extension: its ports lead
 * to a played background in the page itself, and it answers for the person whom the
 * browser would ask. The real background and the real browser are tested elsewhere.
 */
class StandIn {
  readonly background = new Background(new URLSearchParams(location.search).get('state') ?? 'used')
  /** The person's answer to the browser's own question; undefined: the browser cannot ask. */
  says: boolean | undefined = true
  readonly permissionsAsked: browser.Wanted[] = []
  readonly givenBack: browser.Wanted[] = []
  readonly tabs: string[] = []
  /** Whether a click was under way each time. */
  readonly clicked: boolean[] = []

  async request(wanted: browser.Wanted): Promise<boolean> {
    this.permissionsAsked.push(wanted)
    this.clicked.push(navigator.userActivation.isActive)
    if (this.says === undefined) throw new Error('Only permissions specified in the manifest may be requested.')
    if (this.says) this.grant(wanted, true)
    return this.says
  }

  grant({ permissions = [], origins = [] }: browser.Wanted, on: boolean): void {
    const { state } = this.background
    this.background.set({
      permissions: {
        bookmarks: permissions.includes('bookmarks') ? on : state.permissions.bookmarks,
        debugger: permissions.includes('debugger') ? on : state.permissions.debugger,
        origins: on
          ? [...state.permissions.origins, ...origins]
          : state.permissions.origins.filter((o) => !origins.includes(o)),
      },
      chats: Object.fromEntries(
        Object.entries(state.chats).map(([site, c]) => [site, {
          ...c,
          granted: c.matches.every((p) => origins.includes(p))
            ? on
            : c.granted,
        }]),
      ) as typeof state.chats,
    })
  }
}

declare global {
  interface Window {
    standin: StandIn
  }
}
const standin = window.standin = new StandIn()

export const connectPort: typeof browser.connectPort = (name) => standin.background.connect(name)
export const requestPermissions: typeof browser.requestPermissions = (wanted) => standin.request(wanted)
export const removePermissions: typeof browser.removePermissions = async (wanted) => {
  standin.givenBack.push(wanted)
  standin.grant(wanted, false)
  return true
}
export const openTab: typeof browser.openTab = (url) => void standin.tabs.push(url)
export const openOptions: typeof browser.openOptions = () => void standin.tabs.push('options.html')
