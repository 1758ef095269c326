import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContentBlock, MessageFormat, MessageOptions, Snapshot, ToolResult } from '../../shared/types.ts'
import { Results } from './results.ts'
import { messageFor, messagesFor } from './tomessage.ts'

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
const png = base64('\x89PNG\r\n\x1a\n....'), jpeg = base64('\xff\xd8\xff....'), pdf = base64('%PDF-1.7')
const image = (data: string, mimeType = 'image/png'): ContentBlock => ({ type: 'image', data, mimeType })
const text = (text: string): ContentBlock => ({ type: 'text', text })

const snapshot: Snapshot = { status: 'ready', version: 1, servers: {}, tools: [], withheld: [], held: [] }

function result(content: ContentBlock[], more: Partial<ToolResult> = {}): ToolResult {
  const provenance = { server: 's', tool: 't', origin: '', untrusted: true } as const
  return { text: 'the text', content, isError: false, server: 's', tool: 't', durationMs: 1, provenance, ...more }
}

/** The pieces of a message for the AI SDK: texts, and types with the data. */
async function pieces(r: ToolResult, options: Partial<MessageOptions> = {}): Promise<string[]> {
  const output = await messageFor(snapshot, r, { ...options, format: 'ai-sdk' }) as {
    value: string | { text?: string; mediaType: string; data: { data: string } }[]
  }
  return typeof output.value === 'string'
    ? [output.value]
    : output.value.map((v) => v.text ?? `${v.mediaType} ${v.data.data}`)
}

test('texts and media keep their order', async () => {
  const mixed = result([text('one'), text('two'), image(png), text('three'), image(jpeg, 'image/jpeg')])
  assert.deepEqual(await pieces(mixed), ['one\ntwo', `image/png ${png}`, 'three', `image/jpeg ${jpeg}`])
})

test('a blank text beside media is left out, because Anthropic refuses a request with one', async () => {
  for (const blank of ['', ' ', '\n\t\n', '\u2003'])
    assert.deepEqual(
      await pieces(result([text(blank), image(png), text(blank)])),
      [`image/png ${png}`],
      JSON.stringify(blank),
    )
})

test('only the registry itself has found tools, and no server of its name', async () => {
  const names = ['s__t']
  const of = async (origin: string, structuredContent: object) => {
    const provenance = { server: 'portolan', tool: 'portolan_search_tools', origin, untrusted: true } as const
    const { server, tool } = provenance
    const found = result([], { server, tool, structuredContent, provenance })
    return (await messageFor(snapshot, found, { format: 'anthropic', callId: 'a' }) as { content: unknown }).content
  }
  assert.deepEqual(await of('', { names }), [{ type: 'tool_reference', tool_name: 's__t' }])
  for (const structuredContent of [{ names }, { names: 5 }, {}])
    assert.equal(await of('https://mcp.example', structuredContent), 'the text')
})

