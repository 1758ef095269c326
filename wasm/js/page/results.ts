import { opening } from '../shared/answer.ts'
import type { Called } from '../shared/protocol.ts'
import { excerptAt, plainly } from '../shared/plaintext.ts'
import type { Scanner } from './scan.ts'
import { finish, inTurns, type Steps } from '../shared/yield.ts'
import { cut, textOf } from './text.ts'
import type { ContentBlock, Flag, Provenance, ResultPart, ResultRange, ToolResult } from '../shared/types.ts'

/** How much of the results whose text was cut is kept, in characters, and how many of them. */
const mostText = 16 << 20
const mostResults = 50

const defaultLength = 20_000

/** Makes results of answers, and keeps the whole of those whose text is cut. */
export class Results {
  readonly #wholes = new Map<string, string>() // oldest first
  #size = 0
  #last = 0

  /**
   * Throws if the answer is not JSON. Its bytes, if it comes as such, are gone then, and the page has turns meanwhile.
   */
  async take(a: Called, maxBytes: number, origin: string, scanner?: Scanner): Promise<ToolResult> {
    const work = this.#taking(a, maxBytes, origin, scanner)
    return 'message' in a ? inTurns(work) : finish(work)
  }

  *#taking(a: Called, maxBytes: number, origin: string, scanner?: Scanner): Steps<ToolResult> {
    const { server, tool, isError, durationMs } = a
    const { value, raw } = yield* opening(a, free)
    const result = (typeof value === 'object' && value || {}) as {
      content?: ContentBlock[]
      structuredContent?: unknown
    }
    const provenance: Provenance = { server, tool, origin, untrusted: true }
    const { text, truncated, handle, flags } = a.text !== undefined
      ? { ...a, text: a.text }
      : yield* this.#textOf(result, maxBytes, raw, scanner)
    return {
      text,
      content: Array.isArray(result.content) ? result.content : [],
      isError,
      server,
      tool,
      durationMs,
      provenance,
      ...(result.structuredContent !== undefined && { structuredContent: result.structuredContent }),
      ...(truncated && { truncated }),
      ...(handle && { handle }),
      ...(flags?.length && { flags }),
    }
  }

  *#textOf(result: unknown, maxBytes: number, raw: string | undefined, scanner: Scanner | undefined) {
    const said = textOf(result, raw)
    yield
    const { text, at } = yield* plainly(said)
    const flags: Flag[] = scanner?.result(result) ?? []
    if (at >= 0 && !flags.some((f) => f.rule === 'hidden_text'))
      flags.unshift({ rule: 'hidden_text', where: '', excerpt: excerptAt(said, at) })
    let handle = ''
    const short = cut(text, maxBytes, () => (handle = this.#keep(text)))
    return { text: short.text, truncated: short.truncated, handle, flags }
  }

  #keep(text: string): string {
    // Not to be guessed by what another result says.
    const handle = `r${++this.#last}-${Math.random().toString(36).slice(2, 8)}`
    this.#wholes.set(handle, text)
    this.#size += text.length
    for (const [oldest, t] of this.#wholes) {
      if (oldest === handle || (this.#size <= mostText && this.#wholes.size <= mostResults)) break
      this.#wholes.delete(oldest)
      this.#size -= t.length
    }
    return handle
  }

  /** Undefined if it is not kept any more. A range does not divide a character. */
  read(handle: string, { offset = 0, length = defaultLength }: ResultRange = {}): ResultPart | undefined {
    const text = this.#wholes.get(handle)
    if (text === undefined) return undefined
    const from = whole(text, offset)
    return { text: text.slice(from, whole(text, from + Math.max(1, length))), offset: from, total: text.length }
  }
}

/**
 * Gives memory back at once that would be collected late. To detach it is not enough where
 * the platform holds it, too, as it does what it has received: it has to be sent, to nobody.
 */
function free({ buffer }: Uint8Array): void {
  const { port1, port2 } = new MessageChannel()
  port2.close()
  port1.postMessage(undefined, [buffer])
  port1.close()
}

function whole(text: string, at: number): number {
  const i = Math.min(Math.max(Math.floor(at) || 0, 0), text.length)
  return text.charCodeAt(i) >> 10 === 0x37 && text.charCodeAt(i - 1) >> 10 === 0x36 ? i + 1 : i
}

/** The part as a model gets it. */
export function partText({ text, offset, total }: ResultPart): string {
  const end = offset + text.length
  return `${text}\n[characters ${offset} to ${end} of ${total}${end < total ? `; go on with offset ${end}` : ''}]`
}
