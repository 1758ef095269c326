import type { Site } from '../../../../extension/chats/drivermessages.ts'
import { words } from '../boot.ts'
import type { Editor } from '../composer.ts'
import { h, type Child } from '../dom.ts'
import { glyph } from '../glyph.ts'
import { prosemirror } from '../chatgpt/prosemirror.ts'
import { lexical } from './lexical.ts'

type Heard = { edited(): void; entered(): void }

/** The differences between these sites. */
export interface Markup {
  title: string
  editor(heard: Heard): Editor
  /** The button's element. It sends, or stops. */
  button(stops: boolean): HTMLElement
  /** Around field and button. */
  composer: string
  user(prompt: string): HTMLElement
  /** An answer: its element, the element for its text, the marks after it, and the block of thinking. */
  answer(n: number): { element: HTMLElement; text: HTMLElement; end?: HTMLElement; thinking: HTMLElement }
  /** Shows that the answer is under way. */
  busy?(element: HTMLElement, on: boolean): void
  models?: string[]
}

const button = (attributes: Record<string, string>, stops: boolean) =>
  h(
    'button',
    { type: 'button', ...attributes, 'aria-label': stops ? words.stop : words.send },
    glyph(stops ? 'stop' : 'send'),
  )

const bar = ({ class: more = '', ...attributes }: Record<string, string>, ...children: Child[]) =>
  h('div', { class: `actions ${more}`, ...attributes }, ...children)

/** A field whose text counts only after an input event, like a controlled one of React. */
function textarea(attributes: Record<string, string>, { edited, entered }: Heard): Editor {
  const area = h('textarea', { rows: '2', placeholder: words.ask, 'aria-label': words.ask, ...attributes })
  let value = ''
  area.addEventListener('input', () => {
    value = area.value
    edited()
  })
  area.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    entered()
  })
  return {
    element: area,
    text: () => value,
    set(text) {
      area.value = value = text
    },
  }
}

const proseMirror = (heard: Heard) => prosemirror(words.ask, heard, { class: 'tiptap ProseMirror', translate: 'no' })

/** DeepSeek's round button has no name. Its drawing says whether it sends or stops. */
function deepseekButton(stops: boolean): HTMLElement {
  const element = h('div', { role: 'button', class: 'ds-button ds-button--primary ds-button--filled', tabindex: '0' })
  const drawing = stops ? 'M2 4.88C2 3.7 3.7 2 4.88 2H11v9H2z' : 'M8.3125 1L14 7H9v8H7V7H2z'
  element.innerHTML = `<svg width="16" height="16" viewBox="0 0 16 16"><path d="${drawing}"/></svg>`
  return element
}

