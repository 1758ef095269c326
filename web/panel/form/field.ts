import { get, isObject } from '../../config/json.ts'
import { parsed } from '../../ui/json.ts'

/** One input of a form, made from a JSON Schema. Its foreign texts have not been cleaned. */
export type Field =
  | StringField
  | NumberField
  | BooleanField
  | ChoiceField
  | ObjectField
  | ArrayField
  | UnionField
  | JSONField

interface Common {
  title?: string
  description?: string
  /** Its object is not complete without it. */
  required: boolean
  /** null is a value, too. */
  nullable: boolean
  default?: unknown
}
export interface StringField extends Common {
  kind: 'string'
  multiline: boolean
  format?: string
  minLength?: number
  maxLength?: number /** To be shown: it is the server's, and not run here. */
  pattern?: string
}
export interface NumberField extends Common {
  kind: 'number'
  integer: boolean
  min?: number
  max?: number
  above?: number
  below?: number
  multipleOf?: number
}
interface BooleanField extends Common {
  kind: 'boolean'
}
export interface ChoiceField extends Common {
  kind: 'choice'
  options: { value: unknown; label: string }[]
}
interface ObjectField extends Common {
  kind: 'object'
  fields: { name: string; field: Field }[]
}
export interface ArrayField extends Common {
  kind: 'array'
  item: Field
  minItems?: number
  maxItems?: number
  unique: boolean
}
interface UnionField extends Common {
  kind: 'union'
  options: { label: string; field: Field }[]
}
/** JSON text, for what a form would lose something of. */
interface JSONField extends Common {
  kind: 'json'
}

/**
 * The content of a form. undefined: left out; null: null. string and number: the text
 * as typed; boolean; choice: the option's index; object: states by name; array:
 * states; union: which option, and its state; json: the text.
 */
export type State = undefined | null | string | number | boolean | State[] | { [name: string]: State } | Chosen
export interface Chosen {
  option: number
  state: State
}

/** The JSON text of a form's content; undefined: it is left out. A half typed number or JSON is left out, too. */
export function toJSON(field: Field, state: State, indent = ''): string | undefined {
  if (state === undefined) return undefined
  if (state === null) return 'null'
  const inner = indent + '  '
  const wrap = (
    open: string,
    parts: string[],
    close: string,
  ) => (parts.length ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}` : open + close)
  switch (field.kind) {
    case 'string':
      return JSON.stringify(String(state))
    case 'number':
      return numberText(String(state))
    case 'boolean':
      return String(state === true)
    case 'choice':
      return JSON.stringify(field.options[Number(state)]?.value)
    case 'json':
      return parsed(String(state)) === undefined ? undefined : String(state).trim().replaceAll('\n', '\n' + indent)
    case 'array':
      return Array.isArray(state) ? wrap('[', state.flatMap((s) => toJSON(field.item, s, inner) ?? []), ']') : undefined
    case 'union':
      return isObject(state) && field.options[Number(state.option)]
        ? toJSON(field.options[Number(state.option)]!.field, (state as unknown as Chosen).state, indent)
        : undefined
    case 'object':
      return wrap(
        '{',
        field.fields.flatMap(({ name, field: f }) => {
          const text = toJSON(f, get(state, name) as State, inner)
          return text === undefined ? [] : [JSON.stringify(name) + ': ' + text]
        }),
        '}',
      )
  }
}

/** A number as JSON writes it, with all its digits; undefined: it is none. */
export function numberText(typed: string): string | undefined {
  const s = typed.trim()
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(s)) return s
  return s && Number.isFinite(Number(s)) && /^[+-]?[\d.]+(?:[eE][+-]?\d+)?$/.test(s) ? String(Number(s)) : undefined
}
