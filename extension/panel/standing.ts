import { html, nothing, type TemplateResult } from 'lit'
import type { Standing } from '../../web/panel/server/status.ts'
import { clean } from '../../web/panel/text.ts'
import type { Link } from '../messages.ts'
import { isKey, type Words } from './words.ts'

/** The link's status by the shapes and colours that servers have. */
export const linkStanding: Record<Link['status'], Standing> = {
  unpaired: 'idle',
  connecting: 'connecting',
  connected: 'connected',
  waiting: 'paused',
  refused: 'failed',
  stopped: 'off',
}

/** The status in words; while it waits, with the time that is left. */
export function linkWords(link: Link, t: Words, now: number): string {
  if (link.status === 'waiting' && link.retryAt !== null) {
    const left = Math.ceil((link.retryAt - now) / 1000)
    return left > 0 ? t('link_waiting_for', { time: t.duration(left * 1000) }) : t('link_connecting')
  }
  return t(`link_${link.status}`)
}

/** Faults whose own English sentence says what to do. */
const complete = new Set(['NOT_PAIRED', 'NOT_PAIRING', 'BAD_ADDRESS'])

/** A fault of the link or of pairing: what it is, its code, and what to do about it if that is known. */
export function fault(error: { code: string; message: string } | null, t: Words): TemplateResult | typeof nothing {
  if (!error) return nothing
  const advice = `advice_${error.code.toLowerCase()}`
  const advises = isKey(advice) && !(complete.has(error.code) && t.locale.startsWith('en'))
  return html`<div class="diagnosis">
    <p><bdi>${clean(error.message, 500)}</bdi> <span class="badge mono">${clean(error.code, 60)}</span></p>
    ${advises ? html`<p>${t(advice)}</p>` : nothing}
  </div>`
}
