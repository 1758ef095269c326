// Sorts JSON-RPC messages. Go gets numbers and short texts, or the text of a message that it reads itself. Definitions
// and results stay in the tables.

import { type Bounds, Flag, Kind, Op } from './events.ts'
import { type JsonObject, isObject, mayLoseDigits, memberText, extentOf } from '../shared/json.ts'
import type { ResultBody } from '../shared/answer.ts'
import type { Json } from './body.ts'
import type { Tables } from './tables.ts'
import { readTools, type ToolsReader } from './tools.ts'
import { heeded } from '../shared/wire.gen.ts'

/** Sends an event of one exchange to Go. The kind gives the arguments their meaning. */
export type Emit = (
  kind: number,
  flags: number,
  a?: number,
  b?: number,
  c?: number,
  textA?: string,
  textB?: string,
) => void

/** The longest message that Go reads itself, in characters. */
export const MESSAGE_CHARS = 1 << 20
const BATCH = 1000

/**
 * The kept part of a longer error message, in characters. It is longer than any that is shown, because Go redacts
 * before it cuts.
 */
const ERROR_CHARS = 64 << 10

export interface Reader {
  bounds: Bounds
  tables: Tables
  emit: Emit
  /** The id of the request whose response ends the exchange, or 0. */
  awaits: number
  /** The bytes of the text that is read, if it came as one. */
  raw?: Uint8Array<ArrayBuffer> | undefined
  /** Texts that no definition may repeat; see tools.ts. */
  secrets(): string[]
  /** Counts an unrequested event or a request of the server. False if the rate limit is reached. */
  spend(asks: boolean): boolean
}

/** Sorts the content of one body or event: a message, or a batch (2025-03-26). */
export function readMessages(r: Reader, parsed: unknown, text: string): void {
  if (!Array.isArray(parsed)) return readMessage(r, parsed, text, text.length)
  const each = Math.ceil(text.length / Math.max(parsed.length, 1))
  const ours = (m: unknown): boolean => isObject(m) && m['id'] === r.awaits && !('method' in m)
  // The response that ends the exchange comes last, because nothing is read after it.
  for (const m of parsed.slice(0, BATCH)) if (!ours(m)) readMessage(r, m, undefined, each)
  for (const m of parsed) if (ours(m)) return readMessage(r, m, undefined, each)
}

/** Sorts a message whose list of tools was read element by element. `size` is the text's, in bytes. */
export function readListed(r: Reader, m: unknown, tools: ToolsReader, size: number): void {
  if (isObject(m) && typeof m['method'] !== 'string' && isObject(m['result']) && Array.isArray(m['result']['tools']))
    readAnswer(r, m, undefined, size, tools)
  else readMessage(r, m, undefined, size)
}

/** Whether a message with this outline is the result of the call `awaits`. */
export function passes(outline: unknown, awaits: number): outline is JsonObject {
  if (!isObject(outline) || outline['id'] !== awaits || 'method' in outline) return false
  return isObject(outline['result']) && isComplete(outline['result'])
}

/** Whether a result is a final one (`resultType`, 2026-07-28). */
const isComplete = (result: JsonObject) => (result['resultType'] ?? 'complete') === 'complete'

/** Sorts such a result. The page parses it. */
export function readPassed(
  r: Reader,
  { message, ordinary, outline, deepest }: Extract<Json, { message: string }>,
): void {
  const { id, result } = outline as { id: number; result: JsonObject }
  if (deepest > r.bounds.depth + 1) return emitText(r, { id }, undefined, Flag.Last) // which Go reads as no answer at all
  const table = r.tables.addResult({ message, ordinary }, message.length)
  r.emit(Kind.Output, Flag.Last | (result['isError'] === true ? Flag.Error : 0), id, table, message.length)
}

/** The result of a call: the response's own, or that of a task. Undefined if it has none. */
function outputOf(op: number, result: JsonObject): JsonObject | undefined {
  if (op === Op.Call || op === Op.Task && result['content']) return result // a call may become no task
  const { status, result: ofCall } = result
  return op === Op.Task && status === 'completed' && isObject(ofCall) ? ofCall : undefined
}

