import type { ContentBlock, Registry, ToolResult } from '../../wasm/js/shared/types.ts'
import type { PanelMessages } from '../panel/types.ts'

/** The place of an app: in the page, over the whole window, or in a corner of it. */
export type AppDisplayMode = 'inline' | 'fullscreen' | 'pip'

/**
 * The user interface that a tool's server has for its results (MCP Apps, 2026-01-26), `<portolan-app>`. Importing
 * `portolan/apps` defines it.
 *
 * ```html
 * <portolan-app sandbox="https://apps-sandbox.example/apps-sandbox.html"></portolan-app>
 * ```
 *
 * The app runs in a frame of opaque origin, inside the page `apps-sandbox.html` of the package, which you serve from
 * another origin. Without an app to show, the element shows the text of the result, and says why. Its looks are those
 * of the panel: the custom properties `--portolan-*`, and `color-scheme`. CSS parts: `app`, `bar`, `card`.
 */
export declare class PortolanApp extends HTMLElement {
  /** The registry, created with `apps: true`. */
  registry: Registry | undefined
  /** The result that the app shows. */
  result: ToolResult | undefined
  /** The tool's name for models; undefined: that of the result. */
  tool: string | undefined
  /** The arguments of the call. */
  args: Record<string, unknown> | undefined
  /** The model still writes the arguments. */
  partial: boolean
  /** The address of the sandbox page, on another origin. Attribute `sandbox`. */
  sandbox: string
  /** BCP 47 tag of the language; default: that of the nearest `lang`, else English. Attribute `locale`. */
  locale: string
  /** Words in another language, as those of the panel. */
  messages: PanelMessages | undefined
  /** The way that the app is shown now. Setting it changes it. */
  displayMode: AppDisplayMode
  /** Tells the app that the call was cancelled. */
  cancelled(reason?: string): void
  /** Asks the app to end, waits at most 1 s for it, and removes its frame. */
  close(): Promise<void>
  /** For the element's own events. */
  addEventListener<K extends keyof PortolanAppEvents>(
    type: K,
    listener: (this: PortolanApp, event: PortolanAppEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
  /** For every other event. */
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void
}

/** They bubble and are composed. */
export interface PortolanAppEvents {
  /** The app wants to say something in the chat, as the user. `preventDefault()` refuses it. */
  'app-message': CustomEvent<AppMessage>
  /** The app replaces what the model should know of it. `preventDefault()` refuses it. */
  'app-context': CustomEvent<AppContext>
  /** The app answers, or is not shown. */
  'app-state': CustomEvent<AppState>
}

/** The message of an app for the chat. It is untrusted. */
export interface AppMessage {
  server: string
  role: 'user'
  content: ContentBlock[]
}

/** The knowledge of an app that a model needs at its next turn. It replaces the last one, and is untrusted. */
export interface AppContext {
  server: string
  content?: ContentBlock[]
  structuredContent?: Record<string, unknown>
}

/** The state of an app. */
export interface AppState {
  /** `ready`: the handshake is over. `card`: a card is shown in place of the app. */
  state: 'ready' | 'card'
  /**
   * The reason for a card. `none`: the tool has no app. `no_sandbox`, `bad_sandbox`: no page is on another origin.
   * `unreadable`, `bad_type`, `too_large`: of the html. `changed`, `new`: it waits for the person. `silent`: there was
   * no handshake. `flood`, `left`: it sent too much, or went to another page. `closed`: it has ended.
   */
  why?:
    | 'none'
    | 'no_sandbox'
    | 'bad_sandbox'
    | 'unreadable'
    | 'bad_type'
    | 'too_large'
    | 'changed'
    | 'new'
    | 'silent'
    | 'flood'
    | 'left'
    | 'closed'
}

declare global {
  interface HTMLElementTagNameMap {
    'portolan-app': PortolanApp
  }
}
