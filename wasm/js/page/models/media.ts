// The images, audio and documents of results, as providers take them.

import { cut, isForUser, sound, type Block } from './text.ts'
import { fromBase64, toBase64 } from '../../shared/base64.ts'
import { plain } from '../../shared/plaintext.ts'
import type { ContentBlock, MessageFormat } from '../../shared/types.ts'

/** A part of a result that is no text. `data` is base64. */
export interface Media {
  kind: 'image' | 'audio' | 'document'
  mimeType: string
  data: string
  /** The text of a text document. */
  text?: string
}

/** The media that a provider and its model take. */
export interface Accepted {
  /** MIME types. */
  image: readonly string[]
  audio: boolean
  document: boolean
  maxImageBytes: number
  /** The longest side of an image, in pixels, where there is a bound. */
  maxSide?: number | undefined
}

/** The types of images that providers take. Gemini does not take the last. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

/** The longest side of an image that Claude takes, in pixels. It refuses each request with a longer one. */
const mostSide = 8000

/** The media that answers to calls may have in the formats. */
export const takenBy: Record<MessageFormat, Omit<Accepted, 'maxImageBytes'>> = {
  openai: { image: [], audio: false, document: false },
  'openai-responses': { image: imageTypes, audio: false, document: true },
  anthropic: { image: imageTypes, audio: false, document: true, maxSide: mostSide },
  gemini: { image: imageTypes.slice(0, 3), audio: true, document: true },
  'ai-sdk': { image: imageTypes, audio: true, document: true, maxSide: mostSide },
}

/** The largest image that a message has, in bytes, unless the app sets another bound. */
export const mostImageBytes = 5 << 20

/** The longest side of an image that was made smaller, in pixels, and the shortest that is tried. */
const longestSide = 2048, shortestSide = 256

/** The most pixels of an image that is decoded here. Each takes four bytes. */
const mostPixels = 64 << 20

/** The most bytes of a text document. */
const longestText = 1 << 20

/** The beginnings of files. Providers refuse a whole request if a block's type is not that of its bytes. */
const signatures: [start: RegExp, mimeType: string][] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8/, 'image/gif'],
  [/^RIFF[^]{4}WEBP/, 'image/webp'],
  [/^%PDF-/, 'application/pdf'],
]

/** The media of a block. Undefined if it has none that is accepted. */
export async function mediaOf(block: ContentBlock, accepted: Accepted): Promise<Media | undefined> {
  const found = isForUser(block) ? undefined : read(block)
  if (!found) return
  const { mimeType, data } = found
  const kind = mimeType.split('/')[0]
  if (kind === 'image' && accepted.image.length) return imageOf(found, accepted)
  if (kind === 'audio' && accepted.audio) return { kind, mimeType, data }
  if (!accepted.document) return
  if (mimeType === 'application/pdf' && found.isKnown) return { kind: 'document', mimeType, data }
  if (mimeType === 'text/plain') return textDocument(data)
}

/** A block's bytes as canonical base64. Their type is that of their signature, or else the one that they claim. */
interface Found {
  mimeType: string
  data: string
  isKnown: boolean
}

function read(block: Block): Found | undefined {
  const resource = (block.resource ?? {}) as Block
  const { data: given, mimeType: claimed = '' } = block.type === 'resource'
    ? { data: resource.blob, mimeType: resource.mimeType }
    : block
  if (typeof given !== 'string' || typeof claimed !== 'string') return
  const digits = given.replace(/\s+|(?<!=)=+\s*$/g, '') // each run of = is tried once
  if (!/^[A-Za-z0-9+/]+$/.test(digits) || digits.length % 4 === 1) return
  const data = digits + '='.repeat(-digits.length & 3)
  const start = atob(data.slice(0, 24))
  const known = signatures.find(([pattern]) => pattern.test(start))?.[1]
  const mimeType = known ?? claimed.split(';')[0]!.trim().toLowerCase()
  return /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? { mimeType, data, isKnown: !!known } : undefined
}

async function imageOf(
  { mimeType, data, isKnown }: Found,
  { image, maxImageBytes, maxSide = Infinity }: Accepted,
): Promise<Media | undefined> {
  const bytes = fromBase64(data)
  const sides = sidesOf(bytes, mimeType)
  const isSmall = bytes.length <= maxImageBytes && Math.max(...sides) <= maxSide
  if (isSmall && isKnown && image.includes(mimeType)) return { kind: 'image', mimeType, data }
  if (sides[0]! * sides[1]! <= mostPixels) return redrawn(bytes, mimeType, maxImageBytes).catch(() => undefined)
}

/**
 * The sides of an image in pixels, as its header says. None for other types: the frames of a GIF can be larger than its
 * header says.
 */
function sidesOf(bytes: Uint8Array, mimeType: string): number[] {
  const view = new DataView(bytes.buffer)
  try {
    if (mimeType === 'image/png') return [view.getUint32(16), view.getUint32(20)]
    if (mimeType === 'image/webp') {
      const side = (bits: number, shift = 0) => (bits >>> shift) & 0x3fff
      const low = (at: number) => view.getUint32(at, true)
      switch (view.getUint8(15)) { // the end of VP8X, VP8L, or "VP8 "
        case 0x58:
          return [(low(24) & 0xffffff) + 1, (low(26) >>> 8) + 1]
        case 0x4c:
          return [side(low(21)) + 1, side(low(21), 14) + 1]
      }
      return [side(low(26)), side(low(26), 16)]
    }
    if (mimeType === 'image/jpeg') {
      for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
        const marker = view.getUint8(at + 1)
        if (marker >> 4 === 0xc && ![0xc4, 0xc8, 0xcc].includes(marker))
          return [view.getUint16(at + 7), view.getUint16(at + 5)]
      }
    }
  } catch { /* it ends before its size */ }
  return []
}

/** Draws an image again, with fewer pixels until it is small enough. Rejects where there is no canvas. */
async function redrawn(bytes: Uint8Array<ArrayBuffer>, mimeType: string, most: number): Promise<Media | undefined> {
  const image = await createImageBitmap(new Blob([bytes], { type: mimeType }))
  try {
    const whole = Math.max(image.width, image.height)
    for (let side = Math.min(longestSide, whole);; side = Math.floor(side / 2)) {
      const scale = side / whole
      const size = (n: number) => Math.max(1, Math.round(n * scale))
      const canvas = new OffscreenCanvas(size(image.width), size(image.height))
      const context = canvas.getContext('2d')!
      context.drawImage(image, 0, 0, canvas.width, canvas.height)
      for (const type of mimeType === 'image/jpeg' ? ['image/jpeg'] : ['image/png', 'image/jpeg']) {
        if (type === 'image/jpeg') { // which has no transparency
          context.globalCompositeOperation = 'destination-over'
          context.fillStyle = '#fff'
          context.fillRect(0, 0, canvas.width, canvas.height)
        }
        const blob = await canvas.convertToBlob({ type, quality: 0.85 })
        if (blob.size <= most)
          return { kind: 'image', mimeType: blob.type, data: toBase64(new Uint8Array(await blob.arrayBuffer())) }
      }
      if (side <= shortestSide) return
    }
  } finally {
    image.close()
  }
}

function textDocument(data: string): Media {
  const whole = plain(sound(new TextDecoder().decode(fromBase64(data)))).text
  const { text } = cut(whole, longestText)
  return { kind: 'document', mimeType: 'text/plain', data: toBase64(new TextEncoder().encode(text)), text }
}
