// Results in the forms of providers, as the answers to tool calls.

import { checkFields } from '../../shared/fields.ts'
import { unknownFormat } from './formats.ts'
import { isObject } from '../../shared/object.ts'
import { plain } from '../../shared/plaintext.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import type { MessageFormat, MessageOptions, Snapshot, ToolMessages, ToolResult } from '../../shared/types.ts'
import { mediaOf, mostImageBytes, takenBy, type Accepted, type imageTypes, type Media } from './media.ts'
import { isOwn } from './own-tools.ts'
import { searchTool } from './toolnames.ts'
import { blockText, sound } from './text.ts'

export { messagesFor } from './messages.ts'

/** The most blocks of a message that are not text. */
const mostMedia = 20

type ImageType = typeof imageTypes[number]

type Pieces = (string | Media)[]

/** Makes the provider's answer of a result. */
export async function messageFor(
  snapshot: Snapshot,
  result: ToolResult,
  options: MessageOptions,
): Promise<ToolMessages[MessageFormat]> {
  const { format, callId, accepted } = checked(options)
  if (!Array.isArray(result?.content))
    throw new RegistryError('invalid_arguments', 'toMessage takes a result of call()')
  const pieces: Pieces = result.isError ? [result.text] : await piecesOf(result, accepted)
  return forms[format](pieces, callId!, result, snapshot)
}

function checked(options: MessageOptions): Pick<MessageOptions, 'format' | 'callId'> & { accepted: Accepted } {
  checkFields('toMessage', options ?? null, 'format callId modalities maxImageBytes')
  const { format, callId, modalities = {}, maxImageBytes = mostImageBytes } = options
  const bad = (message: string, hint = '') => new RegistryError('invalid_option', message, { hint })
  if (!Object.hasOwn(takenBy, format)) throw unknownFormat(format, Object.keys(takenBy))
  if (callId === undefined ? !/^(gemini|ai-sdk)$/.test(format) : typeof callId !== 'string')
    throw bad('callId is not a string', "It is the id of the model's call.")
  checkFields('modalities', modalities, 'image audio document')
  if (!(typeof maxImageBytes === 'number' && maxImageBytes >= 0)) throw bad('maxImageBytes is not a number of bytes')
  const { image = true, audio = false, document = true } = modalities
  const has = takenBy[format]
  return {
    format,
    callId,
    accepted: {
      ...has,
      image: image ? has.image : [],
      audio: audio && has.audio,
      document: document && has.document,
      maxImageBytes,
    },
  }
}

/** The texts and the media of a result, in order. */
async function piecesOf(result: ToolResult, accepted: Accepted): Promise<Pieces> {
  const media: Media[] = [], pieces: Pieces = []
  let words: string[] = [], hasText = false
  const flush = () => {
    const text = sound(plain(words.join('\n')).text)
    if (text.trim()) pieces.push(text) // Anthropic refuses a request with a blank one
    words = []
  }
  for (const block of result.content) {
    const found = media.length < mostMedia ? await mediaOf(block, accepted) : undefined
    if (found) {
      flush()
      media.push(found)
      pieces.push(found)
      continue
    }
    const [text, isText] = blockText(block)
    if (text) words.push(text)
    hasText ||= isText
  }
  flush()
  if (!media.length) return [result.text]
  // The text of a cut result names its handle. Without a text block, the structured content is the text.
  const isWhole = !result.truncated && (hasText || result.structuredContent == null)
  return isWhole ? pieces : [result.text, ...media]
}

const urlOf = ({ mimeType, data }: Media) => `data:${mimeType};base64,${data}`

/** The only piece, if it is a text. */
const onlyText = ([first, second]: Pieces) => typeof first === 'string' && second === undefined ? first : undefined

/** The tools that a search has found. The API loads those that were deferred. A server's own results have an origin. */
function foundBy({ server, tool, structuredContent: found, provenance }: ToolResult) {
  if (provenance?.origin || server !== 'portolan' || tool !== searchTool || !isObject(found)) return undefined
  return (found['names'] as string[]).map((tool_name) => ({ type: 'tool_reference' as const, tool_name }))
}

type Form<F extends MessageFormat> = (
  pieces: Pieces,
  callId: string,
  result: ToolResult,
  snapshot: Snapshot,
) => ToolMessages[F]

const forms: { [F in MessageFormat]: Form<F> } = {
  openai: (_, tool_call_id, { text }) => ({ role: 'tool', tool_call_id, content: text }),
  'openai-responses': (pieces, call_id) => ({
    type: 'function_call_output',
    call_id,
    output: onlyText(pieces) ?? pieces.map((piece) => {
      if (typeof piece === 'string') return { type: 'input_text', text: piece }
      if (piece.kind === 'image') return { type: 'input_image', image_url: urlOf(piece), detail: 'auto' }
      const filename = `document.${piece.text === undefined ? 'pdf' : 'txt'}`
      return { type: 'input_file', filename, file_data: urlOf(piece) }
    }),
  }),
  anthropic: (pieces, tool_use_id, result) => ({
    type: 'tool_result',
    tool_use_id,
    ...(result.isError && { is_error: true }),
    content: foundBy(result) ?? onlyText(pieces) ?? pieces.map((piece) => {
      if (typeof piece === 'string') return { type: 'text', text: piece }
      const { kind, mimeType, data, text } = piece
      if (kind === 'image')
        return {
          type: kind,
          source: { type: 'base64', media_type: mimeType as ImageType, data },
        }
      return {
        type: 'document',
        source: text === undefined
          ? { type: 'base64', media_type: 'application/pdf', data }
          : { type: 'text', media_type: 'text/plain', data: text },
      }
    }),
  }),
  gemini: (pieces, id, result, snapshot) => {
    const text = pieces.filter((piece) => typeof piece === 'string').join('\n')
    const parts = pieces.flatMap((piece) =>
      typeof piece === 'string' ? [] : { inlineData: { mimeType: piece.mimeType, data: piece.data } }
    )
    return {
      functionResponse: {
        ...(id && { id }),
        name: nameOf(result, snapshot),
        response: result.isError ? { error: text } : { output: text },
        ...(parts.length && { parts }),
      },
    }
  },
  'ai-sdk': (pieces, _, { isError }) => {
    const value = onlyText(pieces)
    if (value !== undefined) return { type: isError ? 'error-text' : 'text', value }
    return {
      type: 'content',
      value: pieces.map((piece) => {
        if (typeof piece === 'string') return { type: 'text', text: piece }
        return { type: 'file', mediaType: piece.mimeType, data: { type: 'data', data: piece.data } }
      }),
    }
  },
}

/** The tool's name in the registry. A tool that is gone has the name that tools usually get. */
function nameOf({ server, tool }: ToolResult, { tools, withheld, held }: Snapshot): string {
  const listed = [...tools, ...withheld, ...held].find((t) => t.server === server && t.tool === tool)
  if (listed) return listed.name
  return isOwn(tool) ? tool : `${server}__${tool}`
}
