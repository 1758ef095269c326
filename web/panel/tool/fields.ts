import { html, nothing, type TemplateResult } from 'lit'
import type { WordsContext } from '../context.ts'
import { focusSoon, freshId, valueOf } from '../../ui/part.ts'
import { cross } from '../../ui/icons.ts'
import type { ArrayField, Chosen, Field, State } from '../form/field.ts'
import { pointerStep, type FieldProblem } from '../form/problems.ts'
import { initial } from '../form/state.ts'
import { clean, line } from '../../ui/text.ts'

/** The attributes that all inputs of a form share. Names of members are foreign, so ids are made for their paths. */
export interface Form {
  panel: WordsContext
  idOf(path: string): string
  problems: ReadonlyMap<string, FieldProblem>
}

/** Makes the ids of a form's paths. */
export function pathIds(): Form['idOf'] {
  const ids = new Map<string, string>()
  return (path) => ids.get(path) ?? ids.set(path, freshId()).get(path)!
}

type Put = (state: State) => void

/** Finds what is wrong: a field, or what is said of a group. */
export const wrongField = '[aria-invalid=true], fieldset > .hint.bad'

/** Shows the browser's message about a half typed value, as a date without its year. To the form it is empty. */
export function saysUnfinished(form: HTMLElement): boolean {
  const unfinished = [...form.querySelectorAll('input')].find((input) => input.validity.badInput)
  unfinished?.closest('details')?.setAttribute('open', '')
  unfinished?.reportValidity()
  return !!unfinished
}

/** An input for a field, or several. `path` is the JSON pointer of its value. */
export function fieldView(
  form: Form,
  field: Field,
  state: State,
  path: string,
  name: string,
  put: Put,
): TemplateResult {
  const { words: t } = form.panel
  const id = form.idOf(path)
  const label = line(field.title ?? name, 100)
  const given = state !== undefined && state !== null
  // The fault of the chosen variant is said there.
  const problem = field.kind === 'union' && given ? undefined : form.problems.get(path)
  const described = `${id}-about ${id}-problem`
  const about = html`${
    field.description ? html`<p class="dim" id="${id}-about"><bdi>${clean(field.description, 600)}</bdi></p>` : nothing
  }
    ${
    problem
      ? html`<p class="hint bad" id="${id}-problem" tabindex="-1">${
        t(`field_${problem.code}`, problem.limit === undefined ? {} : { n: problem.limit })
      }</p>`
      : nothing
  }`
  // Whether an optional group is present is a choice of its own.
  if (field.kind === 'object' || field.kind === 'array' || field.kind === 'union') {
    return html`<fieldset class="part" aria-describedby=${described}><legend><bdi>${label}</bdi>${
      field.required ? nothing : html` <span class="dim">(${t('optional')})</span>`
    }</legend>
      ${about}
      ${
      field.required && !field.nullable ? nothing : html`<label class="choice"><input type="checkbox" .checked=${given}
        @change=${(e: Event) =>
        put(
          (e.target as HTMLInputElement).checked
            ? initial({ ...field, required: true, default: undefined })
            : field.nullable && field.required
            ? null
            : undefined,
        )}><span>${t('set_field', { name: label })}</span></label>`
    }
      ${given ? inside(form, field, state, path, put) : nothing}
    </fieldset>`
  }
  return html`<div class="field"><label for=${id}><bdi>${label}</bdi>${
    field.required ? nothing : html` <span class="dim">(${t('optional')})</span>`
  }</label>
    ${input(form, field, state, id, described, !!problem, put)}${about}
    ${field.kind === 'json' ? html`<p class="dim">${t('json_here')}</p>` : nothing}</div>`
}

function inside(form: Form, field: Field, state: State, path: string, put: Put): TemplateResult | TemplateResult[] {
  const { words: t } = form.panel
  if (field.kind === 'object') return membersView(form, field, state, path, put)
  if (field.kind === 'array') return itemsView(form, field, Array.isArray(state) ? state : [], path, put)
  if (field.kind !== 'union') return []
  const { option, state: inner } = state as Chosen
  const id = `${form.idOf(path)}-variant`
  // A variant has the path of its union, and other ids.
  const within = { ...form, idOf: (path: string) => form.idOf(`${option} ${path}`) }
  return html`<div class="field"><label for=${id}>${t('variant')}</label>
      <select id=${id} @change=${(e: Event) => {
    const option = Number(valueOf(e))
    put({ option, state: initial(field.options[option]!.field) })
  }}>
        ${
    field.options.map((o, i) => html`<option value=${i} .selected=${i === option}>${line(o.label, 80)}</option>`)
  }</select></div>
    ${
    fieldView(within, field.options[option]!.field, inner, path, field.options[option]!.label, (s) =>
      put({ option, state: s }))
  }`
}

