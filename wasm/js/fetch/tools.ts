// Reads one result of tools/list: which definitions can be offered, and why others cannot. The definitions stay here.
// Go gets their names.

import type { Bounds } from './events.ts'
import { cleanTool, type Cleaned } from './hygiene.ts'
import { extentOf, isObject, type JsonObject } from '../shared/json.ts'
import { mayHide } from '../shared/plaintext.ts'
import type { Flag } from '../shared/types.ts'

/** The limits of a list and its tools. One tool beyond `toolsPerServer` is read, so that more are known to exist. */
type ToolBounds = Pick<
  Bounds,
  'definitionBytes' | 'depth' | 'descriptionBytes' | 'schemaDepth' | 'schemaNodes' | 'enumValues' | 'toolsPerServer'
>

/** Headers that every request may have. The values of others may be secrets, and so is the session's id. */
const PLAIN_HEADERS =
  /^(accept|content-type|last-event-id|mcp-(protocol-version|method|name|param-.*)|x-portolan-binding)$/i

export const isPlainHeader = (name: string): boolean => PLAIN_HEADERS.test(name)

/** The shortest secret that is taken out of definitions. Shorter values are words of them. */
const LEAST_SECRET = 8

/**
 * The header values that a server could repeat: values, credentials in them, and both percent-encoded and in
 * base64. As they stand in a JSON text.
 */
export function secretsOf(headers: readonly (readonly [name: string, value: string])[]): string[] {
  const values = headers.filter(([name]) => !PLAIN_HEADERS.test(name)).flatMap((
    [, v],
  ) => [v, v.slice(v.indexOf(' ') + 1)])
  return [
    ...new Set(
      values.filter((v) => v.length >= LEAST_SECRET).flatMap((v) => {
        const coded = btoa(v).replace(/=+$/, '') // header values are Latin-1
        return [v, encodeURIComponent(v), coded, coded.replaceAll('+', '-').replaceAll('/', '_')]
      }).map((v) => JSON.stringify(v).slice(1, -1)).flatMap((v) => [v, v.replaceAll('/', '\\/')]), // some escape each /
    ),
  ].sort((a, b) => b.length - a.length) // one may be a part of another
}

const NAME_BYTES = 256
const DROPS = 1000
const CONTROL = /[\u0000-\u001f\u007f\ufffd]|\p{Surrogate}/u

/** If the texts of a list are longer in sum, only the texts are kept, in characters. */
export const PARSED_CHARS = 2 << 20

/** The kept parts of one list, by index. It is posted between workers. */
export interface ToolList {
  readonly names: string[]
  /** The definitions without hidden text. Absent if the texts are enough. */
  tools?: unknown[] | undefined
  /** The texts of the definitions, of a list that is read element by element. */
  readonly texts: string[]
  /** The original definitions of tools with hidden text. */
  readonly sent: Map<number, string>
  /** The flags for hidden text. */
  readonly flags: Map<number, Flag[]>
  /** The place of each tool in the server's list. */
  readonly places: number[]
}

/** Reads one list, tool by tool. */
export class ToolsReader {
  readonly list: ToolList = { names: [], tools: [], texts: [], sent: new Map(), flags: new Map(), places: [] }

  readonly #bounds: ToolBounds
  readonly #secrets: readonly string[]
  readonly #drops: [string, string][] = []
  readonly #headers: number[] = []
  readonly #tasks: number[] = []
  readonly #apps: number[] = []
  #place = 0
  #chars = 0

  /** `secrets` are taken out of definitions. */
  constructor(bounds: ToolBounds, secrets: readonly string[]) {
    this.#bounds = bounds
    this.#secrets = secrets
  }

