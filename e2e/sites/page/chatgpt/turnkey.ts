import { words } from '../boot.ts'
import type { Chat, Turn } from '../chat.ts'
import { fill, h } from '../dom.ts'
import { glyph } from '../glyph.ts'
import { Markdown } from '../markdown.ts'
import type { TurnView } from '../show.ts'
import { thinkingBlock } from './article.ts'
import { dress } from './dress.ts'
import { trouble } from './trouble.ts'

/** The newer generation: one element holds a prompt and its answer. */
export function turnKeyTurn(chat: Chat) {
  return (turn: Turn): TurnView => {
    const bubble = h(
      'div',
      { 'data-user-message-bubble': true, class: 'bubble' },
      h('div', { class: 'whitespace-pre-wrap' }, turn.prompt),
    )
    const heading = h('h4', { class: 'sr-only', 'data-conversation-role': 'assistant' }, words.answerSaid)
    const markdown = new Markdown(
      h('div', { 'data-markdown-text-style': 'assistant-message', class: '_markdown_1a7kf' }),
      dress,
    )
    const thinking = thinkingBlock(chat)
    const actions = h(
      'div',
      { role: 'group', class: 'actions' },
      ...[[words.copy, 'copy'], [words.good, 'up'], [words.bad, 'down'], [words.share, 'share']].map((
        [label, drawing],
      ) => h('button', { type: 'button', 'aria-label': label }, glyph(drawing!))),
    )
    const element = h('div', { 'data-turn-key': keyOf(turn), class: 'turn' })
    let complete = false
    let begun = false
    return {
      elements: [element],
      update(turn) {
        const heads = turn.phase !== 'silent'
        fill(
          element,
          bubble,
          heads && heading,
          heads ? thinking(turn) : undefined,
          begun && markdown.element,
          turn.phase === 'error' && trouble(turn.error!),
          complete && actions,
        )
      },
      paint(turn) {
        begun ||= turn.answer !== '' || turn.phase === 'done'
        markdown.paint(turn.answer)
        complete = turn.phase === 'done' || turn.phase === 'stopped'
        this.update(turn)
      },
    }
  }
}

const keys = new WeakMap<Turn, string>()

/** The key of a turn. It stays when the element is replaced. */
export function keyOf(turn: Turn): string {
  const key = keys.get(turn) ?? `turn-${turn.id}`
  keys.set(turn, key)
  return key
}
