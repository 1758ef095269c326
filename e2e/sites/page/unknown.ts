import { words } from './boot.ts'
import type { Chat, Turn } from './chat.ts'
import { arrive, Composer } from './composer.ts'
import { fill, h, on } from './dom.ts'
import { Timeline, type TurnView } from './show.ts'

/** A chat that works without any known mark, like a future generation of the page. */
export function unknownPage(chat: Chat): void {
  const field = h('div', {
    class: 'x7f',
    contenteditable: 'plaintext-only',
    style: 'border: 1px solid; padding: 8px; white-space: pre-wrap',
  })
  const composer = new Composer(chat, {
    element: field,
    text: () => field.innerText,
    set: (text) => {
      field.innerText = text
    },
  }, show)
  const send = on(h('span', { class: 'x9k', tabindex: '0' }, '➤'), 'click', () => {
    composer.clicked()
  })
  const stop = on(h('span', { class: 'x9q', tabindex: '0' }, '◼'), 'click', () => {
    chat.stop()
  })
  const place = h('div', { class: 'x3' })
  const buttons = h('div', { class: 'x4' })
  const timeline = new Timeline(turnView, (shown) => {
    fill(place, ...shown.flatMap(({ elements }) => elements))
  })
  on(field, 'input', () => {
    composer.edited()
  })
  on(field, 'keydown', (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    composer.entered()
  })
  function show(): void {
    timeline.show(chat)
    fill(buttons, chat.running ? stop : send)
  }
  chat.changed = show
  document.body.append(
    h(
      'div',
      { class: 'x1', style: 'max-width: 700px; margin: 24px auto; font-family: system-ui' },
      place,
      field,
      buttons,
    ),
  )
  arrive(show)
}

function turnView(turn: Turn): TurnView {
  const prompt = h('div', { class: 'xa', style: 'font-weight: bold; white-space: pre-wrap' }, turn.prompt)
  const answer = h('div', { class: 'xb', style: 'white-space: pre-wrap; margin: 8px 0 24px' })
  return {
    elements: [prompt, answer],
    update(turn) {
      if (turn.error)
        answer.textContent =
          { network: words.network, ratelimit: words.rateLimited, expired: words.expired }[turn.error]
    },
    paint(turn) {
      if (!turn.error) answer.textContent = turn.answer
    },
  }
}
