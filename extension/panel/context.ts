import { Part, reactive, type Panel } from '../../web/ui/part.ts'
import type { Method, Requests, State } from '../messages.ts'
import type { Key } from './translations.ts'
import type { Language } from './language.ts'

/** The app's tabs. */
export const places = ['home', 'chats', 'history', 'servers', 'tools', 'activity'] as const
export type Place = (typeof places)[number]

/** The app's services for its parts: words, the background, and what only the whole page can do. */
export interface AppContext extends Panel<Key> {
  readonly language: Language
  /** Asks the background. Rejects as the store does. */
  ask<M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<ReturnType<Requests[M]>>
  /** Asks the background, shows a fault, and returns whether it succeeded. */
  send<M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<boolean>
  /** Shows a fault that the background does not know. */
  warn(text: string): void
  go(place: Place): void
}

/** A part of the app. */
export abstract class AppPart extends Part<AppContext> {
  static override properties = reactive('state', 'now')
  declare state: State
  /** In ms since the epoch. It advances while something on the page counts. */
  declare now: number
  /** The app gives the focus to its view. Near what was removed there are buttons that remove more. */
  protected override readonly leavesFocus = true
}