export const markups: Record<Exclude<Site, 'chatgpt' | 'gemini' | 'aistudio'>, Markup> = {
  claude: {
    title: 'Claude',
    editor: proseMirror,
    button: (stops) => button({}, stops),
    composer: 'fieldset',
    user: (prompt) =>
      h('div', { class: 'group' }, h('div', { 'data-testid': 'user-message' }, h('p', { class: 'pre' }, prompt))),
    answer() {
      const text = h('div', { class: 'progressive-markdown' })
      const thinking = h('div', { class: 'thinking-block' })
      const end = bar(
        {},
        h('button', { 'data-testid': 'action-bar-copy', 'aria-label': words.copy }, glyph('copy')),
        h('button', { 'data-testid': 'action-bar-retry', 'aria-label': words.retry }, glyph('wait')),
      )
      return {
        element: h('div', { 'data-is-streaming': 'true' }, h('div', { class: 'font-claude-response' }, text)),
        text,
        end,
        thinking,
      }
    },
    busy(element, on) {
      element.setAttribute('data-is-streaming', String(on))
      element.querySelector('.progressive-markdown, .standard-markdown')!.className = on
        ? 'progressive-markdown'
        : 'standard-markdown'
    },
    models: ['Opus', 'Sonnet', 'Haiku'],
  },
  perplexity: {
    title: 'Perplexity',
    editor: (heard) => lexical(words.ask, heard),
    button: (stops) => button({}, stops),
    composer: 'div',
    user: (prompt) => h('h1', { class: 'group/query' }, h('span', { class: 'pre' }, prompt)),
    answer(n) {
      const text = h('div', { class: 'prose' })
      return {
        element: h('div', { class: 'entry' }, h('div', { id: `markdown-content-${n}` }, text)),
        text,
        end: bar({}, h('button', { 'aria-label': words.share }, glyph('share'))),
        thinking: h('div', { class: 'steps' }),
      }
    },
  },
  grok: {
    title: 'Grok',
    editor: proseMirror,
    button: (stops) => button(stops ? {} : { type: 'submit' }, stops),
    composer: 'form',
    user: () =>
      h(
        'div',
        { id: `response-${crypto.randomUUID()}`, class: 'group items-end' },
        h('div', { class: 'message-bubble' }, h('div', { class: 'response-content-markdown' })),
      ),
    answer() {
      const text = h('div', { class: 'response-content-markdown markdown' })
      return {
        element: h(
          'div',
          { id: `response-${crypto.randomUUID()}`, class: 'group items-start' },
          h('div', { class: 'message-bubble' }, text),
        ),
        text,
        end: bar({ class: 'action-buttons last-response' }, h('button', { 'aria-label': words.copy }, glyph('copy'))),
        thinking: h('div', { class: 'thinking-container' }),
      }
    },
  },
  deepseek: {
    title: 'DeepSeek',
    editor: (heard) => textarea({ class: 'ds-scroll-area', placeholder: 'Message DeepSeek' }, heard),
    button: deepseekButton,
    composer: 'div',
    user: (prompt) =>
      h(
        'div',
        { 'data-virtual-list-item-key': '1' },
        h('div', { class: 'ds-message' }, h('div', { class: 'pre' }, prompt)),
      ),
    answer() {
      const text = h('div', { class: 'ds-markdown ds-assistant-message-main-content' })
      return {
        element: h('div', { class: 'ds-message' }, text),
        text,
        end: bar({ class: 'ds-flex' }, h('div', { role: 'button', class: 'ds-icon-button' }, glyph('copy'))),
        thinking: h('div', { class: 'ds-think-content' }),
      }
    },
  },
  mistral: {
    title: 'Le Chat',
    editor: proseMirror,
    button: (stops) => button(stops ? {} : { type: 'submit' }, stops),
    composer: 'form',
    user: (prompt) =>
      h(
        'div',
        { 'data-message-author-role': 'user', 'data-message-id': crypto.randomUUID() },
        h('div', { class: 'select-text pre' }, prompt),
      ),
    answer() {
      const text = h('div', { 'data-message-part-type': 'answer', 'data-testid': 'text-message-part' })
      return {
        element: h('div', { 'data-message-author-role': 'assistant', 'data-message-id': crypto.randomUUID() }, text),
        text,
        end: bar({}, h('button', { 'aria-label': words.copy }, glyph('copy'))),
        thinking: h('div', { 'data-message-part-type': 'reasoning' }),
      }
    },
  },
  copilot: {
    title: 'Copilot',
    editor: (heard) => textarea({ id: 'userInput' }, heard),
    button: (stops) => button({ 'data-testid': stops ? 'stop-button' : 'submit-button' }, stops),
    composer: 'div',
    user: (prompt) => h('div', { 'data-content': 'user-message' }, h('div', { class: 'pre' }, prompt)),
    answer() {
      const text = h('div', { class: 'text' })
      return {
        element: h('div', { 'data-content': 'ai-message' }, text),
        text,
        end: bar({ 'data-testid': 'message-item-reactions' }, h('button', { 'aria-label': words.copy }, glyph('copy'))),
        thinking: h('div', { class: 'thinking' }),
      }
    },
  },
}
