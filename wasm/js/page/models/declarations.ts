// Tools as TypeScript for a model that writes code. Names, schemas and texts are a server's: none may end a comment or
// a string.

import { isObject } from '../../shared/object.ts'
import { plain } from '../../shared/plaintext.ts'
import type { ToolInfo } from '../../shared/types.ts'
import { get, type Schema } from './schemashape.ts'
import { lookup } from './schemaview.ts'

/** The bounds in UTF-8 bytes: of a tool, and of all. */
const mostOfTool = 8 << 10, mostOfAll = 32 << 10
/** The schemas of a tool, how deep they nest, and of one: the members, alternatives or values, and required names. */
const mostSchemas = 500, deepest = 10, mostMembers = 100, mostRequired = 1000
/** The longest texts in characters: of a tool, of a parameter, of a value in a note. */
const mostText = 1000, mostNote = 200, mostValue = 60

/** The size up to which a schema is declared. A tool that is too large is declared with less. */
interface Detail {
  notes: boolean
  depth: number
}

const details: Detail[] = [{ notes: true, depth: deepest }, { notes: false, depth: deepest }, {
  notes: false,
  depth: 2,
}]

/** Keywords that are no types and say which values a server takes. */
const noted =
  'format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems default'
    .split(' ')

/** Where code finds a tool: tools.server.name, with names in brackets that are no identifiers. */
export const pathOf = (server: string, name: string): string =>
  `tools${[server, name].map((name) => isIdentifier(name) ? `.${name}` : `[${quoted(name)}]`).join('')}`

/** The name of a tool in code: that of an override, or the server's own. */
export const codeName = ({ name, server, tool, original }: ToolInfo): string =>
  original && name.startsWith(`${server}__`) ? name.slice(server.length + 2) : tool

/** The declarations of tools, as many as fit. */
export function declarations(tools: readonly ToolInfo[]): string {
  const servers = new Map<string, string>()
  let left = mostOfAll, missing = 0
  const paths = new Set<string>()
  for (const tool of tools) {
    // An extra tool of a view may have the name of another function of the page, and code calls the first.
    const path = pathOf(tool.server, codeName(tool))
    if (paths.has(path)) continue
    paths.add(path)
    const text = functionOf(tool)
    if ((left -= sizeOf(text)) < 0) missing++
    else servers.set(tool.server, (servers.get(tool.server) ?? '') + text)
  }
  const members = [...servers].map(([server, text]) => `  ${memberName(server)}: {\n${text}  }\n`).join('')
  return '// Promise<any> is of a text, unless the server sends structured content. A call that fails throws.\n' +
    `declare const tools: {\n${members}}\n` +
    (missing ? `// ${missing} more fit and are too large to be declared here. Search for each alone.\n` : '')
}

const sizeOf = (text: string) => new TextEncoder().encode(text).length

function functionOf(tool: ToolInfo): string {
  const { description, inputSchema, outputSchema } = tool.definition
  const name = memberName(codeName(tool))
  const about = comment(clipped(description, mostText), '    ')
  const needs = isObject(inputSchema) && Array.isArray(inputSchema['required']) && inputSchema['required'].length > 0
  for (const detail of details) {
    const args = objectType(new Writer(inputSchema, detail).type(inputSchema, 4, []))
    const result = outputSchema === undefined ? 'any' : new Writer(outputSchema, detail).type(outputSchema, 4, [])
    const text = `${about}    ${name}(args${needs ? '' : '?'}: ${args}): Promise<${result}>\n`
    if (sizeOf(text) <= mostOfTool) return text
  }
  return `${about}    ${name}(args: Record<string, unknown> /* the schema is too large */): Promise<any>\n`
}

