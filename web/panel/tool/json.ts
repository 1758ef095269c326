import { html, nothing, type TemplateResult } from 'lit'
import type { WordsContext } from '../context.ts'
import { define, Part, reactive } from '../../ui/part.ts'
import { clean } from '../../ui/text.ts'

/** Members made at once. */
const step = 100

/** Members of one level that are made unasked. */
const mostUnasked = 2000

/** A JSON value as a tree whose branches are made when they are opened. */
class JSONTree extends Part<WordsContext> {
  static override properties = reactive('label', 'value', 'levels', 'room', 'open', 'shown')
  static override initial = { levels: 0, room: mostUnasked, shown: step }
  declare label: string
  declare value: unknown
  /** The number of levels that are open at first. */
  declare levels: number
  /** A branch of more members is not open to begin with. */
  declare room: number
  declare private open: boolean | undefined
  declare private shown: number

  protected override render(): TemplateResult {
    const { value } = this
    const label = this.label === undefined
      ? nothing
      : html`<span class="key"><bdi>${clean(this.label, 200)}</bdi>: </span>`
    if (typeof value !== 'object' || value === null) {
      return html`<div class="leaf mono">${label}<span class=${value === null ? 'null' : typeof value}><bdi>${
        clean(JSON.stringify(value) ?? 'undefined', 4000)
      }</bdi></span></div>`
    }
    const entries = Object.entries(value)
    const made = Math.min(entries.length, step)
    const open = this.open ?? (this.levels > 0 && made <= this.room)
    const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
    return html`<details class="mono" ?open=${open} @toggle=${(e: Event) => {
      e.stopPropagation()
      this.open = (e.target as HTMLDetailsElement).open
    }}>
      <summary>${label}<span class="dim">${size}</span></summary>
      ${
      open
        ? html`<div class="branch">${
          entries.slice(0, this.shown).map(([key, v]) =>
            html`<portolan-json .panel=${this.panel} .label=${key} .value=${v} .levels=${this.levels - 1} .room=${
              Math.floor(this.room / made)
            }></portolan-json>`
          )
        }
        ${
          entries.length > this.shown
            ? html`<button type="button" class="small" @click=${() => (this.shown += step)}>${
              this.t('show_rest', { n: entries.length - this.shown })
            }</button>`
            : nothing
        }</div>`
        : nothing
    }
    </details>`
  }
}

define('portolan-json', JSONTree)
