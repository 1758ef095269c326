import { get, isObject, strings, text, decoded, type JsonObject } from '../../config/json.ts'
import type { ChoiceField, Field } from './field.ts'

const maxDepth = 8
const maxFields = 200
const maxOptions = 500

/** A form cannot show what these keywords ask for. */
const beyond = ('patternProperties if dependentSchemas dependentRequired dependencies not prefixItems $dynamicRef ' +
  '$recursiveRef contains').split(' ')
const long = /text|body|content|query|code|sql|prompt|message|markdown|html|script|description|comment/i

/** Where a schema stands. */
interface Place {
  readonly form: { readonly root: unknown; fieldsLeft: number }
  /** The name of its property, which tells long texts from short ones. */
  name: string
  required: boolean
  depth: number
  /** The references on the way here. */
  refs: string[]
}

/** The form of a tool's inputSchema. Never throws; a schema without a widget is a JSON field. */
export const formOf = (root: unknown): Field =>
  make(root, { form: { root, fieldsLeft: maxFields }, name: '', required: true, depth: 0, refs: [] })

function make(s: unknown, at: Place): Field {
  if (--at.form.fieldsLeft < 0 || !isObject(s)) return json({}, at)
  return joined(s, at) ?? listed(s, at) ?? typed(s, at)
}

/** The field of a schema that refers to another one, or has keywords that no form shows. */
function joined(s: JsonObject, at: Place): Field | undefined {
  const ref = get(s, '$ref')
  if (typeof ref === 'string') {
    const target = lookup(at.form.root, ref)
    if (at.refs.includes(ref) || !isObject(target)) return json(s, at)
    return make(join(target, without(s, '$ref')), { ...at, refs: [...at.refs, ref] })
  }
  const all = get(s, 'allOf')
  if (Array.isArray(all)) {
    const [only] = all
    if (all.length !== 1 || !isObject(only)) return json(s, at)
    return make(join(only, without(s, 'allOf')), at)
  }
  if (beyond.some((keyword) => get(s, keyword) !== undefined)) return json(s, at)
  return undefined
}

/** The field of a schema that lists values or alternatives. */
function listed(s: JsonObject, at: Place): Field | undefined {
  const union = get(s, 'anyOf') ?? get(s, 'oneOf')
  if (Array.isArray(union)) return alternatives(s, union, at)
  if (get(s, 'const') !== undefined)
    return choice(s, [{ value: s.const, label: labelOf(s.const, text(s, 'title')) }], at)
  const list = get(s, 'enum')
  if (!Array.isArray(list)) return undefined
  const labels = get(s, 'enumNames')
  return choice(
    s,
    list.map((value, i) => ({ value, label: labelOf(value, Array.isArray(labels) ? labels[i] : undefined) })),
    at,
  )
}

function typed(s: JsonObject, at: Place): Field {
  const types = [get(s, 'type')].flat().filter((t) => typeof t === 'string')
  const real = types.filter((t) => t !== 'null')
  if (real.length > 1) return alternatives(without(s, 'type'), types.map((type) => ({ type })), at)
  const common = commonOf(s, at, types.length > real.length)
  const type = real[0] ?? (types.length ? 'null' : undefined)
  if (type === 'string') return stringField(s, common, at.name)
  if (type === 'number' || type === 'integer') return numberField(s, common, type === 'integer')
  if (type === 'boolean') return { ...common, kind: 'boolean' }
  const isObjects = type === 'object' || !real.length && isObject(get(s, 'properties'))
  const isList = type === 'array' || !real.length && get(s, 'items') !== undefined
  if (isObjects || isList) {
    if (at.depth === maxDepth) return json(s, at)
    return isObjects ? objectField(s, at) : arrayField(s, common, at)
  }
  return type === 'null' ? choice(s, [{ value: null, label: 'null' }], at) : json(s, at)
}

function arrayField(s: JsonObject, common: Common, at: Place): Field {
  const items = get(s, 'items')
  if (Array.isArray(items)) return json(s, at)
  const [minItems, maxItems] = [number(s, 'minItems'), number(s, 'maxItems')]
  return {
    ...common,
    kind: 'array',
    item: make(items, { ...at, required: true, depth: at.depth + 1 }),
    unique: get(s, 'uniqueItems') === true,
    ...(minItems && { minItems }),
    ...(maxItems !== undefined && { maxItems }),
  }
}

function objectField(s: JsonObject, at: Place): Field {
  const properties = get(s, 'properties')
  const others = get(s, 'additionalProperties')
  const known = isObject(properties) ? Object.entries(properties) : []
  // A tool without parameters has an empty form; an empty object inside is free.
  const free = isObject(others) || (!known.length && others !== false && (at.depth > 0 || others === true))
  if (free || known.length > at.form.fieldsLeft) return json(s, at)
  const needed = new Set(strings(get(s, 'required')))
  return {
    ...commonOf(s, at),
    kind: 'object',
    fields: known.map(([name, p]) => ({
      name,
      field: make(p, { ...at, name, required: needed.has(name), depth: at.depth + 1 }),
    })),
  }
}