/** A result with its text, if parsing may have lost digits. `isOwn`: it is that of the message, and not of a task. */
function bodyOf(value: JsonObject, isOwn: boolean, text: string | undefined): ResultBody {
  if (text === undefined || !mayLoseDigits(text)) return { value }
  return isOwn
    ? { message: text, ordinary: false }
    : { value, raw: memberText(memberText(text, 'result') ?? '', 'result') }
}

function readMessage(r: Reader, m: unknown, text: string | undefined, bytes: number): void {
  if (!isObject(m)) return
  if (typeof m['method'] === 'string') readUnasked(r, m, m['method'], text)
  else if ('result' in m || 'error' in m) readAnswer(r, m, text, bytes)
}

function readUnasked(r: Reader, m: JsonObject, method: string, text: string | undefined): void {
  if (!r.spend('id' in m)) return
  const params = isObject(m['params']) ? m['params'] : {}
  if ('id' in m) {
    const id = m['id']
    if (typeof id === 'number' || typeof id === 'string') emitText(r, m, text, 0)
  } else if (method === 'notifications/progress') {
    const { progressToken, progress, total, message } = params
    if (!Number.isFinite(progress) || !Number.isFinite(progressToken)) return
    r.emit(
      Kind.Progress,
      0,
      progressToken as number,
      progress as number,
      Number.isFinite(total) ? total as number : 0,
      typeof message === 'string' ? message.slice(0, 1000) : '',
    )
  } else if (method === 'notifications/tools/list_changed') {
    r.emit(Kind.Changed, 0)
  } else if ((heeded as readonly string[]).includes(method)) {
    emitText(r, m, text, 0)
  }
}

function readAnswer(r: Reader, m: JsonObject, text: string | undefined, bytes: number, elements?: ToolsReader): void {
  let id = m['id'] as number
  if (id == null && r.awaits && isObject(m['error'])) {
    // A server that could not read the request does not know its id.
    id = r.awaits
    m = { ...m, id }
    text = undefined
  }
  if (!id || !Number.isSafeInteger(id)) return // no request has the id 0
  const last = id === r.awaits ? Flag.Last : 0
  const result = m['result']
  if (isObject(result) && isComplete(result)) {
    const op = id & Op.Mask
    if (op === Op.List) {
      const list = elements ?? readTools(result, bytes, text, r.bounds, r.secrets())
      if (list)
        return r.emit(
          Kind.Tools,
          last,
          id,
          r.tables.addPage({ list: list.list, text, raw: text === undefined ? undefined : r.raw }),
          bytes,
          list.names,
          list.extra(result),
        )
      m = { id, result: {} }
      text = undefined
    }
    const output = outputOf(op, result)
    if (output) {
      if (extentOf(output, r.bounds.depth)) {
        const table = r.tables.addResult(bodyOf(output, output === result, text), bytes)
        return r.emit(Kind.Output, last | (output['isError'] === true ? Flag.Error : 0), id, table, bytes)
      }
      m = { id } // which Go reads as no answer at all
      text = undefined
    }
  }
  emitText(r, m, text, last)
}

// Go parses the text, so depth and length are bounded here. Of a larger message only the id remains, and of an error
// its code and the start of its message.
function emitText(r: Reader, m: JsonObject, text: string | undefined, last: number): void {
  if (extentOf(m, r.bounds.depth)) {
    text ??= JSON.stringify(m)
    if (text.length <= MESSAGE_CHARS) return r.emit(Kind.Message, last, 0, 0, 0, text)
  }
  if (!last) return
  const { id, error } = m
  let fault: JsonObject | undefined
  if (isObject(error)) {
    const { code, message } = error
    const words = typeof message === 'string' ? message.slice(0, ERROR_CHARS) : ''
    fault = { code: typeof code === 'number' ? code : 0, message: words }
  }
  r.emit(Kind.Message, last, 0, 0, 0, JSON.stringify({ id, error: fault }))
}