/** Arguments are an object, whatever the schema says. */
function objectType(text: string): string {
  if (/^\(*(\{|Record<)/.test(text)) return text
  return text === 'unknown' ? 'Record<string, unknown>' : `Record<string, unknown> & ${united(text)}`
}

/** Writes one schema. */
class Writer {
  readonly #root: unknown
  readonly #detail: Detail
  /** The schemas that may follow. A large one counts as several, because references may lead there again. */
  #left = mostSchemas

  constructor(root: unknown, detail: Detail) {
    this.#root = root
    this.#detail = detail
  }

  /** `refs` are the references that lead here. */
  type(schema: unknown, indent: number, refs: readonly string[]): string {
    if (schema === false) return 'never'
    if (!isObject(schema)) return 'unknown'
    if (--this.#left < 0 || indent / 2 - 2 > this.#detail.depth || refs.length > deepest)
      return 'unknown /* and more */'
    const parts = [
      this.#referred(schema, indent, refs),
      this.#values(schema),
      this.#several(schema['anyOf'], ' | ', indent, refs),
      this.#several(schema['oneOf'], ' | ', indent, refs),
      this.#several(schema['allOf'], ' & ', indent, refs),
    ].filter((text) => text !== '')
    // Members beside alternatives belong to each of them. A plain type there, or beside values, says nothing more.
    if (!parts.length || isObjectLike(schema)) parts.unshift(...this.#own(schema, indent, refs))
    const text = parts.length > 1 ? parts.map(united).join(' & ') : parts[0] ?? 'unknown'
    return schema['nullable'] === true && text !== 'unknown' ? `${text} | null` : text
  }

  #referred(schema: Schema, indent: number, refs: readonly string[]): string {
    const ref = schema['$ref'] ?? schema['$dynamicRef'] ?? schema['$recursiveRef']
    if (typeof ref !== 'string') return ''
    this.#left -= ref.length / 1000
    const name = safe(ref.slice(0, mostValue)).replace(/\s+/g, ' ')
    if (refs.includes(ref)) return `unknown /* again ${name} */`
    const target = lookup(this.#root, ref)
    return target === undefined ? `unknown /* ${name} */` : this.type(target, indent, [...refs, ref])
  }

  #values(schema: Schema): string {
    const values = 'const' in schema ? [schema['const']] : schema['enum']
    if (!Array.isArray(values)) return ''
    const texts = values.slice(0, mostMembers).map(literal)
    if (values.length > mostMembers) texts.push('unknown /* and more */')
    return [...new Set(texts)].join(' | ') || 'never'
  }

  #several(list: unknown, between: ' | ' | ' & ', indent: number, refs: readonly string[]): string {
    if (!Array.isArray(list) || !list.length) return ''
    const texts = list.slice(0, mostMembers).map((one) => this.type(one, indent, refs))
    if (list.length > mostMembers) texts.push('unknown /* and more */')
    return [...new Set(texts)].map(united).join(between)
  }

  /** The meaning of `type` and of the keywords of objects and arrays: one text, or none. */
  #own(schema: Schema, indent: number, refs: readonly string[]): string[] {
    const texts = kindsOf(schema).map((kind) => {
      if (kind === 'object') return this.#object(schema, indent, refs)
      if (kind === 'array') return this.#array(schema, indent, refs)
      if (kind === 'integer') return 'number'
      return ['string', 'number', 'boolean', 'null'].includes(kind) ? kind : 'unknown'
    })
    return texts.length ? [[...new Set(texts)].join(' | ')] : []
  }

  #array(schema: Schema, indent: number, refs: readonly string[]): string {
    const items = schema['items'] ?? true
    const fixed = schema['prefixItems'] ?? (Array.isArray(items) ? items : undefined)
    const rest = Array.isArray(items) ? schema['additionalItems'] ?? true : items
    if (!Array.isArray(fixed) || !fixed.length) return `${united(this.type(rest, indent, refs))}[]`
    const texts = fixed.slice(0, mostMembers).map((one) => `${united(this.type(one, indent, refs))}?`)
    const isLong = fixed.length > mostMembers
    if (isLong || rest !== false) texts.push(`...${isLong ? 'unknown' : united(this.type(rest, indent, refs))}[]`)
    return `[${texts.join(', ')}]`
  }

  #object(schema: Schema, indent: number, refs: readonly string[]): string {
    const { additionalProperties: more = true, patternProperties } = schema
    const properties = isObject(schema['properties']) ? schema['properties'] : {}
    const asked: unknown[] = Array.isArray(schema['required']) ? schema['required'].slice(0, mostRequired) : []
    const required = asked.filter((k) => typeof k === 'string')
    const names = [...new Set([...Object.keys(properties).slice(0, mostMembers + 1), ...required])]
    const shown = names.slice(0, mostMembers)
    this.#left -= names.length / mostMembers + shown.join('').length / 1000
    const pad = ' '.repeat(indent + 2)
    const members = shown.map((name) => {
      const member = get(properties, name)
      const type = this.type(member, indent + 2, refs)
      return `${this.#note(member, pad)}${pad}${memberName(name)}${required.includes(name) ? '' : '?'}: ${type}\n`
    })
    const others = isObject(patternProperties) && Object.keys(patternProperties).length ? true : more
    const isCut = names.length > mostMembers
    if (!names.length)
      return others === false
        ? 'Record<string, never>'
        : `Record<string, ${this.type(others, indent + 2, refs)}>`
    // An index signature has to hold for all members.
    if (isCut || isObject(others)) members.push(`${pad}[name: string]: unknown${isCut ? ' /* and more */' : ''}\n`)
    return `{\n${members.join('')}${' '.repeat(indent)}}`
  }

  /** The description of a member, and which values it takes. */
  #note(schema: unknown, pad: string): string {
    if (!this.#detail.notes || !isObject(schema)) return ''
    const bounds = noted.filter((key) => key in schema).map((key) => {
      const value = JSON.stringify(schema[key])
      this.#left -= value.length / 1000
      return `${key}: ${value.slice(0, mostValue)}`
    })
    const text = clipped(schema['description'], mostNote)
    return comment(bounds.length ? `${text} (${bounds.join(', ')})`.trim() : text, pad)
  }
}

