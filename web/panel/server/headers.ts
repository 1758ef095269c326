import { html, nothing, type TemplateResult } from 'lit'
import { PanelPart } from '../context.ts'
import { define, focusSoon, freshId, reactive, valueOf } from '../../ui/part.ts'
import { cross } from '../../ui/icons.ts'
import { clean } from '../../ui/text.ts'
import type { RedactedConfig } from '../../../wasm/js/shared/types.ts'
import { valueFor } from './credentials.ts'

/** A header that is edited. */
export interface HeaderRow {
  id: string
  name: string
  value: string
  /** It has a value, which is never shown. */
  kept: boolean
  /** It had a value, which was not stored. */
  missing?: boolean
}

const freshRow = (name = ''): HeaderRow => ({ id: freshId(), name, value: '', kept: false })

/** The rows of a configuration. */
export const rowsOf = ({ headers = {}, missingHeaders = [] }: RedactedConfig): HeaderRow[] => [
  ...Object.keys(headers).map((name) => ({ ...freshRow(name), kept: true })),
  ...missingHeaders.map((name) => ({ ...freshRow(name), missing: true })),
]

/** The headers of the rows. With `[redacted]` the registry leaves a header as it is. */
export function headersOf(rows: readonly HeaderRow[]): Record<string, string> {
  return Object.fromEntries(
    rows.filter((r) => r.name.trim()).map((
      r,
    ) => [r.name.trim(), r.kept || (r.missing && !r.value) ? '[redacted]' : valueFor(r.name.trim(), r.value)]),
  )
}

/** Headers with values that can be written but not read. */
class Headers extends PanelPart {
  static override properties = reactive('rows', 'host', 'problems', 'shown')
  declare rows: HeaderRow[]
  /** By the id of a row. */
  declare problems: ReadonlyMap<string, string>
  /** Where they are sent. */
  declare host: string
  /** The row whose value is visible, while its button is held. */
  declare private shown: string | undefined

  protected override render(): TemplateResult {
    return html`<fieldset class="headers"><legend>${this.t('headers')}</legend>
      <p class="dim">${this.t('headers_to', { host: clean(this.host, 100) })}</p>
      ${this.rows.map((row, i) => this.row(row, i + 1))}
      <div class="row">
        <button type="button" class="small" @click=${() => this.add()}>${this.t('add_header')}</button>
        ${
      this.rows.some((r) => r.name.toLowerCase() === 'authorization')
        ? nothing
        : html`<button type="button" class="small" @click=${() => this.add('Authorization')}>${
          this.t('add_authorization')
        }</button>`
    }
      </div></fieldset>`
  }

  private row(row: HeaderRow, n: number): TemplateResult {
    const change = (patch: Partial<HeaderRow>) => this.put(this.rows.map((r) => (r === row ? { ...r, ...patch } : r)))
    const problem = this.problems.get(row.id)
    const note = problem ?? (row.missing && !row.value ? this.t('header_missing') : undefined)
    return html`<div class="header" role="group" aria-label=${this.t('header_n', { n })}>
      <div class="field"><label for="${row.id}-name">${this.t('header_name')}</label>
        <input id="${row.id}-name" dir="ltr" spellcheck="false" autocomplete="off" .value=${row.name}
          ?readonly=${row.kept || row.missing} aria-invalid=${!!problem} aria-describedby="${row.id}-note" @input=${(
      e: Event,
    ) => change({ name: valueOf(e) })}></div>
      <div class="field grow"><label for="${row.id}-value">${this.t('header_value')}</label>
        ${
      row.kept
        ? html`<div class="kept"><span id="${row.id}-value" class="dim">${this.t('header_kept')}</span>
            <button type="button" class="small" @click=${() => change({ kept: false })}>${
          this.t('replace')
        }</button></div>`
        : html`<div class="secret"><input id="${row.id}-value" dir="ltr" type=${
          this.shown === row.id ? 'text' : 'password'
        } autocomplete="off" spellcheck="false" .value=${row.value} @input=${(e: Event) =>
          change({ value: valueOf(e) })}>
            <button type="button" class="small" aria-label=${this.t('reveal_held')} title=${
          this.t('reveal_held')
        } ?disabled=${!row.value} aria-pressed=${this.shown === row.id}
              @pointerdown=${() => (this.shown =
          row.id)} @pointerup=${this.hide} @pointerleave=${this.hide} @blur=${this.hide}
              @keydown=${(e: KeyboardEvent) => {
          if (e.key === ' ' || e.key === 'Enter') {
            e.preventDefault()
            this.shown = row.id
          }
        }} @keyup=${this.hide}>${this.t('reveal')}</button></div>`
    }
      </div>
      <button type="button" class="quiet round" aria-label=${
      this.t('remove_header', { name: row.name || String(n) })
    } @click=${() => this.put(this.rows.filter((r) => r !== row))}>${cross}</button>
      ${note ? html`<p id="${row.id}-note" class="hint ${problem ? 'bad' : 'warn'}">${note}</p>` : nothing}
    </div>`
  }

  private add(name = ''): void {
    const row = freshRow(name)
    this.put([...this.rows, row])
    focusSoon(this, `#${row.id}-${name ? 'value' : 'name'}`)
  }

  private readonly hide = () => {
    this.shown = undefined
  }

  private put(rows: HeaderRow[]): void {
    this.rows = rows
    this.dispatchEvent(new CustomEvent('rows', { detail: rows }))
  }
}

define('portolan-headers', Headers)
