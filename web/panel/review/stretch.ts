import { html } from 'lit'
import { clean } from '../../ui/text.ts'
import type { Stretch } from './diff.ts'

/** A stretch of a comparison, marked if it is new or gone. */
export const stretch = ({ kind, text }: Stretch) => {
  const shown = clean(text, 20_000)
  return kind === 'gone' ? html`<del>${shown}</del>` : kind === 'come' ? html`<ins>${shown}</ins>` : shown
}
