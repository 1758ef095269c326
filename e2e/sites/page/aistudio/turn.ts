import type { ErrorKind } from '../../state.ts'
import { words } from '../boot.ts'
import type { Chat, Turn } from '../chat.ts'
import { fill, h, on } from '../dom.ts'
import { Markdown } from '../markdown.ts'
import type { TurnView } from '../show.ts'
import { dress, symbol } from './dress.ts'

const said: Record<ErrorKind, string> = { network: words.network, ratelimit: words.rateLimited, expired: words.expired }

/** AI Studio's turns: one element for the prompt, one for the answer. */
export function studioTurn(chat: Chat) {
  return (turn: Turn): TurnView => {
    const chunk = (...children: (Node | string)[]): HTMLElement =>
      h('ms-prompt-chunk', { class: 'text-chunk' }, h('ms-text-chunk', {}, ...children))
    const user = h(
      'ms-chat-turn',
      {},
      h(
        'div',
        { class: 'chat-turn-container user render', 'data-turn-role': 'User' },
        h('div', { class: 'author-label' }, words.you),
        h('div', { class: 'turn-content' }, chunk(h('ms-cmark-node', { class: 'cmark-node user-chunk' }, turn.prompt))),
      ),
    )
    const markdown = new Markdown(h('ms-cmark-node', { class: 'cmark-node v3-font-body' }), dress)
    const answer = chunk(markdown.element)
    const thinking = thoughts(chat)
    const content = h('div', { class: 'turn-content' })
    const footer = h(
      'div',
      { class: 'turn-footer' },
      ...[['thumb_up', words.good], ['thumb_down', words.bad]].map(([name, label]) =>
        h('button', { type: 'button', 'ms-button': true, iconname: name, 'aria-label': label }, symbol(name!))
      ),
    )
    const container = h('div', { class: 'chat-turn-container model render', 'data-turn-role': 'Model' })
    const label = h('div', { class: 'author-label' }, words.model)
    const model = h('ms-chat-turn', {}, container)
    const elements = [user, model]
    let complete = false
    return {
      elements,
      update(turn) {
        if (turn.phase === 'silent') elements.splice(1)
        fill(
          content,
          thinking(turn),
          answer,
          turn.phase === 'error' &&
            h('div', { class: 'model-error', role: 'alert' }, symbol('error'), said[turn.error!]),
        )
        fill(container, label, content, complete && footer)
      },
      paint(turn) {
        markdown.paint(turn.answer)
        complete = turn.phase === 'done' || turn.phase === 'stopped'
        this.update(turn)
      },
    }
  }
}

/** A panel before the answer, closed at first. */
function thoughts(chat: Chat): (turn: Turn) => HTMLElement | undefined {
  const header = h('button', { type: 'button', class: 'mat-expansion-panel-header', 'aria-expanded': 'false' })
  const body = h('div', { class: 'mat-expansion-panel-content', style: 'display: none' })
  const skip = on(h('button', { type: 'button', class: 'skip' }, words.skip), 'click', () => {
    chat.skip()
  })
  const panel = h('mat-expansion-panel', { class: 'thought-panel' })
  const element = h('ms-prompt-chunk', {}, h('ms-thought-chunk', {}, panel))
  on(header, 'click', () => {
    const open = header.getAttribute('aria-expanded') !== 'true'
    header.setAttribute('aria-expanded', String(open))
    body.style.display = open ? '' : 'none'
  })
  return (turn) => {
    if (turn.phase !== 'thinking' && !turn.thought) return undefined
    header.textContent = turn.thought ? words.thoughtFor.replace('{n}', String(turn.thought.seconds)) : words.thinking
    body.textContent = turn.thought?.text ?? ''
    fill(panel, header, turn.phase === 'thinking' && turn.skippable && skip, body)
    return element
  }
}
