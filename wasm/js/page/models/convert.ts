// Converts tools to the form of a provider's API. getTools() is synchronous and cannot wait for the module, so this
// runs in the page. registry/convert does the same on JSON text and explains it. testdata/convert holds both to one
// output.

import { isObject } from '../../shared/object.ts'
import { step } from '../../shared/pointer.ts'
import { geminiParameters } from './gemini.ts'
import {
  clip,
  Conversion,
  describeSchema,
  hasShape,
  holdsSchemas,
  isBool,
  isSound,
  json,
  set,
  shape,
  shapeOf,
  wellFormed,
  type Schema,
  type SchemaLoss,
} from './schemashape.ts'
import { brokenRefs, inOneDocument, refsAreSound } from './schemarefs.ts'
import { rootView, typesOf } from './schemaview.ts'
import { maxSchemaDepth, maxSchemas } from '../../shared/wire.gen.ts'
import type { Dialect, Tool } from '../../shared/types.ts'

/**
 * Converts one tool to a dialect. `name` is the name for models. `def` is the Tool object of the MCP spec and may have
 * any content. The result shares values with `def`, so both are read-only. `onLoss` gets what the dialect cannot
 * express.
 */
export function toolFor(
  dialect: Dialect,
  name: string,
  server: string,
  def: unknown,
  onLoss?: (loss: SchemaLoss) => void,
): Tool {
  const c = new Conversion(isObject(def) ? def.inputSchema : undefined, maxSchemas)
  const tool = convert(c, dialect, name, server, def)
  if (onLoss) c.losses.forEach(onLoss)
  return tool
}

function convert(c: Conversion, dialect: Dialect, name: string, server: string, def: unknown): Tool {
  const d = (isObject(def) ? def : {}) as {
    description?: unknown
    title?: unknown
    annotations?: { title?: unknown }
    name?: unknown
  }
  const words = [d.description, d.title, d.annotations?.title, d.name].find((w) => w && typeof w === 'string') ?? name
  const description = `[${server}] ${wellFormed(words) as string}`
  switch (dialect) {
    case 'gemini': {
      c.root = inOneDocument(isSound(c.root) ? c.root : wellFormed(c.root))
      const parameters = geminiParameters(c)
      if (parameters.properties) return { name, description, parameters }
      // Gemini refuses an object without properties: such a tool has no parameters.
      return { name, description: parameters.description ? description + ' ' + parameters.description : description }
    }
    case 'anthropic':
      return { name, description, input_schema: jsonSchema(c, (key) => /^[\w.-]{1,64}$/.test(key)) }
    case 'openai-responses':
      return { type: 'function', name, description, parameters: jsonSchema(c), strict: false }
    default:
      return { type: 'function', function: { name, description, parameters: jsonSchema(c) } }
  }
}

function jsonSchema(c: Conversion, accepts = (_key: string) => true): Schema {
  const root = c.root
  const plain = { left: 5000, refs: [] as Schema[] }
  if (
    isObject(root) && root.type === 'object' && isObject(root.properties) &&
    isPlain(root, plain, 0) && Object.keys(root.properties).every(accepts) && refsAreSound(root, plain.refs)
  ) {
    if (!('$schema' in root)) return root
    const { $schema: _, ...out } = root
    return out
  }
  c.root = inOneDocument(isSound(root) ? root : wellFormed(root))
  const { schema, notes } = rootView(c)
  const properties = Object.entries(schema.properties as Schema)
  schema.properties = Object.fromEntries(properties.filter(([key]) => accepts(key)))
  for (const [key, s] of properties) {
    if (accepts(key)) continue
    c.at(step('properties') + step(key), () => c.lose('property: its name is refused, moved into the description'))
    notes.push(`property ${json(key)}: ${clip(json(s))}`)
  }
  if (schema.required) schema.required = (schema.required as string[]).filter(accepts)
  const out = copySchema(c, schema, 0)
  describeSchema(out, notes)
  dropBroken(c, out)
  return out
}

