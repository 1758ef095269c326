import { conversationPath } from '../hosts.ts'
import { boot } from './boot.ts'
import type { Chat } from './chat.ts'
import { h } from './dom.ts'

/** The earlier conversations, newest first. The page's own is added once it has an address. */
export class Sidebar {
  readonly element: HTMLElement
  #attributes: Record<string, string>
  #listed: Set<string>

  constructor(element: HTMLElement, attributes: Record<string, string> = {}) {
    this.element = element
    this.#attributes = attributes
    this.#listed = new Set(boot.history.map(({ id }) => id))
    element.append(...boot.history.map(({ id, title }) => this.#link(id, title)))
  }

  show(chat: Chat): void {
    if (!chat.id || this.#listed.has(chat.id) || location.pathname !== conversationPath[boot.site](chat.id)) return
    this.#listed.add(chat.id)
    this.element.prepend(this.#link(chat.id, chat.turns[0]!.prompt.slice(0, 40)))
  }

  #link(id: string, title: string): HTMLElement {
    return h('a', { ...this.#attributes, href: conversationPath[boot.site](id) + location.search, title }, title)
  }
}
