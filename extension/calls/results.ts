import { extentOf } from '../../wasm/js/shared/json.ts'
import { ToolFault, type Tool, type ToolOutput } from '../tools/tool.ts'

/** A larger result is kept here, and the client gets its beginning, its end and a handle. In UTF-16 units of JSON. */
const largestResult = 256 << 10
/** The part of a kept text that a client gets. */
const headLength = 48 << 10
const tailLength = 16 << 10
/** Blobs up to this length in base64 go with the result. Models see images there, and a link they do not. */
const largestBlob = 1 << 20
/** A tool with an output schema must give structured content; so this much of it goes with the result. */
const largestStructured = 1 << 20
/** Other blocks than texts and blobs go with the result up to this length of their JSON. */
const largestOthers = 64 << 10
/** The most that a server may say beside a result, in bytes. */
const largestMeta = 32 << 10
/** The levels of a value in a result. A message may have 64, with what is around the value. */
const mostLevels = 56
/** The bytes of texts, blobs and structured content. A message may have 2 MiB, with the rest and what is around it. */
const mostBytes = 1750 << 10
/** The bytes of a cut text in JSON, which writes some characters with six. */
const cutBytes = 6 * (headLength + tailLength)
/** The most that is kept, in UTF-16 units, and how long since its last use, in ms. */
const most = 64 << 20
const keptFor = 15 * 60_000
const longestRead = 200_000
const usualRead = 50_000
/** The length of the text that a search shows before a match. */
const beforeMatch = 200

const scheme = 'portolan-result:'

interface Kept {
  client: string
  texts: { text: string; structured: string }
  blobs: { data: string; mimeType: string }[]
  size: number
  usedAt: number
}
type Part = keyof Kept['texts']

/** Results that are too large for one message. The clients that they belong to read them on. */
export class LargeResults {
  /** By handle, the longest unused first. */
  readonly #kept = new Map<string, Kept>()
  #size = 0

  /** Returns a result that fits in a message. The rest is kept for the client. */
  fit(output: ToolOutput, client: string, hasSchema: boolean): ToolOutput {
    if (!Array.isArray(output.content)) return output // the result of another request than a call
    const { content, structuredContent, _meta, ...more } = output
    const structured = structuredContent === undefined ? '' : JSON.stringify(structuredContent)
    const meta = shortMeta(_meta)
    const isShort = JSON.stringify(content).length + structured.length <= largestResult
    if (isShort && meta === _meta && extentOf(output, mostLevels)) return output
    const handle = crypto.randomUUID()
    const kept: Kept = { client, texts: { text: '', structured: '' }, blobs: [], size: 0, usedAt: Date.now() }
    const texts = content.filter((block) => textOf(block) !== undefined)
    let cutText = JSON.stringify(texts).length > largestResult
    let room = mostBytes - (cutText ? cutBytes : bytesOf(JSON.stringify(texts)))
    const cutStructured = structured.length > (hasSchema ? largestStructured : largestResult) ||
      bytesOf(structured) > room || !extentOf(structuredContent, mostLevels)
    if (cutStructured) kept.texts.structured = structured
    else room -= bytesOf(structured)
    const bare = cutText ? content.flatMap(withoutText) : content
    const rest = withoutBlobs(bare, kept.blobs, handle, Math.min(largestBlob + 1024, room))
    const isOther = (block: Block) => textOf(block) === undefined && blobOf(block) === undefined
    const flood = JSON.stringify(rest.filter(isOther)).length > largestOthers
    const isLeftOut = (block: Block) => flood && isOther(block) || !extentOf(block, mostLevels)
    const leftOut = rest.filter(isLeftOut)
    cutText ||= leftOut.length > 0
    const whole = [...texts.map(textOf), ...leftOut.length ? [JSON.stringify(leftOut)] : []].join('\n\n')
    if (cutText) kept.texts.text = whole
    if (!cutText && !cutStructured && !kept.blobs.length) return { ...output, _meta: meta }
    this.#keep(handle, kept)
    const notes = cutStructured ? [{ type: 'text', text: noteOf(handle, 'structured', structured.length) }] : []
    const shown = [
      { type: 'text', text: headAndTail(whole, handle) },
      ...rest.filter((block) => !isLeftOut(block)).flatMap(withoutText),
    ]
    return {
      ...more,
      ...(structured && !cutStructured && { structuredContent }),
      // A client that checks results takes no success without structured content.
      ...(cutStructured && hasSchema && { isError: true }),
      content: [...notes, ...cutText ? shown : rest],
      _meta: {
        ...meta,
        'portolan/result': { handle, length: whole.length, ...(cutStructured && { structured: structured.length }) },
      },
    }
  }

