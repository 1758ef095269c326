import type { Codes } from '../translations.ts'
import { get, isObject } from '../../config/json.ts'
import { parsed } from '../../ui/json.ts'
import { numberText, toJSON, type Chosen, type Field, type NumberField, type State, type StringField } from './field.ts'

/** The fault at one place of a form. `path` is a JSON pointer; `limit` is for the message. */
export interface FieldProblem {
  path: string
  code: Codes<'field_'>
  limit?: number | string
}

const maxProblems = 50

/** The faults that keep a form from being sent, or will be refused. The server checks patterns. */
export function problems(field: Field, state: State): FieldProblem[] {
  const found: FieldProblem[] = []
  const add = (path: string, code: FieldProblem['code'], limit?: number | string) => {
    if (found.length < maxProblems) found.push(limit === undefined ? { path, code } : { path, code, limit })
  }

  function check(f: Field, s: State, path: string): void {
    if (s === undefined || (f.kind === 'json' && s === '')) {
      if (f.required) add(path, 'required')
      return
    }
    if (s === null) return
    switch (f.kind) {
      case 'string':
        return text(f, String(s), path)
      case 'number':
        return number(f, String(s), path)
      case 'json':
        return parsed(String(s)) === undefined ? add(path, 'not_json') : undefined
      case 'object':
        for (const { name, field: inner } of f.fields)
          check(inner, get(s, name) as State, `${path}/${pointerStep(name)}`)
        return
      case 'union': {
        const option = isObject(s) ? f.options[Number(s.option)] : undefined
        return option ? check(option.field, (s as Chosen).state, path) : add(path, 'required')
      }
      case 'choice':
        return f.options[Number(s)] ? undefined : add(path, 'required')
      case 'array': {
        if (!Array.isArray(s)) return
        if (f.minItems !== undefined && s.length < f.minItems) add(path, 'min_items', f.minItems)
        if (f.maxItems !== undefined && s.length > f.maxItems) add(path, 'max_items', f.maxItems)
        if (f.unique && new Set(s.map((e) => toJSON(f.item, e))).size < s.length) add(path, 'not_unique')
        s.forEach((e, i) => check(f.item, e, `${path}/${i}`))
      }
    }
  }

  function text(f: StringField, s: string, path: string): void {
    const length = s.length > 1e5 ? s.length : [...s].length
    if (f.minLength !== undefined && length < f.minLength) add(path, 'min_length', f.minLength)
    if (f.maxLength !== undefined && length > f.maxLength) add(path, 'max_length', f.maxLength)
    if (f.format && formats.has(f.format) && !formats.get(f.format)!(s)) add(path, 'format', f.format)
  }

  function number(f: NumberField, typed: string, path: string): void {
    const written = numberText(typed)
    if (written === undefined) return add(path, 'not_a_number')
    const n = Number(written)
    if (f.integer && !Number.isInteger(n) && Number.isFinite(n)) add(path, 'not_whole')
    if (f.min !== undefined && n < f.min) add(path, 'min', f.min)
    if (f.max !== undefined && n > f.max) add(path, 'max', f.max)
    if (f.above !== undefined && n <= f.above) add(path, 'above', f.above)
    if (f.below !== undefined && n >= f.below) add(path, 'below', f.below)
    const steps = f.multipleOf ? n / f.multipleOf : 0
    // Decimal steps such as 0.1 are rounded, and so is the quotient.
    if (Math.abs(steps - Math.round(steps)) > 1e-9 + Math.abs(steps) / 2 ** 51) add(path, 'multiple_of', f.multipleOf)
  }

  check(field, state, '')
  return found
}

const day = /^\d{4}-\d\d-\d\d$/
const clock = /^\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i
const formats = new Map<string, (s: string) => boolean>([
  ['uri', (s) => URL.canParse(s)],
  ['url', (s) => URL.canParse(s)],
  ['email', (s) => /^[^@\s]{1,64}@[^@\s]{1,255}$/.test(s)],
  ['date', (s) => day.test(s) && !Number.isNaN(Date.parse(s))],
  [
    'date-time',
    (s) =>
      day.test(s.slice(0, 10)) && /[T ]/i.test(s[10] ?? '') && clock.test(s.slice(11)) && !Number.isNaN(Date.parse(s)),
  ],
  ['time', (s) => clock.test(s)],
  ['uuid', (s) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(s)],
])

/** A member's name as a step of a JSON pointer. */
export const pointerStep = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
