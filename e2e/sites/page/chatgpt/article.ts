import { words } from '../boot.ts'
import type { Chat, Turn } from '../chat.ts'
import { fill, h, on } from '../dom.ts'
import { glyph } from '../glyph.ts'
import { Markdown } from '../markdown.ts'
import type { TurnView } from '../show.ts'
import { dress } from './dress.ts'
import { testId } from './testid.ts'
import { trouble } from './trouble.ts'

/** The older generation: one article for the prompt and one for its answer. */
export function articleTurn(chat: Chat) {
  return (turn: Turn): TurnView => {
    const n = chat.turns.indexOf(turn) * 2 + 1
    const user = h(
      'article',
      {
        class: 'text-token-text-primary w-full',
        dir: 'auto',
        'data-turn-id': crypto.randomUUID(),
        ...testId(`conversation-turn-${n}`),
        'data-turn': 'user',
      },
      h('h5', { class: 'sr-only' }, words.youSaid),
      h('div', {
        'data-message-author-role': 'user',
        'data-message-id': crypto.randomUUID(),
        dir: 'auto',
        class: 'text-message',
      }, h('div', { class: 'user-message-bubble-color' }, h('div', { class: 'whitespace-pre-wrap' }, turn.prompt))),
    )
    const markdown = new Markdown(
      h('div', { class: 'markdown prose dark:prose-invert w-full break-words light' }),
      dress,
    )
    const message = h('div', {
      'data-message-author-role': 'assistant',
      'data-message-id': `request-placeholder-${turn.id}`,
      'data-message-model-slug': (turn.model ?? 'GPT-5').toLowerCase().replace(' ', '-'),
      dir: 'auto',
      class: 'text-message',
    }, markdown.element)
    const heading = h('h6', { class: 'sr-only' }, words.answerSaid)
    const assistant = h(
      'article',
      {
        class: 'text-token-text-primary w-full',
        dir: 'auto',
        'data-turn-id': turn.id,
        ...testId(`conversation-turn-${n + 1}`),
        'data-turn': 'assistant',
      },
      heading,
      message,
    )
    const thinking = thinkingBlock(chat)
    const actions = h(
      'div',
      { class: 'actions' },
      ...[['copy-turn-action-button', words.copy, 'copy'], ['good-response-turn-action-button', words.good, 'up'], [
        'bad-response-turn-action-button',
        words.bad,
        'down',
      ], ['share-turn-action-button', words.share, 'share']]
        .map(([id, label, drawing]) =>
          h('button', { type: 'button', ...testId(id!), 'aria-label': label }, glyph(drawing!))
        ),
    )
    const elements = [user, assistant]
    let complete = false
    return {
      elements,
      update(turn) {
        const shown = turn.phase !== 'silent'
        if (!shown) elements.splice(1)
        // The message gets its real id once the backend has one.
        if (turn.phase === 'answering' || turn.phase === 'done') message.setAttribute('data-message-id', turn.id)
        markdown.element.classList.toggle('result-streaming', turn.phase === 'waiting' || turn.phase === 'answering')
        fill(
          assistant,
          heading,
          thinking(turn),
          message,
          turn.phase === 'error' && trouble(turn.error!),
          complete && actions,
        )
      },
      paint(turn) {
        markdown.paint(turn.answer)
        complete = turn.phase === 'done' || turn.phase === 'stopped'
        this.update(turn)
      },
    }
  }
}

/** The line about the thinking above an answer. Opening it shows the thoughts. */
export function thinkingBlock(chat: Chat): (turn: Turn) => HTMLElement | undefined {
  const skip = on(h('button', { type: 'button', class: 'skip' }, words.skip), 'click', () => {
    chat.skip()
  })
  const shimmer = h('div', { class: 'thinking' }, h('span', { class: 'loading-shimmer' }, words.thinking))
  const label = h('button', { type: 'button', class: 'thought', 'aria-expanded': 'false' })
  const thoughts = h('div', { class: 'thoughts' })
  const done = h('div', { class: 'thinking' }, label)
  on(label, 'click', () => {
    const open = label.getAttribute('aria-expanded') !== 'true'
    label.setAttribute('aria-expanded', String(open))
    fill(done, label, open && thoughts)
  })
  return (turn) => {
    if (turn.phase === 'thinking') {
      fill(shimmer, shimmer.firstChild!, turn.skippable && skip)
      return shimmer
    }
    if (!turn.thought) return undefined
    label.textContent = words.thoughtFor.replace('{n}', String(turn.thought.seconds))
    thoughts.textContent = turn.thought.text
    return done
  }
}