  /** Whether resources/read of this URI is for {@link reading}. */
  owns(uri: unknown): boolean {
    return typeof uri === 'string' && uri.startsWith(scheme)
  }

  /** Answers resources/read as a tool, so that it is admitted, stopped and logged as calls are. */
  readonly reading: Tool = {
    name: 'resources/read',
    description: '',
    inputSchema: {},
    run: async ({ args, client }) => this.#resource(String(args.uri), client.key) as never,
  }

  #resource(uri: string, client: string): { contents: object[] } {
    const [handle = '', at, part] = uri.slice(scheme.length).replace(/^\/\//, '').split('/')
    const found = this.#find(handle, client).blobs[Number(at)]
    const from = Number(part ?? 0) * largestBlob
    const blob = found?.data.slice(from, from + largestBlob)
    if (!blob) throw new ToolFault('unknown_resource', 'There is no such part of the result.')
    return { contents: [{ uri, mimeType: found!.mimeType, blob }] }
  }

  /** The tool by which clients read texts on. */
  readonly tool: Tool = {
    name: 'portolan_read_result',
    title: 'Read a large result on',
    description: 'Reads on in a result that was too large for one answer, from its handle. Or finds a text in it.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    inputSchema: {
      type: 'object',
      required: ['handle'],
      additionalProperties: false,
      properties: {
        handle: { type: 'string', minLength: 1, maxLength: 100, description: 'From the result' },
        offset: { type: 'integer', minimum: 0, default: 0, description: 'Where to begin, in UTF-16 units' },
        length: { type: 'integer', minimum: 1, maximum: longestRead, default: usualRead, description: 'How much' },
        find: {
          type: 'string',
          minLength: 1,
          maxLength: 500,
          description: 'Begins a little before the next place that has this text, in upper or lower case',
        },
        part: {
          type: 'string',
          enum: ['text', 'structured'],
          default: 'text',
          description: 'The text, or the structured content as JSON',
        },
      },
    },
    run: async ({ args, client }) => {
      const { handle, offset = 0, length = usualRead, find, part = 'text' } = args as {
        handle: string
        offset?: number
        length?: number
        find?: string
        part?: Part
      }
      const text = this.#find(handle, client.key).texts[part]
      const found = find === undefined ? offset : lower(text).indexOf(lower(find), offset)
      if (found < 0) throw new ToolFault('not_found', 'The rest of the result does not have this text.')
      const at = find === undefined ? offset : Math.max(offset, found - beforeMatch)
      const from = between(text, Math.min(at, text.length))
      const end = between(text, Math.min(from + length, text.length))
      const to = end > from ? end : Math.min(from + 2, text.length) // a character has at most two units
      const next = to < text.length ? to : null
      return {
        content: [{ type: 'text', text: text.slice(from, to) }],
        _meta: {
          'portolan/untrusted': true,
          'portolan/result': {
            handle,
            part,
            offset: from,
            length: to - from,
            total: text.length,
            next,
            ...(find !== undefined && { found }),
          },
        },
      }
    },
  }

  #find(handle: string, client: string): Kept {
    this.#tidy()
    const kept = this.#kept.get(handle)
    if (!kept || kept.client !== client) {
      const message = 'There is no such result of yours any more. Results are kept for 15 minutes. ' +
        'Call the tool again only if it may run twice.'
      throw new ToolFault('gone', message)
    }
    kept.usedAt = Date.now()
    this.#kept.delete(handle)
    this.#kept.set(handle, kept)
    return kept
  }

  #keep(handle: string, kept: Kept): void {
    const { texts, blobs } = kept
    kept.size = texts.text.length + texts.structured.length + blobs.reduce((n, b) => n + b.data.length, 0)
    this.#kept.set(handle, kept)
    this.#size += kept.size
    this.#tidy()
  }

  /** Forgets what nobody has used for long, and more of it while too much is kept. The newest stays. */
  #tidy(): void {
    for (const [handle, { usedAt, size }] of this.#kept) {
      const old = Date.now() - usedAt > keptFor
      if (!old && (this.#size <= most || this.#kept.size === 1)) return
      this.#kept.delete(handle)
      this.#size -= size
    }
  }
}