const isObjectLike = (schema: Schema) =>
  ['properties', 'additionalProperties', 'patternProperties', 'required'].some((key) => key in schema) &&
  !('const' in schema || Array.isArray(schema['enum']))

/** The types of a schema, said or meant. */
function kindsOf(schema: Schema): string[] {
  const { type } = schema
  const kinds: unknown[] = Array.isArray(type) ? type.slice(0, mostMembers) : [type]
  const said = kinds.filter((kind) => typeof kind === 'string')
  if (said.length) return said
  if (isObjectLike(schema)) return ['object']
  return 'items' in schema || 'prefixItems' in schema ? ['array'] : []
}

/** A type beside others, or before brackets. */
const united = (text: string) => /^[\w.]+$|^"(?:[^"\\]|\\.)*"$|^\{[^{}]*\}$/.test(text) ? text : `(${text})`

/** A value as a type. */
function literal(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return value.length > mostNote ? 'string' : quoted(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'number'
  return Array.isArray(value) ? 'unknown[]' : 'Record<string, unknown>'
}

/** The text of a string. JSON leaves line separators as they are, and models need no hidden characters. */
const quoted = (text: string) =>
  JSON.stringify(text).replace(
    /[\u007f-\u00a0\u00ad\u2028\u2029]|[^\P{C}\ud800-\udfff]/gu,
    (c) => [...c].map((one) => `\\u{${one.codePointAt(0)!.toString(16)}}`).join(''),
  )

const isIdentifier = (name: string) => /^[A-Za-z_$][\w$]*$/.test(name)

/** The name of a member. `new(…)` would declare a constructor. */
const memberName = (name: string) => isIdentifier(name) && name !== 'new' ? name : quoted(name)

const clipped = (text: unknown, most: number): string => {
  if (typeof text !== 'string') return ''
  const shown = plain(text.slice(0, 8 * most)).text.trim()
  return shown.length > most ? `${shown.slice(0, most)}…` : shown
}

/** A text that ends no comment. */
const safe = (text: string) => plain(text).text.replaceAll('*/', '* /').toWellFormed()

/** A comment before a member; empty without a text. */
function comment(text: string, pad: string): string {
  const lines = safe(text).split(/\s*[\n\r\u2028\u2029]\s*/).filter((line) => line)
  if (lines.length < 2) return lines.length ? `${pad}/** ${lines[0]} */\n` : ''
  return `${pad}/**\n${lines.map((line) => `${pad} * ${line}\n`).join('')}${pad} */\n`
}