/** The members of an object, without a frame. */
export function membersView(form: Form, field: Field, state: State, path: string, put: Put): TemplateResult[] {
  if (field.kind !== 'object') return []
  const states = (state ?? {}) as { [name: string]: State }
  return field.fields.map(({ name, field: member }) =>
    fieldView(
      form,
      member,
      Object.hasOwn(states, name) ? states[name] : undefined,
      `${path}/${pointerStep(name)}`,
      name,
      (s) => put(Object.fromEntries([...Object.entries(states).filter(([n]) => n !== name), [name, s]])),
    )
  )
}

function itemsView(form: Form, field: ArrayField, items: State[], path: string, put: Put): TemplateResult {
  const { words: t } = form.panel
  return html`<ol class="items">${
    items.map((item, i) =>
      html`<li>
      <div>${
        fieldView(form, field.item, item, `${path}/${i}`, t('item_n', { n: i + 1 }), (s) =>
          put(items.map((old, j) => (j === i ? s : old))))
      }</div>
      <button type="button" class="quiet round" aria-label=${t('remove_item', { n: i + 1 })} @click=${() =>
        put(items.filter((_, j) =>
          j !== i
        ))}>${cross}</button></li>`
    )
  }</ol>
    <button type="button" class="small" ?disabled=${items.length >= (field.maxItems ?? 500)} @click=${(e: Event) => {
    const list = (e.currentTarget as HTMLElement).previousElementSibling!
    put([...items, initial(field.item)])
    focusSoon(list, ':scope > :last-child :is(input, select, textarea)')
  }}>${t('add_item')}</button>`
}

const inputTypes: Record<string, string> = { email: 'email', uri: 'url', url: 'url', date: 'date' }

function input(
  form: Form,
  field: Field,
  state: State,
  id: string,
  described: string,
  wrong: boolean,
  put: Put,
): TemplateResult {
  const { words: t } = form.panel
  // A field that is emptied is left out, where it may be. A text that has to be there may be empty.
  const typed = (e: Event) => {
    const { value } = e.target as HTMLInputElement
    put(value === '' && !(field.kind === 'string' && field.required) ? undefined : value)
  }
  switch (field.kind) {
    case 'boolean': {
      const values = [
        ...(field.required && !field.nullable && state !== undefined ? [] : [[undefined, t('none')] as const]),
        ...(field.nullable ? [[null, 'null'] as const] : []),
        [true, 'true'] as const,
        [false, 'false'] as const,
      ]
      return html`<select id=${id} aria-describedby=${described} aria-invalid=${wrong} @change=${(e: Event) =>
        put(values[(e.target as HTMLSelectElement).selectedIndex]![0])}>
        ${values.map(([v, label]) => html`<option .selected=${v === state}>${label}</option>`)}</select>`
    }
    case 'choice': {
      const open = state === undefined || !field.required
      return html`<select id=${id} aria-describedby=${described} aria-invalid=${wrong} @change=${(e: Event) => {
        const { value } = e.target as HTMLSelectElement
        put(value === '' ? undefined : value === 'null' ? null : Number(value))
      }}>
        ${
        open
          ? html`<option value="" .selected=${state === undefined}>${t(field.required ? 'choose' : 'none')}</option>`
          : nothing
      }
        ${field.nullable ? html`<option value="null" .selected=${state === null}>null</option>` : nothing}
        ${
        field.options.map((o, i) => html`<option value=${i} .selected=${state === i}>${line(o.label, 100)}</option>`)
      }</select>`
    }
    case 'string':
      if (!field.multiline) {
        return html`<input id=${id} type=${
          inputTypes[field.format ?? ''] ?? 'text'
        } autocomplete="off" aria-describedby=${described} aria-invalid=${wrong} title=${
          field.pattern ? line(field.pattern, 200) : nothing
        } .value=${String(state ?? '')} @input=${typed}>`
      }
    // falls through: a text of several lines
    case 'json':
      return html`<textarea id=${id} rows="3" class=${field.kind === 'json' ? 'mono' : nothing} spellcheck=${
        field.kind !== 'json'
      } aria-describedby=${described} aria-invalid=${wrong} .value=${String(state ?? '')} @input=${typed}></textarea>`
    case 'number':
      return html`<input id=${id} type="text" inputmode=${
        field.integer ? 'numeric' : 'decimal'
      } autocomplete="off" aria-describedby=${described} aria-invalid=${wrong} .value=${
        String(state ?? '')
      } @input=${typed}>`
    default:
      return html``
  }
}
