import { showBadge } from '../browser.ts'
import type { State } from '../messages.ts'

let shown = ''

/** The toolbar's button tells the most pressing of what there is. */
export function showState(state: State): void {
  const driven = state.runs.filter((r) => r.phase !== 'queued')
  const [text, color, title] = state.stopped
    ? ['■', '#6b7280', 'stopped']
    : state.approvals.length
    ? [
      '?',
      '#b45309',
      state.approvals.length === 1 ? 'a question waits for you' : `${state.approvals.length} questions wait for you`,
    ]
    : driven.length
    ? [String(driven.length), '#1d4ed8', `driving ${driven.map((r) => state.chats[r.site].label).join(', ')}`]
    : state.link.status === 'refused'
    ? ['!', '#b91c1c', 'the bridge refused']
    : [
      '',
      '#15803d',
      state.link.status === 'connected'
        ? 'connected to the bridge'
        : state.link.status === 'unpaired'
        ? 'not paired yet'
        : 'looking for the bridge',
    ]
  const next = `${text} ${title}`
  if (next === shown) return
  shown = next
  showBadge(text!, color!, `Portolan: ${title}`)
}
