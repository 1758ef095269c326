import type { ErrorKind } from '../../state.ts'
import { words } from '../boot.ts'
import type { Chat, Turn } from '../chat.ts'
import { fill, h, on } from '../dom.ts'
import type { Dress } from '../inline.ts'
import { katex } from '../katex.ts'
import { Markdown } from '../markdown.ts'
import type { TurnView } from '../show.ts'
import type { Markup } from './markup.ts'

const said: Record<ErrorKind, string> = { network: words.network, ratelimit: words.rateLimited, expired: words.expired }

const dress: Dress = {
  code: (language, text) =>
    h('div', {}, h('div', {}, language, h('button', {}, words.copy)), h('div', {}, h('pre', {}, h('code', {}, text)))),
  math: katex,
  citation: (label) => h('sup', { class: 'citation supcontainer' }, label),
  image: (alt, source) => h('img', { alt, src: source, width: '320', height: '180' }),
  table: (table) => table,
}

/** A prompt and its answer, in the site's elements. */
export function otherTurn(chat: Chat, markup: Markup) {
  return (turn: Turn): TurnView => {
    const user = markup.user(turn.prompt)
    const rendered = user.querySelector<HTMLElement>('.response-content-markdown') // Grok renders prompts, too
    if (rendered) new Markdown(rendered, dress).paint(turn.prompt)
    const { element, text, end, thinking } = markup.answer(chat.turns.indexOf(turn))
    const home = text.parentElement!
    const markdown = new Markdown(text, dress)
    const think = thoughts(chat, thinking)
    const elements = [user, element]
    let complete = false
    return {
      elements,
      update(turn) {
        const begun = turn.phase !== 'waiting' && turn.phase !== 'silent' || turn.answer !== ''
        if (!begun && elements.length > 1) elements.splice(1)
        if (begun && elements.length < 2) elements.push(element)
        markup.busy?.(element, !complete)
        const alert = turn.phase === 'error' && h('div', { role: 'alert', class: 'trouble' }, said[turn.error!])
        fill(home, think(turn), text, home === element && alert, home === element && complete && end)
        if (home !== element) fill(element, element.firstElementChild!, alert, complete && end)
      },
      paint(turn) {
        markdown.paint(turn.answer)
        complete = turn.phase === 'done' || turn.phase === 'stopped'
        this.update(turn)
      },
    }
  }
}

function thoughts(chat: Chat, element: HTMLElement): (turn: Turn) => HTMLElement | undefined {
  const skip = on(h('button', { type: 'button', class: 'skip' }, words.skip), 'click', () => {
    chat.skip()
  })
  const status = h('div', { class: 'status' }, words.thinking)
  return (turn) => {
    if (turn.phase === 'thinking') fill(element, status, turn.skippable && skip)
    else if (!turn.thought) return undefined
    else {
      const text = `${words.thoughtFor.replace('{n}', String(turn.thought.seconds))}\n${turn.thought.text}`
      if (element.textContent !== text) element.replaceChildren(h('div', { class: 'thought', hidden: true }, text))
    }
    return element
  }
}
