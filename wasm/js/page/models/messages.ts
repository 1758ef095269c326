// Messages of prompts in the forms of providers.

import { textOf } from './text.ts'
import { unknownFormat } from './formats.ts'
import type { ContentBlock, Dialect, PromptMessage, ProviderMessage } from '../../shared/types.ts'
import { mediaOf, mostImageBytes, takenBy, type Media } from './media.ts'

/** The block as a text. Any other block has a marker instead, as in results. */
const wordsOf = (block: ContentBlock) => block.type === 'text' ? String(block.text) : textOf({ content: [block] })

type Image = Pick<Media, 'data' | 'mimeType'>
type Make = (message: PromptMessage, image: Image | undefined) => ProviderMessage

const urlOf = ({ data, mimeType }: Image) => `data:${mimeType};base64,${data}`

const forms: Record<Dialect, Make> = {
  // An assistant's message has text only.
  openai: ({ role, content }, image) => ({
    role,
    content: image && role === 'user' ? [{ type: 'image_url', image_url: { url: urlOf(image) } }] : wordsOf(content),
  }),
  'openai-responses': ({ role, content }, image) => ({
    role,
    content: [
      image && role === 'user'
        ? { type: 'input_image', image_url: urlOf(image), detail: 'auto' }
        : { type: role === 'user' ? 'input_text' : 'output_text', text: wordsOf(content) },
    ],
  }),
  anthropic: ({ role, content }, image) => ({
    role,
    content: [
      image && role === 'user'
        ? { type: 'image', source: { type: 'base64', media_type: image.mimeType, data: image.data } }
        : { type: 'text', text: wordsOf(content) },
    ],
  }),
  gemini: ({ role, content }, image) => ({
    role: role === 'user' ? 'user' : 'model',
    parts: [image ? { inlineData: { mimeType: image.mimeType, data: image.data } } : { text: wordsOf(content) }],
  }),
}

/** The messages in the form of a provider. */
export async function messagesFor(format: Dialect, messages: PromptMessage[]): Promise<ProviderMessage[]> {
  const form = forms[format]
  if (!Object.hasOwn(forms, format)) throw unknownFormat(format, Object.keys(forms))
  // A user's message for Chat Completions has images, and an answer to a call has none.
  const media = takenBy[format === 'openai' ? 'openai-responses' : format]
  const accepted = { ...media, audio: false, document: false, maxImageBytes: mostImageBytes }
  return Promise.all(messages.map(async (m) => form(m, await mediaOf(m.content, accepted))))
}
