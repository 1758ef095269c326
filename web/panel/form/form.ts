import { get, isObject, strings, text, decoded, type Obj } from '../../config/json.ts'
import type { ChoiceField, Field } from './field.ts'

const maxDepth = 8
const maxFields = 200
const maxOptions = 500

/** A form cannot show what these keywords ask for. */
const beyond = ('patternProperties if dependentSchemas dependentRequired dependencies not prefixItems $dynamicRef ' +
  '$recursiveRef contains').split(' ')
const long = /text|body|content|query|code|sql|prompt|message|markdown|html|script|description|comment/i

/** The form of a tool's inputSchema. Never throws; what has no widget is a JSON field. */
export function formOf(schema: unknown): Field {
  let left = maxFields

  /** `names` are the references on the way here. */
  function make(s: unknown, required: boolean, depth: number, names: string[], name = ''): Field {
    if (--left < 0) return json({}, required)
    if (!isObject(s)) return json({}, required)
    const ref = get(s, '$ref')
    if (typeof ref === 'string') {
      const target = lookup(schema, ref)
      if (names.includes(ref)) return json(s, required)
      if (!isObject(target)) return json(s, required)
      return make(join(target, without(s, '$ref')), required, depth, [...names, ref], name)
    }
    const all = get(s, 'allOf')
    if (Array.isArray(all)) {
      const [only] = all
      if (all.length !== 1 || !isObject(only)) return json(s, required)
      return make(join(only, without(s, 'allOf')), required, depth, names, name)
    }
    if (beyond.some((keyword) => get(s, keyword) !== undefined)) return json(s, required)

    const union = get(s, 'anyOf') ?? get(s, 'oneOf')
    if (Array.isArray(union)) return alternatives(s, union, required, depth, names, name)
    if (get(s, 'const') !== undefined)
      return choice(s, [{ value: s.const, label: labelOf(s.const, text(s, 'title')) }], required)
    const list = get(s, 'enum')
    if (Array.isArray(list)) {
      const labels = get(s, 'enumNames')
      return choice(
        s,
        list.map((value, i) => ({ value, label: labelOf(value, Array.isArray(labels) ? labels[i] : undefined) })),
        required,
      )
    }

    const types = [get(s, 'type')].flat().filter((t) => typeof t === 'string')
    const real = types.filter((t) => t !== 'null')
    if (real.length > 1)
      return alternatives(without(s, 'type'), types.map((type) => ({ type })), required, depth, names, name)
    const common = commonOf(s, required, types.length > real.length)
    const type = real[0] ??
      (isObject(get(s, 'properties'))
        ? 'object'
        : get(s, 'items') !== undefined
        ? 'array'
        : types.length
        ? 'null'
        : undefined)
    const n = (key: string) => number(s, key)
    if (type === 'string') {
      const format = text(s, 'format')
      const pattern = text(s, 'pattern')
      const [minLength, maxLength] = [n('minLength'), n('maxLength')]
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
    if (type === 'number' || type === 'integer') {
      const limits = {
        min: n('minimum'),
        max: n('maximum'),
        above: n('exclusiveMinimum'),
        below: n('exclusiveMaximum'),
        multipleOf: n('multipleOf'),
      }
      return {
        ...common,
        kind: 'number',
        integer: type === 'integer',
        ...Object.fromEntries(Object.entries(limits).filter(([, v]) => v !== undefined)),
      }
    }
    if (type === 'boolean') return { ...common, kind: 'boolean' }
    if (type === 'null') return choice(s, [{ value: null, label: 'null' }], required)
    if (type !== 'array' && type !== 'object') return json(s, required)
    if (depth === maxDepth) return json(s, required)
    if (type === 'object') return object(s, required, depth, names)
    const items = get(s, 'items')
    if (Array.isArray(items)) return json(s, required)
    const [minItems, maxItems] = [n('minItems'), n('maxItems')]
    return {
      ...common,
      kind: 'array',
      item: make(items, true, depth + 1, names, name),
      unique: get(s, 'uniqueItems') === true,
      ...(minItems && { minItems }),
      ...(maxItems !== undefined && { maxItems }),
    }
  }

  function object(s: Obj, required: boolean, depth: number, names: string[]): Field {
    const properties = get(s, 'properties')
    const others = get(s, 'additionalProperties')
    const known = isObject(properties) ? Object.entries(properties) : []
    // A tool without parameters has an empty form; an empty object inside is free.
    const free = isObject(others) || (!known.length && others !== false && (depth > 0 || others === true))
    if (free) return json(s, required)
    const needed = new Set(strings(get(s, 'required')))
    if (known.length > left) return json(s, required)
    return {
      ...commonOf(s, required),
      kind: 'object',
      fields: known.map(([name, p]) => ({ name, field: make(p, needed.has(name), depth + 1, names, name) })),
    }
  }

  function alternatives(
    s: Obj,
    list: unknown[],
    required: boolean,
    depth: number,
    names: string[],
    name: string,
  ): Field {
    if (get(s, 'anyOf') && get(s, 'oneOf')) return json(s, required)
    const base = without(s, 'anyOf', 'oneOf', 'enumNames')
    const isNull = (v: unknown) => get(v, 'type') === 'null' || (isObject(v) && v.const === null)
    const real = list.filter((v) => !isNull(v))
    const nullable = real.length < list.length
    if (real.length > maxOptions) return json(s, required)
    if (real.every((v) => isObject(v) && Object.hasOwn(v, 'const'))) {
      return {
        ...choice(
          base,
          real.map((v) => ({ value: get(v, 'const'), label: labelOf(get(v, 'const'), text(v, 'title')) })),
          required,
        ),
        nullable,
      }
    }
    // Alternatives that only say which members are needed together: the server checks that.
    if (real.every((v) => isObject(v) && Object.keys(v).every((k) => k === 'required')))
      return make(base, required, depth, names, name)
    if (real.length === 1)
      return { ...make(isObject(real[0]) ? join(real[0], base) : real[0], required, depth, names, name), nullable }
    if (depth === maxDepth) return json(s, required)
    const options = real.map((v, i) => {
      const field = make(
        isObject(v) ? join(without(base, 'title', 'description', 'default'), v) : v,
        true,
        depth + 1,
        names,
        name,
      )
      const type = get(v, 'type')
      return {
        field,
        label: text(v, 'title') ?? text(v, '$ref')?.split('/').at(-1) ?? constants(field) ??
          (typeof type === 'string' ? type : String(i + 1)),
      }
    })
    return { ...commonOf(s, required, nullable), kind: 'union', options }
  }

  return make(schema, true, 0, [])
}

const json = (s: Obj, required: boolean): Field => ({ ...commonOf(s, required), kind: 'json' })

function choice(s: Obj, options: ChoiceField['options'], required: boolean): Field {
  if (!options.length || options.length > maxOptions) return json(s, required)
  return { ...commonOf(s, required), kind: 'choice', options }
}

/** What an object says of itself by its constant members. */
function constants(field: Field): string | undefined {
  if (field.kind !== 'object') return undefined
  const said = field.fields.flatMap((
    { field: f },
  ) => (f.kind === 'choice' && f.options.length === 1 ? [f.options[0]!.label] : []))
  return said.join(', ') || undefined
}

function commonOf(s: Obj, required: boolean, nullable = false) {
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

function number(s: Obj, key: string): number | undefined {
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

/** What a local reference points to. */
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
export function join(base: Obj, over: Obj): Obj {
  const both: Obj = { ...base, ...over }
  const properties = [get(base, 'properties'), get(over, 'properties')].filter(isObject)
  const required = [get(base, 'required'), get(over, 'required')].filter(Array.isArray).flat()
  if (properties.length) both.properties = { ...properties[0], ...properties[1] }
  if (required.length) both.required = required
  return both
}

export const without = (o: Obj, ...keys: string[]): Obj =>
  Object.fromEntries(Object.entries(o).filter(([k]) => !keys.includes(k)))
