import { get, isObject } from '../config/value.ts'
import type { Chosen, Field, State } from './field.ts'

/** The JSON text of what a form holds; undefined: it is left out. What is no number or no JSON yet is left out, too. */
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
      return isJSON(String(state)) ? String(state).trim().replaceAll('\n', '\n' + indent) : undefined
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

export function isJSON(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