function alternatives(s: JsonObject, list: unknown[], at: Place): Field {
  if (get(s, 'anyOf') && get(s, 'oneOf')) return json(s, at)
  const base = without(s, 'anyOf', 'oneOf', 'enumNames')
  const isNull = (v: unknown) => get(v, 'type') === 'null' || (isObject(v) && v.const === null)
  const real = list.filter((v) => !isNull(v))
  const nullable = real.length < list.length
  if (real.length > maxOptions) return json(s, at)
  if (real.every((v) => isObject(v) && Object.hasOwn(v, 'const'))) {
    const options = real.map((v) => ({ value: get(v, 'const'), label: labelOf(get(v, 'const'), text(v, 'title')) }))
    return { ...choice(base, options, at), nullable }
  }
  // Alternatives that only say which members are needed together: the server checks that.
  if (real.every((v) => isObject(v) && Object.keys(v).every((k) => k === 'required'))) return make(base, at)
  if (real.length === 1)
    return { ...make(isObject(real[0]) ? join(real[0], base) : real[0], at), nullable }
  if (at.depth === maxDepth) return json(s, at)
  const shared = without(base, 'title', 'description', 'default')
  const options = real.map((v, i) => {
    const field = make(isObject(v) ? join(shared, v) : v, { ...at, required: true, depth: at.depth + 1 })
    const type = get(v, 'type')
    return {
      field,
      label: text(v, 'title') ?? text(v, '$ref')?.split('/').at(-1) ?? constants(field) ??
        (typeof type === 'string' ? type : String(i + 1)),
    }
  })
  return { ...commonOf(s, at, nullable), kind: 'union', options }
}

type Common = ReturnType<typeof commonOf>

function stringField(s: JsonObject, common: Common, name: string): Field {
  const format = text(s, 'format')
  const pattern = text(s, 'pattern')
  const [minLength, maxLength] = [number(s, 'minLength'), number(s, 'maxLength')]
  const multiline = !format && (maxLength === undefined ? long.test(name) : maxLength > 200)
  return {
    ...common,
    kind: 'string',
    multiline,
    ...(format && { format }),
    ...(pattern && { pattern }),
    ...(minLength && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
  }
}

function numberField(s: JsonObject, common: Common, integer: boolean): Field {
  const limits = {
    min: number(s, 'minimum'),
    max: number(s, 'maximum'),
    above: number(s, 'exclusiveMinimum'),
    below: number(s, 'exclusiveMaximum'),
    multipleOf: number(s, 'multipleOf'),
  }
  const set = Object.entries(limits).filter(([, limit]) => limit !== undefined)
  return { ...common, kind: 'number', integer, ...Object.fromEntries(set) }
}

const json = (s: JsonObject, at: Place): Field => ({ ...commonOf(s, at), kind: 'json' })

function choice(s: JsonObject, options: ChoiceField['options'], at: Place): Field {
  if (!options.length || options.length > maxOptions) return json(s, at)
  return { ...commonOf(s, at), kind: 'choice', options }
}

/** The description of an object by its constant members. */
function constants(field: Field): string | undefined {
  if (field.kind !== 'object') return undefined
  const said = field.fields.flatMap((
    { field: f },
  ) => (f.kind === 'choice' && f.options.length === 1 ? [f.options[0]!.label] : []))
  return said.join(' · ') || undefined
}

function commonOf(s: JsonObject, { required }: Place, nullable = false) {
  const title = text(s, 'title')
  const description = text(s, 'description')
  return {
    required,
    nullable: nullable || get(s, 'nullable') === true,
    ...(title && { title }),
    ...(description && { description }),
    ...(Object.hasOwn(s, 'default') && { default: s.default }),
  }
}

function number(s: JsonObject, key: string): number | undefined {
  const v = get(s, key)
  return typeof v === 'number' && Number.isFinite(v) ? v : undefined
}

const labelOf = (
  value: unknown,
  title: unknown,
): string => (typeof title === 'string' && title.trim()
  ? title
  : typeof value === 'string'
  ? value
  : JSON.stringify(value))

/** The target of a local reference. */
export function lookup(root: unknown, ref: string): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/') || ref.length > 1000) return undefined
  let at = root
  for (const step of ref.slice(2).split('/')) {
    const key = (decoded(step) ?? step).replaceAll('~1', '/').replaceAll('~0', '~')
    at = Array.isArray(at) ? at[Number(key)] : get(at, key)
  }
  return at
}

/** Joins two schemas: `properties` and `required` are merged; for other keywords `over` counts. */
export function join(base: JsonObject, over: JsonObject): JsonObject {
  const both: JsonObject = { ...base, ...over }
  const properties = [get(base, 'properties'), get(over, 'properties')].filter(isObject)
  const required = [get(base, 'required'), get(over, 'required')].filter(Array.isArray).flat()
  if (properties.length) both.properties = { ...properties[0], ...properties[1] }
  if (required.length) both.required = required
  return both
}

export const without = (o: JsonObject, ...keys: string[]): JsonObject =>
  Object.fromEntries(Object.entries(o).filter(([k]) => !keys.includes(k)))
