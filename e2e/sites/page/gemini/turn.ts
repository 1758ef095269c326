import type { ErrorKind } from '../../state.ts'
import { words } from '../boot.ts'
import type { Chat, Turn } from '../chat.ts'
import { fill, h, on, shadow } from '../dom.ts'
import { Markdown } from '../markdown.ts'
import type { TurnView } from '../show.ts'
import { dress, icon } from './dress.ts'
import { style } from './style.ts'

const said: Record<ErrorKind, string> = { network: words.network, ratelimit: words.rateLimited, expired: words.expired }

/** A prompt and its answer, each with its own shadow root. */
export function geminiTurn(chat: Chat) {
  return (turn: Turn): TurnView => {
    const user = h('user-query')
    shadow(
      user,
      style,
      h('span', { class: 'sr-only' }, words.youSaid),
      h(
        'div',
        { class: 'query-content' },
        h(
          'div',
          { class: 'query-text', dir: 'ltr' },
          ...turn.prompt.split('\n').map((line) => h('p', { class: 'query-text-line' }, line || h('br'))),
        ),
      ),
    )
    const markdown = new Markdown(
      h('div', { class: 'markdown markdown-main-panel', dir: 'ltr', 'aria-live': 'polite' }),
      dress,
    )
    const thinking = thoughts(chat)
    const heading = h('span', { class: 'sr-only' }, words.answerSaid)
    const content = h('message-content', {}, markdown.element)
    const body = h('div', { class: 'response-container' })
    const model = h('model-response')
    shadow(model, style, body)
    const feedback = h(
      'message-actions',
      {},
      h(
        'div',
        { class: 'actions' },
        ...[['thumb_up', words.good], ['thumb_down', words.bad]].map(([name, label]) =>
          h(
            'button',
            { type: 'button', 'aria-label': label },
            h('img', { alt: name, src: `/icons/${name}.svg`, width: '16', height: '16' }),
          )
        ),
        h('button', { type: 'button', 'aria-label': words.share }, icon('share')),
        h('button', { type: 'button', 'aria-label': words.copy }, icon('content_copy')),
      ),
    )
    const element = h('div', {
      class: 'conversation-container',
      id: crypto.randomUUID().replaceAll('-', '').slice(0, 16),
    })
    let complete = false
    return {
      elements: [element],
      update(turn) {
        fill(element, user, turn.phase !== 'silent' && model)
        markdown.element.setAttribute('aria-busy', String(turn.phase === 'waiting' || turn.phase === 'answering'))
        fill(
          body,
          heading,
          thinking(turn),
          content,
          turn.phase === 'stopped' && h('div', { class: 'stopped' }, words.stopped),
          turn.phase === 'error' &&
            h(
              'div',
              { class: 'error-card', role: 'alert' },
              said[turn.error!],
              turn.error === 'expired' && h('a', { href: 'https://accounts.google.com/ServiceLogin' }, words.logIn),
            ),
          complete && feedback,
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

/** The model's thoughts, closed at first. */
function thoughts(chat: Chat): (turn: Turn) => HTMLElement | undefined {
  const show = h(
    'button',
    { type: 'button', class: 'thoughts-header-button', 'aria-expanded': 'false' },
    words.showThinking,
    icon('expand_more'),
  )
  const text = h('div', { class: 'thoughts-content' })
  const skip = on(h('button', { type: 'button', class: 'skip' }, words.skip), 'click', () => {
    chat.skip()
  })
  const status = h('div', { class: 'status' }, words.thinking)
  const element = h('model-thoughts')
  on(show, 'click', () => {
    const open = show.getAttribute('aria-expanded') !== 'true'
    show.setAttribute('aria-expanded', String(open))
    fill(element, show, open && text)
  })
  return (turn) => {
    if (turn.phase === 'thinking') fill(element, status, turn.skippable && skip)
    else if (!turn.thought) return undefined
    else {
      if (status.isConnected || !show.isConnected) fill(element, show)
      text.textContent = `${words.thoughtFor.replace('{n}', String(turn.thought.seconds))}\n${turn.thought.text}`
    }
    return element
  }
}
