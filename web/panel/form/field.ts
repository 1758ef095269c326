/** One input of a form, made from a JSON Schema. What is foreign text in it has not been cleaned. */
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
export interface BooleanField extends Common {
  kind: 'boolean'
}
export interface ChoiceField extends Common {
  kind: 'choice'
  options: { value: unknown; label: string }[]
}
export interface ObjectField extends Common {
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
export interface UnionField extends Common {
  kind: 'union'
  options: { label: string; field: Field }[]
}
/** JSON text: a widget would lose something. */
export interface JSONField extends Common {
  kind: 'json'
  reason: Reason
}

/** Why there is no widget. */
export type Reason =
  | 'any'
  | 'free_form'
  | 'pattern_properties'
  | 'conditions'
  | 'not'
  | 'all_of'
  | 'tuple'
  | 'ref'
  | 'cycle'
  | 'too_deep'
  | 'too_many'
  | 'mixed'

/**
 * What a form holds. undefined: left out; null: null. string and number: the text
 * as typed; boolean; choice: the option's index; object: states by name; array:
 * states; union: which option, and its state; json: the text.
 */
export type State = undefined | null | string | number | boolean | State[] | { [name: string]: State } | Chosen
export interface Chosen {
  option: number
  state: State
}
