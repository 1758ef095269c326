// Messages of prompts in the forms of providers.

import { textOf } from './text.ts'
import { RegistryError } from '../shared/registry-error.ts'
import type { ContentBlock, Dialect, PromptMessage, ProviderMessage } from '../shared/types.ts'

/**
 * An image of a block: its own, or that of an embedded resource. Providers refuse a whole request for an image of
 * another type.
 */
function imageOf(block: ContentBlock, format: Dialect): { data: string; mimeType: string } | undefined {
  const { type, data, mimeType, resource } = block as Record<string, unknown>
  const image = type === 'image'
    ? { data, mimeType }
    : {
      data: (resource as { blob?: unknown } | undefined)?.blob,
      mimeType: (resource as { mimeType?: unknown })?.mimeType,
    }
  const { data: bytes, mimeType: kind } = image
  const known = format === 'gemini' ? /^image\/(png|jpeg|webp)$/ : /^image\/(png|jpeg|webp|gif)$/
  return typeof bytes === 'string' && typeof kind === 'string' && known.test(kind)
    ? { data: bytes, mimeType: kind }
    : undefined
}

/** The block as a text. What is no text has a marker instead, as in results. */
const wordsOf = (block: ContentBlock) => block.type === 'text' ? String(block.text) : textOf({ content: [block] })

type Make = (message: PromptMessage, image: ReturnType<typeof imageOf>) => ProviderMessage

const urlOf = ({ data, mimeType }: { data: string; mimeType: string }) => `data:${mimeType};base64,${data}`

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
    parts: [image ? { inlineData: image } : { text: wordsOf(content) }],
  }),
}

/** The messages in the form of a provider. */
export function messagesFor(format: Dialect, messages: PromptMessage[]): ProviderMessage[] {
  const form = forms[format]
  if (!Object.hasOwn(forms, format)) {
    throw new RegistryError('invalid_option', `unknown format ${JSON.stringify(format)}`, {
      hint: `Known are ${Object.keys(forms).join(', ')}.`,
    })
  }
  return messages.map((m) => form(m, imageOf(m.content, format)))
}
