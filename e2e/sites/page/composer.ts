import { Scenario } from '../scenario.ts'
import { boot } from './boot.ts'
import type { Chat } from './chat.ts'

/** The field for the prompt. */
export interface Editor {
  element: HTMLElement
  text(): string
  set(text: string): void
}

/** Decides when a prompt may be sent, and sends it. `show` updates the buttons. */
export class Composer {
  #chat: Chat
  #editor: Editor
  #show: () => void
  #settings: () => { model?: string; temperature?: number }
  #enabledAt = 0
  #disabledFor = ''
  /** The page was told so. */
  #awake = false

  constructor(
    chat: Chat,
    editor: Editor,
    show: () => void,
    settings: () => { model?: string; temperature?: number } = () => ({}),
  ) {
    this.#chat = chat
    this.#editor = editor
    this.#show = show
    this.#settings = settings
    addEventListener('wake', () => {
      this.#awake = true
      this.#enabledAt = 0
      this.#show()
    })
  }

  get hasText(): boolean {
    return this.#editor.text().trim() !== ''
  }

  get enabled(): boolean {
    return this.hasText && performance.now() >= this.#enabledAt
  }

  /** The editor's text has changed. */
  edited(): void {
    const text = this.#editor.text()
    const scenario = new Scenario(text)
    if (scenario.has('disabled') && this.#disabledFor === '' && !this.#awake) {
      const ms = scenario.number('disabled', 'ms', 2000)
      this.#enabledAt = performance.now() + ms
      this.#disabledFor = text
      setTimeout(() => {
        this.#show()
      }, ms + 5)
    } else if (!scenario.has('disabled')) {
      this.#disabledFor = ''
      this.#enabledAt = 0
    }
    this.#show()
  }

  clicked(): void {
    this.#submit(['nosend', 'deaf'])
  }

  entered(): void {
    this.#submit(['deaf'])
  }

  #submit(ignoredFor: ('nosend' | 'deaf')[]): void {
    const text = this.#editor.text()
    const scenario = new Scenario(text)
    if (!this.enabled || this.#chat.running || ignoredFor.some((name) => scenario.has(name))) return
    this.#editor.set('')
    this.edited()
    void this.#chat.send(text, this.#settings())
  }
}

/** Puts the editor into the page, late if the page's state says so. */
export function arrive(put: () => void): void {
  if (boot.state.late) setTimeout(put, boot.state.late)
  else put()
}
