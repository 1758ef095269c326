import type {
  Approval,
  ApprovalRequest,
  ElicitationAnswer,
  ElicitationRequest,
  ElicitationUrlRequest,
  SamplingRequest,
  SamplingResult,
  Registry,
} from '../../wasm/js/shared/types.ts'

/**
 * The settings panel, `<portolan-panel>`. Importing `portolan/panel` defines it;
 * it shows nothing until it has a `registry`.
 *
 * ```ts
 * import { createRegistry } from 'portolan'
 * import 'portolan/panel'
 * document.querySelector('portolan-panel').registry = await createRegistry()
 * ```
 *
 * Looks: the custom properties `--portolan-ground`, `-paper`, `-ink`, `-accent`,
 * `-on-accent`, `-radius`, `-font`, `-mono`; `color-scheme` on the element chooses
 * light or dark; CSS parts `panel`, `bar`, `tabs`, `summary`, `add`, `cards`, `card`,
 * `status`, `switch`, `diagnosis`, `tool-group`, `tool`, `offer-group`, `offer`, `tasks`,
 * `log`, `budget`, `flags`, `timeline`, `result`, `dialog`, `notice`, `notices`, `empty`.
 */
export declare class PortolanPanel extends HTMLElement {
  /** The registry that is shown and changed; from createRegistry or connectRegistry. */
  registry: Registry
  /** BCP 47 tag of the language; default: that of the nearest `lang`, else English. Attribute `locale`. */
  locale: string
  /** Words in another language, such as the default export of `portolan/locales/ar`; missing words are English. */
  messages: PanelMessages | undefined
  /** The view that is shown; default `servers`. Attribute `view`. */
  view: PanelView
  /**
   * Base URL of the catalogue, of the shape of the official MCP Registry's API (`/v0.1/servers`). Attribute
   * `catalogue`.
   */
  catalogue: string
  /** The most that all tools together cost a model's context, in tokens; 0: no limit. Attribute `budget`. */
  budget: number
  /**
   * Asks the person about a call, in a dialog: what `onApprove` of createRegistry is to be, as in
   * `onApprove: (request) => panel.approve(request)`. A panel that is not in the document denies.
   */
  approve(request: ApprovalRequest): Promise<Approval>
  /**
   * Puts a server's question to the person, in a dialog: `onElicitation` of createRegistry, as in
   * `onElicitation: (request) => panel.elicit(request)`. A panel that is not in the document cancels.
   */
  elicit(request: ElicitationRequest): Promise<ElicitationAnswer>
  /** Asks the person to open an address for a server, in a dialog: `onElicitationUrl` of createRegistry. */
  elicitUrl(request: ElicitationUrlRequest): Promise<ElicitationAnswer['action']>
  /**
   * Shows the person what a server asks the model, has `generate` ask it, and shows the answer. The person may edit
   * both. For `onSampling` of createRegistry, as in
   * `onSampling: (request, context) => panel.sample(request, askMyModel, context)`. Rejects if the person declines,
   * and if the panel is not in the document.
   */
  sample(
    request: SamplingRequest,
    generate: (request: SamplingRequest, context: { signal: AbortSignal }) => Promise<SamplingResult> | SamplingResult,
    context: { signal: AbortSignal },
  ): Promise<SamplingResult>
  /** For the panel's own events. */
  addEventListener<K extends keyof PortolanPanelEvents>(
    type: K,
    listener: (this: PortolanPanel, event: PortolanPanelEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
  /** For every other event. */
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void
}

/** The views between which the panel's tabs choose. */
export type PanelView = 'servers' | 'tools' | 'resources' | 'prompts' | 'skills' | 'tasks' | 'log' | 'activity'
/** By message key: a text with {places}, or one for each plural category (Unicode CLDR). */
export type PanelMessages = Record<string, string | { [category in Intl.LDMLPluralRule]?: string }>

/** All of them bubble and are composed. */
export interface PortolanPanelEvents {
  /** Another view was chosen. */
  'portolan-view': CustomEvent<{ view: PanelView }>
  /** The budget was set. */
  'portolan-budget': CustomEvent<{ budget: number }>
  /** A fault was shown: a RegistryError, or another Error. */
  'portolan-error': CustomEvent<{ error: Error }>
}

declare global {
  interface HTMLElementTagNameMap {
    'portolan-panel': PortolanPanel
  }
}
