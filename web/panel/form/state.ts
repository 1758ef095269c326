import { parsed, sortedJSON } from '../../ui/json.ts'
import { isObject } from '../../config/json.ts'
import type { Field, State } from './field.ts'
import { problems } from './problems.ts'

/** Members and items of a fresh form, after which lists are empty: a server may ask for lists within lists. */
const mostFields = 400

/** Values of a default that a form shows. */
const mostOfDefault = 1000

/** A fresh form: defaults, and values without a choice. `room` counts the fields that may still be made. */
export function initial(field: Field, room = { fields: mostFields }): State {
  if (field.default !== undefined && isShort(field.default)) {
    const held = fromValue(field, field.default)
    if ('state' in held) return held.state
  }
  if (!field.required) return undefined
  switch (field.kind) {
    case 'boolean':
      return field.nullable ? undefined : false
    case 'choice':
      return field.options.length === 1 && !field.nullable ? 0 : undefined
    case 'object':
      room.fields -= field.fields.length
      return Object.fromEntries(field.fields.map(({ name, field: f }) => [name, initial(f, room)]))
    case 'array': {
      const items: State[] = []
      for (let n = Math.min(field.minItems ?? 0, 100); n > 0 && room.fields-- > 0; n--)
        items.push(initial(field.item, room))
      return items
    }
    case 'union':
      return { option: 0, state: initial(field.options[0]!.field, room) }
    default:
      return undefined
  }
}

/** Whether a value has few values in it. */
function isShort(value: unknown): boolean {
  let n = 0
  JSON.stringify(value, (_, v: unknown) => {
    n++
    return v
  })
  return n <= mostOfDefault
}

/** The state for a value, or why a form cannot show all of it. */
export type Held = { state: State } | { reason: 'json' | 'big_number' | 'type' | 'unknown_member' | 'no_option' }

/**
 * The form for a JSON text; or the reason why it cannot show all of it.
 * Numbers of more digits than a double keeps are such a reason.
 */
export function fromJSON(field: Field, text: string): Held {
  if (!text.trim()) return { state: undefined }
  const value = parsed(text)
  if (value === undefined) return { reason: 'json' }
  if (/\d{16}|e\+?\d{3}/i.test(text) && losesDigits(text)) return { reason: 'big_number' }
  return fromValue(field, value)
}

function losesDigits(text: string): boolean {
  let quoted = false // a pattern of whole strings would overflow the stack at a long one
  for (const [t] of text.matchAll(/\\.|"|-?\d[\d.eE+-]*/g)) {
    if (t === '"') quoted = !quoted
    if (quoted || t === '"') continue
    const n = Number(t)
    if (
      !Number.isFinite(n) || (/^-?\d{16,}$/.test(t) && (!Number.isSafeInteger(n) || String(n) !== t)) ||
      (/\d{16}/.test(t) && String(n) !== t)
    ) return true
  }
  return false
}

/** The same for a parsed value. */
export function fromValue(field: Field, value: unknown): Held {
  if (field.kind === 'json') return { state: JSON.stringify(value, null, 2) }
  if (value === null && field.nullable) return { state: null }
  switch (field.kind) {
    case 'string':
      return typeof value === 'string' ? { state: value } : { reason: 'type' }
    case 'number':
      return typeof value === 'number' ? { state: Object.is(value, -0) ? '-0' : String(value) } : { reason: 'type' }
    case 'boolean':
      return typeof value === 'boolean' ? { state: value } : { reason: 'type' }
    case 'choice': {
      const text = sortedJSON(value)
      const i = field.options.findIndex((o) => sortedJSON(o.value) === text)
      return i < 0 ? { reason: 'no_option' } : { state: i }
    }
    case 'array': {
      if (!Array.isArray(value)) return { reason: 'type' }
      const states: State[] = []
      for (const v of value) {
        const held = fromValue(field.item, v)
        if ('reason' in held) return held
        states.push(held.state)
      }
      return { state: states }
    }
    case 'object': {
      if (!isObject(value)) return { reason: 'type' }
      const names = new Set(field.fields.map((f) => f.name))
      const unknown = Object.keys(value).find((name) => !names.has(name))
      if (unknown !== undefined) return { reason: 'unknown_member' }
      const states: [string, State][] = []
      for (const { name, field: f } of field.fields) {
        const held: Held = Object.hasOwn(value, name)
          ? fromValue(f, value[name])
          : { state: undefined }
        if ('reason' in held) return held
        states.push([name, held.state])
      }
      return { state: Object.fromEntries(states) }
    }
    case 'union': {
      const able = field.options.map((o, option) => ({ option, held: fromValue(o.field, value) })).filter((o) =>
        'state' in o.held
      )
      const best =
        able.find((o) => 'state' in o.held && !problems(field.options[o.option]!.field, o.held.state).length) ?? able[0]
      return best && 'state' in best.held
        ? { state: { option: best.option, state: best.held.state } }
        : { reason: 'no_option' }
    }
  }
}
