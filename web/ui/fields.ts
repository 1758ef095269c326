import { html, nothing, type TemplateResult } from 'lit'
import { valueOf } from './part.ts'
import { clean } from './text.ts'

/** The options of a select. */
export const options = <V extends string>(
  values: readonly V[],
  chosen: V | undefined,
  face: (value: V) => string,
): TemplateResult[] =>
  values.map((value) => html`<option value=${value} .selected=${value === chosen}>${face(value)}</option>`)

/** A select with its label. */
export const selectField = <V extends string>(
  id: string,
  label: string,
  values: readonly V[],
  chosen: V,
  face: (value: V) => string,
  choose: (value: V) => void,
): TemplateResult =>
  html`<div class="field"><label for=${id}>${label}</label>
    <select id=${id} @change=${(e: Event) => choose(valueOf(e) as V)}>${options(values, chosen, face)}</select></div>`

/** The fault of a field, beside it. The field is described by `<id>-problem`. */
export const fieldProblem = (id: string, problem: string | undefined): TemplateResult | typeof nothing =>
  problem ? html`<p id="${id}-problem" class="hint bad">${problem}</p>` : nothing

/** The fault, and the help against it. */
export interface Fault {
  message: string
  hint?: string | undefined
}

export const faultView = (fault: Fault | undefined, code = ''): TemplateResult | typeof nothing =>
  fault
    ? html`<div class="hint bad" role="alert"><p>${code ? html`<strong class="mono">${code}</strong> ` : nothing}<bdi>${
      clean(fault.message, 2000)
    }</bdi></p>${fault.hint ? html`<p><bdi>${clean(fault.hint, 500)}</bdi></p>` : nothing}</div>`
    : nothing

/** A search field with its label. */
export const searchField = (
  id: string,
  label: string,
  query: string,
  search: (query: string) => void,
): TemplateResult =>
  html`<div class="field grow"><label for=${id}>${label}</label>
    <input id=${id} type="search" spellcheck="false" autocomplete="off" .value=${query}
      @input=${(e: Event) => search(valueOf(e))}></div>`
