import { LitElement, type TemplateResult } from 'lit'
import { define as defineElement } from '../../web/panel/piece.ts'
import type { Method, Requests, State } from '../messages.ts'
import type { Key, Language, Words } from './words.ts'
import type { Places } from '../../web/panel/words.ts'

export { freshId } from '../../web/panel/piece.ts'
export const define = defineElement

/** The app's tabs. */
export const places = ['home', 'chats', 'servers', 'activity'] as const
export type Place = (typeof places)[number]

/** What the app gives its parts: words, the background, and what only the whole page can do. */
export interface Desk {
  readonly words: Words
  readonly language: Language
  /** Asks the background. Rejects as the store does. */
  ask<M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<ReturnType<Requests[M]>>
  /** Does something; a fault is shown, and makes the result undefined. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>
  /** Asks the background and shows a fault; tells whether it went well. */
  send<M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<boolean>
  /** Says a sentence. */
  tell(text: string): void
  /** A fault that needs no answer of the background's. */
  warn(text: string): void
  go(place: Place): void
}

/** A part of the app. It renders into the app's shadow root, so that ids and styles are the app's. */
export abstract class Piece extends LitElement {
  static override properties: Record<string, object> = {
    desk: { attribute: false },
    state: { attribute: false },
    now: { attribute: false },
  }
  declare desk: Desk
  declare state: State
  /** In ms since the epoch; goes on while something on the page counts. */
  declare now: number

  protected override createRenderRoot(): HTMLElement {
    return this
  }

  protected abstract override render(): TemplateResult | typeof import('lit').nothing

  protected t(key: Key, places?: Places): string {
    return this.desk.words(key, places)
  }

  /** What has the focus, if it is in this part. */
  protected get focused(): HTMLElement | undefined {
    const active = (this.getRootNode() as ShadowRoot).activeElement as HTMLElement | null
    return active && this.contains(active) ? active : undefined
  }
}
