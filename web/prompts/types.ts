import type { Dialect, PromptMessage, PromptResult, ProviderMessage, Registry } from '../../wasm/js/shared/types.ts'
import type { PanelMessages } from '../panel/types.ts'

/**
 * A slash menu of prompts for a text field, `<portolan-prompts for="id">`. Importing `portolan/prompts` defines it.
 * A `/` at the start of the field, or after white space at its end, opens the menu.
 *
 * ```html
 * <textarea id="chat" aria-label="Message"></textarea>
 * <portolan-prompts for="chat"></portolan-prompts>
 * ```
 *
 * While it has a registry, it sets ARIA attributes of the field, and gives them back when it leaves the document. Its
 * looks are those of the panel: the custom properties `--portolan-*`, and `color-scheme`.
 */
export declare class PortolanPrompts extends HTMLElement {
  /** The registry whose prompts are shown. Without one, the menu stays closed. */
  registry: Registry | undefined
  /** The id of the field, in the same document or shadow root. Attribute `for`. */
  for: string
  /** The field. It counts more than `for`. */
  field: HTMLTextAreaElement | HTMLInputElement | undefined
  /** The provider in whose form the messages are made; undefined: that of the MCP specification. */
  format: Dialect | undefined
  /** BCP 47 tag of the language; default: that of the nearest `lang`, else English. Attribute `locale`. */
  locale: string
  /** Words in another language, as those of the panel. */
  messages: PanelMessages | undefined
  /** For the menu's own event. */
  addEventListener<K extends keyof PortolanPromptsEvents>(
    type: K,
    listener: (this: PortolanPrompts, event: PortolanPromptsEvents[K]) => void,
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
export interface PortolanPromptsEvents {
  /** The person has picked a prompt, and the server has made its messages. */
  prompt: CustomEvent<PickedPrompt>
}

/** The detail of the event `prompt`. Messages are the server's words: do not trust them. */
export interface PickedPrompt {
  /** The prompt's name in `registry.prompts()`. */
  name: string
  server: string
  args: Record<string, string>
  /** Those of `result`, in the form that `format` names. */
  messages: (PromptMessage | ProviderMessage)[]
  result: PromptResult<PromptMessage | ProviderMessage>
}

declare global {
  interface HTMLElementTagNameMap {
    'portolan-prompts': PortolanPrompts
  }
}
