// Arguments against a tool's inputSchema, and results against its outputSchema. registry/validate says the rules
// and the bounds; validate.test.ts holds both to the same verdicts.

import { isObject } from '../shared/object.ts'
import { pointer, step } from '../shared/pointer.ts'
import { clip, distinct, get, isSchema, json } from './models/schemashape.ts'
import { lookup, typesOf } from './models/schemaview.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { excerptAt, plain } from '../shared/plaintext.ts'
import type { Flag, ToolInfo, ToolResult } from '../shared/types.ts'
import { invalidArgumentsError, invalidResultError, schemaDialects, typeNames } from '../shared/wire.gen.ts'

const maxDepth = 64
const maxSteps = 20_000
const maxProblems = 5
/** The most keywords, names and elements that are looked at. Eight characters count as one. */
const maxWork = 2_000_000
/** Lists up to this length are searched for equal items pair by pair. */
const comparable = 100

// Keywords that are checked here, and keywords that assert nothing.
const understood = new Set(
  ('$ref type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength ' +
    'minItems maxItems uniqueItems minProperties maxProperties required properties additionalProperties items prefixItems ' +
    'allOf anyOf oneOf not title description default examples deprecated readOnly writeOnly $schema $id $comment $defs definitions')
    .split(' '),
)

/** Throws if the arguments do not fit the tool's schema. The host rejects calls of unknown tools. */
export function checkArguments(tool: ToolInfo | undefined, args: string): void {
  const schema = tool?.definition.inputSchema
  const problems = validateArguments(schema, JSON.parse(args))
  if (problems)
    throw new RegistryError(invalidArgumentsError.code, `invalid arguments: ${problems}`, {
      ...invalidArgumentsError,
      ...(foreignDialect(schema) !== undefined &&
        { hint: "Tell the server's maker: no arguments can help. JSON Schema 2020-12 is read." }),
      server: tool!.server,
    })
}

/**
 * Checks the structured content of a result against the tool's outputSchema. Returns the result, with a flag for each
 * place that does not fit. With `throws`, throws instead.
 */
export function checkResult(tool: ToolInfo, result: ToolResult, throws: boolean): ToolResult {
  const { structuredContent } = result
  const found = structuredContent === undefined
    ? [{ path: '', want: 'is required' }]
    : misfits(tool.definition.outputSchema, structuredContent)
  if (!found.length) return result
  const flags = found.map(({ path, want }): Flag => ({
    rule: 'schema_mismatch',
    where: '/structuredContent' + plain(path).text,
    excerpt: excerptAt(want, 0),
  }))
  if (!throws) return { ...result, flags: [...result.flags ?? [], ...flags] }
  const list = flags.map(({ where, excerpt }) => `${where}: ${excerpt}`).join('; ')
  throw new RegistryError(invalidResultError.code, `invalid result: ${list}`, {
    ...invalidResultError,
    server: result.server,
  })
}

/**
 * Says what of the arguments does not fit the schema: up to five places, each by
 * its JSON pointer, and what is wanted there; undefined when nothing is known to
 * be wrong.
 */
export function validateArguments(schema: unknown, args: unknown): string | undefined {
  const dialect = foreignDialect(schema)
  if (dialect !== undefined) return `the schema is in the dialect ${clip(dialect)}, which is not supported`
  return misfits(schema, args).map(({ path, want }) => `${path || 'the arguments'}: ${want}`).join('; ') || undefined
}