/**
 * Whether copySchema would change nothing, which is true of nearly all schemas. The check costs a fifth of a copy, and
 * the page waits for it.
 */
function isPlain(s: unknown, c: { left: number; refs: Schema[] }, depth: number): boolean {
  if (!isObject(s) || depth > maxSchemaDepth || --c.left < 0) return false
  for (const key in s) {
    if (depth ? key === '$schema' : atRoot.has(key)) return false
    const v = s[key]
    const kind = key === '$schema' ? 's' : shapeOf(key)
    if (typeof v === 'string' ? !v.isWellFormed() : !holdsSchemas(kind) && !isSound(v)) return false
    if (!kind && !key.isWellFormed()) return false
    if (!kind && isObject(v)) return false
    if (kind && (kind === '-' || kind === 'D' || !hasShape(kind, v) || (key === '$ref' && !depth))) return false
    if (key === '$ref') c.refs.push(s)
    if (kind === 'S' && !isPlain(v, c, depth + 1) && (key === 'items' || !isBool(v))) return false
    if (kind === 'M' || kind === 'X' || kind === 'L') {
      const schemas = v as Schema
      for (const name in schemas) if (!name.isWellFormed() || !isPlain(schemas[name], c, depth + 1)) return false
    }
    if ((kind === 'r' || kind === 't' || kind === 'e') && Array.isArray(v) && mayRepeat(v)) return false
  }
  return 'items' in s || (s.type !== 'array' && !(Array.isArray(s.type) && s.type.includes('array')))
}

function mayRepeat(list: unknown[]): boolean {
  if (list.length > 16 && new Set(list).size < list.length) return true
  return list.some((v, i) => typeof v === 'object' || (list.length <= 16 && list.indexOf(v) < i))
}

/** The keywords that a provider refuses at the root; see rootView. */
const atRoot = new Set(['allOf', 'anyOf', 'oneOf', 'enum', 'const', 'not'])

function copySchema(c: Conversion, s: unknown, depth: number): Schema {
  if (depth > maxSchemaDepth || --c.left < 0) {
    c.lose('cut: the schema is too large')
    return { description: 'cut: the schema is too large' }
  }
  const [out, notes] = shape(c, s)
  for (const [key, v] of Object.entries(out)) {
    const copy = (s: unknown, steps: string) =>
      key === 'items' || typeof s !== 'boolean' || shapeOf(key) !== 'S'
        ? c.at(step(key) + steps, () => copySchema(c, s, depth + 1))
        : s
    set(out, key, eachSchema(key, v, copy))
  }
  if (typesOf(out.type).includes('array')) out.items ??= {} // OpenAI refuses an array without items
  describeSchema(out, notes)
  return out
}

/** A keyword's value with `fn` applied to its schemas, and to the JSON pointers that lead to them. */
function eachSchema(key: string, v: unknown, fn: (s: unknown, steps: string) => unknown): unknown {
  switch (shapeOf(key)) {
    case 'S':
      return fn(v, '')
    case 'M':
    case 'X':
      return Object.fromEntries(Object.entries(v as Schema).map(([k, s]) => [k, fn(s, step(k))]))
    case 'L':
      return (v as unknown[]).map((s, i) => fn(s, step(i)))
  }
  return v
}

/** Moves broken references into the description. */
function dropBroken(c: Conversion, root: Schema): void {
  const broken = brokenRefs(root)
  if (!broken.size) return
  const visit = (s: unknown): unknown => {
    if (!isObject(s)) return s
    if (broken.has(s)) {
      const notes = [c.note('$ref', s.$ref)]
      delete s.$ref
      describeSchema(s, notes)
    }
    for (const [key, v] of Object.entries(s)) eachSchema(key, v, (s, steps) => c.at(step(key) + steps, () => visit(s)))
    return s
  }
  visit(root)
}
