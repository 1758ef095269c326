import { html, nothing, type TemplateResult } from 'lit'
import type { WordsContext } from '../context.ts'
import { line } from '../../ui/text.ts'

/** Says which server asks, and during which tool. */
export const originView = (
  { words: t }: WordsContext,
  { server, tool }: { server: string; tool?: string | undefined },
): TemplateResult =>
  html`<p class="dim">${t('question_from')} <strong><bdi>${line(server, 80)}</bdi></strong>${
    tool ? html` · <bdi class="mono">${line(tool, 128)}</bdi>` : nothing
  }</p>`