/** Whether the keywords that are read mean the same in a dialect. */
const isKnown = (dialect: string) => schemaDialects.includes(dialect.replace(/#$/, ''))

/** The dialect that the schema says it is in, if its keywords are not known. */
function foreignDialect(schema: unknown): string | undefined {
  const dialect = get(schema, '$schema')
  return typeof dialect === 'string' && !isKnown(dialect) ? dialect : undefined
}

/** Whether a part of the schema has an address, to which references may lead. */
const hasId = (s: unknown): boolean => typeof get(s, '$id') === 'string' || hasIdWithin(s)

/** Whether a part within has one. References of that part then begin there, and not at the root. */
const hasIdWithin = (s: unknown): boolean => typeof s === 'object' && s !== null && Object.values(s).some(hasId)

/** A place that does not fit, as a JSON pointer, and what is wanted there. Both are clipped. */
interface Misfit {
  path: string
  want: string
}

/**
 * The places of a value that do not fit the schema, up to five. Values are never quoted: they may be secret. What the
 * schema says in keywords that are not read here, pattern and format among them, counts as kept.
 */
function misfits(schema: unknown, root: unknown): Misfit[] {
  let problems: Misfit[] = []
  let steps = 0
  let work = 0
  let addressed: boolean | undefined, nested: boolean | undefined
  let trials = 0 // passes that are running
  // Set at a keyword that may make a misfit valid. Then only certain misfits are reported.
  let unsure = false

  // Nobody reads the problems of a trial.
  const fail = (path: string, want: string, quoted?: unknown) => {
    if (problems.length === maxProblems) return
    if (trials) problems.push({ path, want })
    else problems.push({ path: clip(path), want: clip(quoted === undefined ? want : want + json(quoted)) })
  }

  function check(s: unknown, value: unknown, path: string, depth: number): void {
    if (depth > maxDepth || ++steps > maxSteps || work > maxWork || problems.length === maxProblems) {
      unsure = true
      return
    }
    if (s === false) fail(path, 'is not allowed')
    if (!isObject(s)) return
    for (const key of Object.keys(s)) {
      const v = s[key]
      work += 1 + (Array.isArray(v) || key === '$ref' && typeof v === 'string' ? v.length : 0)
      unsure ||= !understood.has(key)
    }
    if (value === null && s.nullable === true) return
    const kind = kindOf(value)
    const types = typesOf(get(s, 'type'))
    // An unknown type accepts every value.
    const fits = (t: string) => t === kind || !typeNames.includes(t) || (t === 'integer' && isWhole(value))
    if (types.length && !types.some(fits))
      return fail(path, `want ${article(types.join(' or '))}, not ${article(kind)}`)

    if (Object.hasOwn(s, 'const') && !equal(s.const, value)) fail(path, 'want ', s.const)
    const list = get(s, 'enum')
    if (Array.isArray(list)) {
      steps += list.length
      if (!list.some((e) => equal(e, value))) fail(path, 'want one of ', list)
    }
    if (isObject(value)) object(s, value, path, depth)
    else if (Array.isArray(value)) array(s, value, path, depth)
    else if (typeof value === 'number') number(s, value, path)
    else if (typeof value === 'string' && ('minLength' in s || 'maxLength' in s)) {
      work += value.length >> 3
      count(s, 'Length', [...value].length, path, ' characters')
    }
    combined(s, value, path, depth)
  }

  function object(s: Schema, value: Schema, path: string, depth: number): void {
    const names = Object.keys(value)
    work += names.length
    for (const name of listOf(s, 'required')) {
      if (typeof name === 'string' && !Object.hasOwn(value, name)) fail(pointer(path, step(name)), 'is required')
    }
    count(s, 'Properties', names.length, path, ' properties')
    // A pattern may allow what additionalProperties does not; patterns are not read.
    const others = 'patternProperties' in s ? undefined : get(s, 'additionalProperties')
    for (const name of names) {
      const own = get(get(s, 'properties'), name)
      const schema = own === undefined ? others : own
      if (schema === false && own === undefined) fail(pointer(path, step(name)), 'there is no such property')
      else if (schema !== undefined) check(schema, value[name], pointer(path, step(name)), depth + 1)
    }
  }

  function array(s: Schema, value: unknown[], path: string, depth: number): void {
    work += value.length
    count(s, 'Items', value.length, path, ' items')
    let first = get(s, 'prefixItems')
    let rest = get(s, 'items')
    if (Array.isArray(rest)) [first, rest] = [rest, get(s, 'additionalItems')] // the tuple of the drafts before 2020-12
    value.forEach((e, i) => {
      const schema = Array.isArray(first) && i < first.length ? first[i] : rest
      if (schema !== undefined) check(schema, e, pointer(path, `/${i}`), depth + 1)
    })
    if (s.uniqueItems === true) {
      // Parsing may have made one number of two that have so many digits.
      const text = json(value)
      work += text.length >> 3
      if (/\d{16}|e\+/.test(text)) unsure = true
      else if (repeats(value)) fail(path, 'want items that differ')
    }
  }

  function repeats(list: unknown[]): boolean {
    if (distinct(list).length < list.length) return true
    if (list.length <= comparable) return list.some((a, i) => list.slice(0, i).some((b) => equal(a, b)))
    unsure = true
    return false
  }

  function limit(
    s: Schema,
    keyword: string,
    path: string,
    words: string,
    fits: (limit: number) => boolean,
    unit = '',
  ): void {
    const l = get(s, keyword)
    if (typeof l === 'number' && !fits(l)) fail(path, `want ${words} ${l}${unit}`)
  }

  function number(s: Schema, n: number, path: string): void {
    limit(s, 'minimum', path, 'at least', (l) => n >= l)
    limit(s, 'maximum', path, 'at most', (l) => n <= l)
    limit(s, 'exclusiveMinimum', path, 'more than', (l) => n > l || alike(n, l))
    limit(s, 'exclusiveMaximum', path, 'less than', (l) => n < l || alike(n, l))
    limit(s, 'multipleOf', path, 'a multiple of', (l) => {
      const quotient = n / l
      // Decimal steps such as 0.1 are rounded, and so is the quotient.
      if (l > 0 && Number.isFinite(quotient))
        return Math.abs(quotient - Math.round(quotient)) < 1e-9 + Math.abs(quotient) / 2 ** 51
      return (unsure = true)
    })
  }

  function combined(s: Schema, value: unknown, path: string, depth: number): void {
    const ref = get(s, '$ref')
    if (typeof ref === 'string') {
      const target = lookup(schema, ref)
      if (target !== undefined && !(nested ??= hasIdWithin(schema))) check(target, value, path, depth + 1)
      else if (!trials && ref.includes('://') && !isKnown(ref) && !(addressed ??= hasId(schema)))
        fail(path, `refers to another document, which is not fetched: ${ref}`)
      else unsure = true
    }
    for (const part of listOf(s, 'allOf')) check(part, value, path, depth + 1)
    for (const keyword of ['anyOf', 'oneOf']) {
      const alternatives = listOf(s, keyword)
      if (!alternatives.length) continue
      let maybe = 0
      let surely = 0
      for (const a of alternatives) {
        const [ok, sure] = passes(a, value, depth + 1)
        maybe += +ok
        surely += +(ok && sure)
      }
      const one = keyword === 'oneOf'
      if (!maybe || (one && surely > 1)) {
        fail(
          path,
          `fits ${one ? Math.max(maybe, surely) : 'none'} of the ${alternatives.length} alternatives (${keyword})${
            one ? ', want 1' : ''
          }`,
        )
      }
    }
    if (isSchema(s.not)) {
      const [ok, sure] = passes(s.not, value, depth + 1)
      if (ok && sure) fail(path, 'must not fit ', s.not)
    }
  }

  function passes(s: unknown, value: unknown, depth: number): [ok: boolean, sure: boolean] {
    const kept = problems
    const was = unsure
    problems = []
    unsure = false
    trials++
    check(s, value, '', depth)
    trials--
    const answer: [boolean, boolean] = [!problems.length, !unsure]
    problems = kept
    unsure ||= was
    return answer
  }

  function count(s: Schema, what: string, n: number, path: string, unit: string): void {
    limit(s, 'min' + what, path, 'at least', (l) => !Number.isSafeInteger(l) || n >= l, unit)
    limit(s, 'max' + what, path, 'at most', (l) => !Number.isSafeInteger(l) || n <= l, unit)
  }

  /** Whether two numbers with equal doubles may differ. */
  function alike(a: unknown, b: unknown): boolean {
    if (a !== b || Math.abs(a as number) <= Number.MAX_SAFE_INTEGER) return false
    return (unsure = true)
  }

  function equal(a: unknown, b: unknown): boolean {
    work++
    if (typeof a === 'number') return alike(a, b) || a === b
    if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((e, i) => equal(e, b[i]))
    if (!isObject(a) || !isObject(b)) return a === b
    const names = Object.keys(a)
    return names.length === Object.keys(b).length &&
      names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]))
  }

  check(schema, root, '', 0)
  return problems
}

type Schema = Record<string, unknown>

/** Whether a number is an integer. Doubles beyond 2^53 count. */
const isWhole = (v: unknown) => Number.isInteger(v) || Math.abs(v as number) === Infinity

function listOf(s: Schema, keyword: string): unknown[] {
  const list = get(s, keyword)
  return Array.isArray(list) ? list : []
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function article(noun: string): string {
  if (noun.startsWith('null')) return noun
  return (/^[aeiou]/.test(noun) ? 'an ' : 'a ') + noun
}