  /** The findings of one look at a JSON text, for all tools in it. */
  factsOf(text: string | undefined): Facts {
    const hasEscapes = text === undefined || escapes(text)
    return {
      annotated: text === undefined || text.includes('"x-mcp-header"'),
      hides: hasEscapes || mayHide(text),
      leaks: this.#secrets.length > 0 &&
        (hasEscapes || mayHide(text) || text.includes('\\/') || this.#secrets.some((s) => text.includes(s))),
    }
  }

  /** The list is over its limit: of tools, or of ten times as many entries. */
  get full(): boolean {
    const { toolsPerServer: tools } = this.#bounds
    return this.list.names.length > tools || this.#place > 10 * tools
  }

  /** The size of the largest definition; see ToolBounds. */
  get largest(): number {
    return this.#bounds.definitionBytes
  }

  /**
   * Adds a tool. `bytes` is at least its size. `facts` are those of a text that holds it. `text` is its source, if
   * known.
   */
  add(tool: unknown, bytes: number, facts: Facts, text?: string): void {
    const reason = refuse(tool, bytes, this.#bounds)
    const clean = (tool: JsonObject): Cleaned => (facts.hides ? cleanTool(tool) : { tool })
    const cleaned = reason === '' ? clean(tool as JsonObject) : undefined
    if (!cleaned || cleaned.refused) return this.drop(tool, cleaned?.refused ?? reason)
    cutDescription(cleaned, this.#bounds.descriptionBytes)
    if (facts.leaks) this.#redact(cleaned)
    if (cleaned.refused) return this.drop(undefined, cleaned.refused)
    const { names, texts, sent, flags, places } = this.list
    const index = names.length
    const isClean = cleaned.tool === tool
    if (facts.annotated && JSON.stringify(tool).includes('"x-mcp-header"')) this.#headers.push(index)
    const { execution } = tool as JsonObject
    if (isObject(execution) && execution['taskSupport'] === 'required') this.#tasks.push(index)
    const { _meta: meta } = tool as JsonObject
    const visibility = isObject(meta) && isObject(meta['ui']) ? meta['ui']['visibility'] : undefined
    if (Array.isArray(visibility) && !visibility.includes('model')) this.#apps.push(index)
    if (cleaned.flags) flags.set(index, cleaned.flags)
    if (!isClean) sent.set(index, text ?? JSON.stringify(tool))
    if (text !== undefined) {
      texts.push(isClean ? text : JSON.stringify(cleaned.tool))
      if ((this.#chars += text.length) > PARSED_CHARS) this.list.tools = undefined
    }
    this.list.tools?.push(cleaned.tool)
    places.push(this.#place++)
    names.push((tool as { name: string }).name)
  }

  #redact(cleaned: Cleaned): void {
    const text = JSON.stringify(cleaned.tool)
    const shown = this.#secrets.reduce((t, secret) => t.replaceAll(secret, '[redacted]'), text)
    if (shown === text) return
    const { name } = cleaned.tool as { name: string }
    cleaned.tool = JSON.parse(shown) as JsonObject
    if (cleaned.tool['name'] !== name) cleaned.refused = 'the name repeats a secret'
  }

  /** Drops a tool and reports the reason. */
  drop(tool: unknown, reason: string): void {
    this.#place++
    if (this.#drops.length < DROPS) this.#drops.push([nameOf(tool), reason])
  }

  /** Drops a tool that is much larger than `largest`. `tool` has its known members. */
  dropLarge(tool?: unknown): void {
    this.drop(tool, (tool ? refuse(tool, Infinity, this.#bounds) : '') || tooLarge(this.#bounds))
  }

  /** The tools' names, one a line. */
  get names(): string {
    return this.list.names.join('\n')
  }

  /** The field Extra of registry/client/platform.go: JSON or ''. `result` is the result with the list. */
  extra(result: JsonObject): string {
    const extra: Record<string, unknown> = {}
    if (this.#drops.length > 0) extra['drops'] = this.#drops
    if (typeof result['nextCursor'] === 'string') extra['next'] = result['nextCursor']
    if (typeof result['ttlMs'] === 'number') extra['ttl'] = result['ttlMs']
    if (result['cacheScope'] === 'private') extra['private'] = true
    if (this.#headers.length > 0) extra['headers'] = this.#headers
    if (this.#tasks.length > 0) extra['tasks'] = this.#tasks
    if (this.#apps.length > 0) extra['apps'] = this.#apps
    return Object.keys(extra).length > 0 ? JSON.stringify(extra) : ''
  }
}

interface Facts {
  /** A tool may have x-mcp-header. */
  annotated: boolean
  /** A tool may have hidden characters. Each escape may be one. */
  hides: boolean
  /** A tool may repeat a secret. */
  leaks: boolean
}

/** Whether a JSON text may have a hidden ASCII character: DEL, or an escape. */
export const escapes = (text: string) => text.includes('\x7f') || [...'ubfr'].some((c) => text.includes('\\' + c))

/** Reads a parsed list. Undefined if the result has none. `bytes` is the size of the whole text. */
export function readTools(
  result: JsonObject,
  bytes: number,
  text: string | undefined,
  bounds: ToolBounds,
  secrets: readonly string[] = [],
): ToolsReader | undefined {
  const list: unknown = result['tools']
  if (!Array.isArray(list)) return undefined
  const reader = new ToolsReader(bounds, secrets), facts = reader.factsOf(text)
  for (let place = 0; place < list.length && !reader.full; place++) reader.add(list[place], bytes, facts)
  return reader
}

const tooLarge = (bounds: ToolBounds) => `the definition is larger than ${bounds.definitionBytes} bytes`

function nameOf(tool: unknown): string {
  const name = isObject(tool) ? tool['name'] : undefined
  return typeof name === 'string' ? name.slice(0, NAME_BYTES) : ''
}

// registry/client/nethttp/tools.go does the same, in the same words.
function refuse(tool: unknown, bytes: number, bounds: ToolBounds): string {
  if (!isObject(tool)) return 'the tool is not an object'
  const { name, description } = tool
  if (typeof name !== 'string' || name === '') return 'the tool has no name'
  if (longer(name, NAME_BYTES)) return `the name is longer than ${NAME_BYTES} bytes`
  if (CONTROL.test(name)) return 'the name holds a control character'
  if (!isObject(tool['inputSchema'])) return 'inputSchema is not an object'
  if (description != null && typeof description !== 'string') return 'description is not a string'
  const extent = extentOf(tool, bounds.depth)
  if (!extent) return `the definition is nested deeper than ${bounds.depth} levels`
  if (bytes > bounds.definitionBytes && extent.size > bounds.definitionBytes) return tooLarge(bounds)
  const { schemaDepth, schemaNodes, enumValues } = bounds
  if (extent.levels > schemaDepth || extent.objects > schemaNodes || extent.longest > enumValues) {
    for (const which of ['inputSchema', 'outputSchema']) {
      const what = isObject(tool[which]) && overgrown(tool[which], bounds, 0, false, { nodes: 0 })
      if (what) return which + what
    }
  }
  return ''
}

/** Ends a description that is cut. */
const CUT_MARK = '… (cut)', MARK_BYTES = 9

/** Cuts a description of more than `most` bytes. */
function cutDescription(cleaned: Cleaned, most: number): void {
  const { description } = cleaned.tool
  if (typeof description !== 'string' || !longer(description, most)) return
  const { read } = new TextEncoder().encodeInto(description, new Uint8Array(Math.max(most - MARK_BYTES, 0)))
  cleaned.tool = { ...cleaned.tool, description: description.slice(0, read) + CUT_MARK }
}

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

// `named`: the object maps names to schemas. Any other object counts as a schema.
function overgrown(v: object, bounds: ToolBounds, depth: number, named: boolean, count: { nodes: number }): string {
  const list = Array.isArray(v)
  if (!list && !named) {
    if (++depth > bounds.schemaDepth) return ` is nested deeper than ${bounds.schemaDepth} schemas`
    if (++count.nodes > bounds.schemaNodes) return ` has more than ${bounds.schemaNodes} schemas`
  }
  for (const [key, child] of Object.entries(v) as [string, unknown][]) {
    if (typeof child !== 'object' || child === null) continue
    const word = list || named ? '' : key
    if (word === 'enum' && Array.isArray(child) && child.length > bounds.enumValues)
      return ` has an enum of more than ${bounds.enumValues} values`
    const what = overgrown(child, bounds, depth, MAPS.has(word), count)
    if (what) return what
  }
  return ''
}

function longer(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes)
}