type Block = ToolOutput['content'][number]

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

const stringOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
const resourceOf = (block: Block) => block.resource as Record<'uri' | 'mimeType' | 'text' | 'blob', unknown> | undefined
/** The text of a block, or of the resource in it. */
const textOf = (block: Block) => stringOf(block.text) ?? stringOf(resourceOf(block)?.text)
const blobOf = (block: Block) => stringOf(block.type === 'resource' ? resourceOf(block)?.blob : block.data)

/** Returns nothing for a text, and a link to a resource in place of its text. */
function withoutText(block: Block): Block[] {
  if (textOf(block) === undefined) return [block]
  const uri = stringOf(resourceOf(block)?.uri)
  const mimeType = stringOf(resourceOf(block)?.mimeType)
  return stringOf(block.text) === undefined && uri
    ? [{ type: 'resource_link', uri, name: uri.slice(-100), ...(mimeType && { mimeType }) }]
    : []
}

/** Returns what a server says beside a result. If that is too much, only the extension's own part. */
function shortMeta(meta: ToolOutput['_meta']): ToolOutput['_meta'] {
  if (!meta || extentOf(meta, mostLevels) && bytesOf(JSON.stringify(meta)) <= largestMeta) return meta
  return Object.fromEntries(['portolan/server', 'portolan/untrusted'].map((name) => [name, meta[name]]))
}

/** Returns the blocks with links in place of blobs, which go to `blobs`. Those within `room` bytes in all stay. */
function withoutBlobs(content: Block[], blobs: Kept['blobs'], handle: string, room: number): Block[] {
  let left = room
  return content.flatMap((block): Block[] => {
    const data = blobOf(block)
    if (data === undefined) return [block]
    const size = bytesOf(JSON.stringify(block))
    if (size <= left) {
      left -= size
      return [block]
    }
    const mimeType = String(resourceOf(block)?.mimeType ?? block.mimeType ?? 'application/octet-stream')
    return linksTo({ data, mimeType }, `${scheme}//${handle}/${blobs.push({ data, mimeType }) - 1}`)
  })
}

/** A link to a blob, or to each of its parts, which fit in a message. */
function linksTo({ data, mimeType }: Kept['blobs'][number], uri: string): Block[] {
  const parts = Math.ceil(data.length / largestBlob)
  const name = mimeType.replace('/', ' ')
  const size = Math.floor(data.length * 3 / 4)
  if (parts === 1) return [{ type: 'resource_link', uri, name, mimeType, size }]
  return Array.from({ length: parts }, (_, i) => ({
    type: 'resource_link',
    uri: `${uri}/${i}`,
    name: `${name}, part ${i + 1} of ${parts}`,
    description: `One of ${parts} parts of ${size} bytes: join the decoded parts.`,
    mimeType,
  }))
}

const noteOf = (handle: string, part: Part, length: number) =>
  `The structured content has ${length} characters, too many for one answer. The tool has run. Read it with ` +
  `portolan_read_result, handle ${handle}, part ${part}.`

/** Lower case in which each character has its place. No other letter is longer in lower case. */
const lower = (text: string): string => text.replaceAll('İ', 'i').toLowerCase()

function headAndTail(text: string, handle: string): string {
  if (text.length <= headLength + tailLength) return text
  const head = between(text, headLength)
  const tail = between(text, text.length - tailLength)
  return `${text.slice(0, head)}\n\n[${
    tail - head
  } of ${text.length} characters are left out here. The tool has run. ` +
    `Read them with portolan_read_result, handle ${handle}, offset ${head}.]\n\n${text.slice(tail)}`
}

/** Moves a position out of the middle of a character. */
function between(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff && at > 0 ? at - 1 : at
}
