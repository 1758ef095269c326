import { LitElement } from 'lit'
import type { Registry, Snapshot } from '../../wasm/js/shared/types.ts'
import type { History } from './server/history.ts'
import type { SignIns } from './server/signins.ts'
import type { Flags } from './tools/flagged.ts'
import type { Scales } from './tools/scales.ts'
import type { Key, Places, Words } from './words.ts'

/** What the panel gives its parts: the registry, its state, words, and what only the whole panel can do. */
export interface Desk {
  readonly registry: Registry
  readonly snapshot: Snapshot
  readonly words: Words
  readonly history: History
  readonly scales: Scales
  readonly flags: Flags
  readonly signIns: SignIns
  /** Does something of the registry's; a fault is shown, and makes the result undefined. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>
  /** Says a sentence, with a way back if there is one. */
  tell(text: string, undo?: () => void): void
  /** Shows a dialog; undefined closes it. */
  show(dialog: Dialog | undefined): void
  setBudget(tokens: number): void
  /** Shows the tools of one server. */
  showTools(server: string): void
  /** Takes a server off the list; until the sentence about it is gone, that can be undone. */
  removeServer(server: string): void
}

/** Which dialog is open. */
export type Dialog =
  | { kind: 'edit'; server: string }
  | { kind: 'tool'; name: string; tab?: 'about' | 'try' }
  | { kind: 'review'; server: string }
  | { kind: 'export'; server?: string }
  | { kind: 'catalogue' }

/**
 * A part of the panel. It renders into the panel's shadow root, so that ids,
 * styles and CSS parts are the panel's.
 */
export abstract class Piece extends LitElement {
  static override properties: Record<string, object> = { desk: { attribute: false } }
  declare desk: Desk

  protected override createRenderRoot(): HTMLElement {
    return this
  }

  protected t(key: Key, places?: Places): string {
    return this.desk.words(key, places)
  }
}

/** Registers an element, unless another copy of the panel has. */
export function define(name: string, element: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, element)
}

let ids = 0
/** An id that no other element of the page has. */
export const freshId = (): string => `portolan-${++ids}`