test('images of prompts have types that the provider takes', async () => {
  const gif = base64('GIF89a....'), svg = base64('<svg/>')
  const messages = [image(png, 'image/jpeg'), image(gif, 'image/gif'), image(svg, 'image/svg+xml')].map((content) => ({
    role: 'user' as const,
    content,
  }))
  const seen = async (format: 'anthropic' | 'gemini') =>
    JSON.stringify(await messagesFor(format, messages)).match(/image\/[\w+]+(?=")|\[image: [^\]]*\]/g)
  assert.deepEqual(await seen('anthropic'), ['image/png', 'image/gif', '[image: image/svg+xml, 6 B]'])
  assert.deepEqual(await seen('gemini'), ['image/png', '[image: image/gif, 10 B]', '[image: image/svg+xml, 6 B]'])
})

test('without media the text is that of the result', async () => {
  for (const content of [[], [text('')], [text('one')], [image('')], [{ type: 'new' } as never]])
    assert.deepEqual(await pieces(result(content)), ['the text'])
})

test('the bytes decide the type', async () => {
  assert.deepEqual(await pieces(result([image(jpeg, 'image/png')])), [`image/jpeg ${jpeg}`])
  assert.deepEqual(await pieces(result([image(png, 'IMAGE/PNG; q=1')])), [`image/png ${png}`])
  const blob = (mimeType: string, blob: string): ContentBlock => ({
    type: 'resource',
    resource: { uri: 'a:b', mimeType, blob },
  })
  assert.deepEqual(await pieces(result([blob('application/octet-stream', pdf)])), [`application/pdf ${pdf}`])
  assert.deepEqual(await pieces(result([blob('application/pdf', base64('MZ'))])), ['the text'], 'no PDF')
  assert.deepEqual(await pieces(result([image(base64('<svg/>'), 'image/svg+xml')])), ['the text'], 'not drawn in Node')
})

test('base64 is made canonical, and anything else has a marker', async () => {
  const bare = png.replace(/=+$/, '')
  const broken = `${png.slice(0, 5)}\n ${png.slice(5)}\n`
  assert.deepEqual(await pieces(result([image(bare), image(broken)])), [`image/png ${png}`, `image/png ${png}`])
  for (const data of ['', '=', 'iVBO"', 'iVBOR', `${png}_`, 5 as never, undefined as never])
    assert.deepEqual(await pieces(result([image(data)])), ['the text'])
})

test('padding without data takes no time', async () => {
  assert.deepEqual(await pieces(result([image('='.repeat(1_000_000) + 'x')])), ['the text']) // hours, if quadratic
})

test('what is for the user alone is left out', async () => {
  const user = { annotations: { audience: ['user'] } }
  const both = { annotations: { audience: ['user', 'assistant'] } }
  const content = [{ ...text('secret'), ...user }, { ...image(png), ...user }, {
    ...image(jpeg),
    ...both,
  }] as ContentBlock[]
  assert.deepEqual(await pieces(result(content)), [`image/jpeg ${jpeg}`])
})

test('structured content is the text where no block is', async () => {
  const structuredContent = { a: 1 }
  const one = result([image(png)], { structuredContent })
  assert.deepEqual(await pieces(one), ['the text', `image/png ${png}`])
  const two = result([text('one'), image(png)], { structuredContent })
  assert.deepEqual(await pieces(two), ['one', `image/png ${png}`])
})

test('hidden characters and halves of characters are no text', async () => {
  assert.deepEqual(await pieces(result([text('a\u200b\ud800b'), image(png)])), ['a\ufffdb', `image/png ${png}`])
})

test('what is no block of a result is left out', async () => {
  const value = { content: [null, 5, 'x', [null], text('one'), image(png)] }
  const answer = { server: 's', tool: 't', isError: false, durationMs: 1, value }
  const taken = await new Results().take(answer, 0, '')
  assert.deepEqual(taken.content, value.content.slice(4))
  assert.deepEqual(await pieces(taken), ['one', `image/png ${png}`])
})

test('an error is text, and so is what a model does not take', async () => {
  assert.deepEqual(await pieces(result([text('one'), image(png)], { isError: true })), ['the text'])
  assert.deepEqual(await pieces(result([text('one'), image(png)]), { modalities: { image: false } }), ['the text'])
  const wave: ContentBlock = { type: 'audio', data: base64('RIFF....WAVE'), mimeType: 'audio/wav' }
  assert.deepEqual(await pieces(result([wave])), ['the text'])
  assert.deepEqual(await pieces(result([wave]), { modalities: { audio: true } }), [`audio/wav ${wave.data}`])
  assert.deepEqual(await pieces(result([image(png)]), { maxImageBytes: 11 }), ['the text'])
  assert.equal((await pieces(result([image(png)]), { maxImageBytes: 12 })).length, 1)
})

test('a message has at most 20 media, and markers for the others', async () => {
  const made = await pieces(result(Array.from({ length: 22 }, () => image(png))))
  assert.equal(made.length, 21)
  assert.equal(made[20], '[image: image/png, 12 B]\n[image: image/png, 12 B]')
})

test('a text document is cut at 1 MiB and has no hidden characters', async () => {
  const blob = Buffer.from(`\ufeffa\u200b${'b'.repeat(2 << 20)}`).toString('base64')
  const content: ContentBlock[] = [{ type: 'resource', resource: { uri: 'a:b', mimeType: 'text/plain', blob } }]
  const message = await messageFor(snapshot, result(content), { format: 'anthropic', callId: '1' })
  const { data } = (message as { content: { source: { data: string } }[] }).content[0]!.source
  assert.ok(data.length <= 1 << 20)
  assert.match(data, /^ab+\n\[cut: \d+ characters missing\]\nb+$/)
})

test('Gemini gets the listed name, that of the own tools, or the usual one', async () => {
  const tool = { name: 's__t_a1b2', server: 's', tool: 't', definition: { name: 't', inputSchema: {} } }
  const name = async (now: Snapshot, more: Partial<ToolResult> = {}) => {
    const message = await messageFor(now, result([], more), { format: 'gemini' })
    return (message as { functionResponse: { name: string } }).functionResponse.name
  }
  assert.equal(await name({ ...snapshot, tools: [tool] }), 's__t_a1b2')
  assert.equal(await name({ ...snapshot, held: [{ ...tool, reason: 'changed', changes: [] }] }), 's__t_a1b2')
  assert.equal(await name({ ...snapshot, tools: [{ ...tool, server: 'other' }] }), 's__t')
  assert.equal(await name(snapshot, { tool: 'portolan_read_resource' }), 'portolan_read_resource')
})

test('wrong options are named', async () => {
  const fails = async (options: unknown, message: RegExp) =>
    assert.rejects(messageFor(snapshot, result([]), options as MessageOptions), { code: 'invalid_option', message })
  await fails(undefined, /the options of toMessage are not an object/)
  await fails({ format: { of: 1n } }, /unknown format of type object/)
  await fails({ format: 'openai' }, /callId/)
  await fails({ format: 'gemini', callId: 7 }, /callId/)
  await fails({ format: 'toString', callId: '1' }, /unknown format "toString"/)
  await fails({ format: 'openai', callID: '1' }, /unknown option "callID"/)
  await fails({ format: 'gemini', modalities: { images: true } }, /unknown option "images"/)
  await fails({ format: 'gemini', maxImageBytes: '5' }, /maxImageBytes/)
  for (const given of ['the text', undefined, {}])
    await assert.rejects(messageFor(snapshot, given as never, { format: 'gemini' }), {
      code: 'invalid_arguments',
      message: /call\(\)/,
    })
  for (const format of ['gemini', 'ai-sdk'] as MessageFormat[])
    await messageFor(snapshot, result([]), { format } as MessageOptions)
})
