import { opened, type Opened } from '../../shared/answer.ts'
import type { Called } from '../../shared/protocol.ts'
import { isObject } from '../../shared/object.ts'
import { excerptAt, plainly } from '../../shared/plaintext.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import { goneError } from '../../shared/wire.gen.ts'
import type { Scanner } from '../../shared/scan.ts'
import { finish, inTurns, type Steps } from '../../shared/yield.ts'
import { readTool } from './own-tools.ts'
import { cut, noOutput, textOf } from './text.ts'
import type {
  ContentBlock,
  Flag,
  Provenance,
  Registry,
  ResultPart,
  ResultRange,
  ToolResult,
} from '../../shared/types.ts'

/** The bounds of kept results: characters in all, and results. */
const mostText = 16 << 20
const mostResults = 50

/** The most URIs of resources that are known of a server's results. */
const mostNamed = 1000

const defaultLength = 20_000

/** Makes results of replies, and keeps the whole text of those that were cut. */
export class Results {
  readonly #wholes = new Map<string, { text: string; about: string }>() // oldest first
  /** The URIs of resources that results of a server have named, the last ones. */
  readonly #named = new Map<string, Set<string>>()
  #size = 0
  #last = 0

  /** Makes a result. Throws if the reply is not JSON. Other tasks of the page run meanwhile if it is large. */
  async take(a: Called, maxBytes: number, origin: string, scanner?: Scanner): Promise<ToolResult> {
    const work = this.#taking(a, maxBytes, origin, scanner)
    return 'message' in a ? inTurns(work) : finish(work)
  }

  *#taking(a: Called, maxBytes: number, origin: string, scanner?: Scanner): Steps<ToolResult> {
    const { server, tool, isError, durationMs } = a
    const answer = opened(a)
    yield
    const result = (typeof answer.value === 'object' && answer.value || {}) as {
      content?: ContentBlock[]
      structuredContent?: unknown
      _meta?: unknown
    }
    this.#note(server, result.content)
    const provenance: Provenance = { server, tool, origin, untrusted: true }
    const { text, truncated, handle, flags } = a.text !== undefined
      ? { ...a, text: a.text }
      : yield* this.#textOf(result, maxBytes, answer, 'message' in a && a.ordinary, scanner)
    return {
      text,
      content: Array.isArray(result.content) ? result.content.filter(isObject) as ContentBlock[] : [],
      isError,
      server,
      tool,
      durationMs,
      provenance,
      ...(result.structuredContent !== undefined && { structuredContent: result.structuredContent }),
      ...(isObject(result._meta) && { _meta: result._meta }),
      ...(truncated && { truncated }),
      ...(handle && { handle }),
      ...(flags?.length && { flags }),
    }
  }

  #note(server: string, content: unknown): void {
    if (!Array.isArray(content)) return
    for (const block of content as { uri?: unknown; resource?: { uri?: unknown } }[]) {
      const uri = block?.uri ?? block?.resource?.uri
      if (typeof uri !== 'string' || uri.length > 8192) continue
      let named = this.#named.get(server)
      if (!named) this.#named.set(server, named = new Set())
      named.delete(uri) // the newest is last
      named.add(uri)
      if (named.size > mostNamed) named.delete(named.values().next().value!)
    }
  }

  /** Whether a result of the server has named the resource. */
  hasNamed(server: string, uri: string): boolean {
    return !!this.#named.get(server)?.has(uri)
  }

  *#textOf(result: unknown, maxBytes: number, answer: Opened, ordinary: boolean, scanner: Scanner | undefined) {
    const said = textOf(result, answer)
    yield
    const { text, at } = ordinary ? { text: said, at: -1 } : yield* plainly(said)
    const flags: Flag[] = scanner?.result(result) ?? []
    if (at >= 0 && !flags.some((f) => f.rule === 'hidden_text'))
      flags.unshift({ rule: 'hidden_text', where: '', excerpt: excerptAt(said, at) })
    return { ...this.shorten(text || noOutput, maxBytes), flags }
  }

  /** Cuts a text, and keeps the whole under a handle then. `about` says to models of each part whose text it is. */
  shorten(text: string, maxBytes: number, about = ''): { text: string; truncated: boolean; handle: string } {
    let handle = ''
    const short = cut(text, maxBytes, () => (handle = this.#keep(text, about)))
    return { ...short, handle }
  }

  #keep(text: string, about: string): string {
    // A handle is random, so that another server's result cannot name it.
    const handle = `r${++this.#last}-${Math.random().toString(36).slice(2, 8)}`
    this.#wholes.set(handle, { text, about })
    this.#size += text.length
    for (const [oldest, t] of this.#wholes) {
      if (oldest === handle || (this.#size <= mostText && this.#wholes.size <= mostResults)) break
      this.#wholes.delete(oldest)
      this.#size -= t.text.length
    }
    return handle
  }

  /** Reads a part of a kept result. Throws if it is not kept any more. A range does not divide a character. */
  read(handle: string, { offset = 0, length }: ResultRange = {}): ResultPart {
    if (typeof handle !== 'string') // such as that of a result that was not cut
      throw new RegistryError('invalid_option', 'the handle is not a text', { hint: 'It is there if truncated is.' })
    const { text, about } = this.#wholes.get(handle) ?? {}
    if (text === undefined) throw new RegistryError(goneError.code, 'the result is not kept any more', goneError)
    const from = whole(text, offset)
    const most = Math.floor(Number(length))
    const end = whole(text, from + (most > 0 ? most : defaultLength))
    return { text: text.slice(from, end), offset: from, total: text.length, ...(about && { about }) }
  }
}

function whole(text: string, at: number): number {
  const i = Math.min(Math.max(Math.floor(at) || 0, 0), text.length)
  return text.charCodeAt(i) >> 10 === 0x37 && text.charCodeAt(i - 1) >> 10 === 0x36 ? i + 1 : i
}

/** Answers a call of the tool that reads on in a result. */
export async function readCall(registry: Pick<Registry, 'readResult'>, args: string): Promise<ToolResult> {
  const began = performance.now()
  const text = await readPart(registry, args)
  const server = 'portolan', tool = readTool
  return {
    text,
    content: [{ type: 'text', text }],
    isError: false,
    server,
    tool,
    durationMs: performance.now() - began,
    provenance: { server, tool, origin: '', untrusted: true },
  }
}

/** Reads a part as a model asks for it, and returns it as a text for models. */
export async function readPart(registry: Pick<Registry, 'readResult'>, args: string): Promise<string> {
  const { handle, ...range } = JSON.parse(args) as ResultRange & { handle: string }
  const { text, offset, total, about } = await registry.readResult(handle, range)
  const end = offset + text.length
  return `${about ? `${about}\n` : ''}${text}\n[characters ${offset} to ${end} of ${total}${
    end < total ? `; go on with offset ${end}` : ''
  }]`
}
