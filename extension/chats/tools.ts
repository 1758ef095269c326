import { ToolFault, type Tool, type ToolCall, type ToolOutput } from '../tools/tool.ts'
import { longestRun, type ChatDesk, type Question } from './desk.ts'
import { look } from './drive.ts'
import { profiles } from './profiles/index.ts'
import type { Answer, Site } from './wire.ts'

const prompt = { type: 'string', minLength: 1, maxLength: 200_000, description: 'The whole prompt' }
const conversationId = {
  type: 'string',
  pattern: '^[\\w-]{1,200}$',
  description: 'Goes on with a conversation: the id of an earlier answer',
}
const timeoutSeconds = {
  type: 'integer',
  minimum: 10,
  maximum: longestRun,
  default: longestRun,
  description: 'How long it may take in all, its turn in the queue included',
}
const models = ['gemini-2.5-flash', 'gemini-1.5-pro', 'gemini-1.5-flash', 'gemini-1.0-pro']

const answerSchema = {
  type: 'object',
  properties: {
    answer: { type: 'string', description: 'Markdown. Untrusted: what the site wrote' },
    url: { type: 'string' },
    conversationId: { type: ['string', 'null'] },
    timings: { type: 'object', additionalProperties: { type: 'number' } },
    profile: { type: 'string' },
    confidence: { enum: ['high', 'medium', 'low'] },
    evidence: { type: 'array', items: { type: 'string' } },
    truncated: { type: 'boolean' },
  },
  required: ['answer', 'url', 'conversationId', 'timings', 'profile', 'confidence', 'evidence', 'truncated'],
}

const annotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: true }

// T1's words.
const descriptions: Record<Site, string> = {
  chatgpt: 'Send a prompt to OpenAI ChatGPT and get a response',
  gemini: 'Send a prompt to Google Gemini AI and get a response',
  aistudio: 'Send a prompt to a Gemini model in Google AI Studio and get a response',
}

/** T2's parameters, of the site that has them. */
const parameters: Partial<Record<Site, Record<string, { default: unknown; [keyword: string]: unknown }>>> = {
  aistudio: {
    temperature: { type: 'number', minimum: 0, maximum: 1, default: 0.7 },
    model: { type: 'string', enum: models, default: models[0] },
  },
}

/**
 * The parameters that have their default, which nobody may have asked for: a site that no longer has it goes on with
 * its own.
 */
function defaults(site: Site, args: Record<string, unknown>): string[] {
  const known = parameters[site] ?? {}
  return Object.keys(known).filter((name) => args[name] === known[name]!.default)
}

/** The tools of the sites that are switched on. */
export function chatTools(desk: ChatDesk, aliases: boolean): Tool[] {
  const on = desk.enabled
  const tools: Tool[] = on.map((site) => ({
    name: `chat_${site}`,
    title: `Ask ${profiles[site].label}`,
    description: descriptions[site],
    annotations,
    inputSchema: {
      type: 'object',
      properties: { prompt, ...parameters[site], conversationId, timeoutSeconds },
      required: ['prompt'],
      additionalProperties: false,
    },
    outputSchema: answerSchema,
    run: (call) => one(desk, call, { site, ...call.args, preferred: defaults(site, call.args) } as unknown as Question),
  }))
  if (on.length) {
    tools.push({
      name: 'chat_all',
      title: 'Ask several chats',
      annotations,
      description: `Send the same prompt to several chats at once and get each one's response: ${
        on.map((s) => profiles[s].label).join(', ')
      }`,
      inputSchema: {
        type: 'object',
        required: ['prompt'],
        additionalProperties: false,
        properties: {
          prompt,
          services: {
            type: 'array',
            items: { enum: on },
            minItems: 1,
            uniqueItems: true,
            description: 'Which; without it, all',
          },
          timeoutSeconds,
        },
      },
      run: (call) =>
        several(
          desk,
          call,
          (call.args.services as Site[] | undefined) ?? on,
          String(call.args.prompt),
          Number(call.args.timeoutSeconds),
        ),
    })
    tools.push({
      name: 'chat_snapshot',
      title: "Look at a chat's page",
      annotations: { readOnlyHint: true, openWorldHint: true },
      description:
        "Returns the structure of a chat's page without what people wrote, and how many elements each of the driver's selectors finds. For reports of a site that changed.",
      inputSchema: {
        type: 'object',
        properties: { service: { enum: on } },
        required: ['service'],
        additionalProperties: false,
      },
      run: (call) => snapshot(desk, call.args.service as Site, call.signal),
    })
  }
  if (aliases) tools.push(...aliasTools(desk, on))
  return tools
}

/** B1's names. */
function aliasTools(desk: ChatDesk, on: Site[]): Tool[] {
  const schema = {
    type: 'object',
    properties: { question: prompt },
    required: ['question'],
    additionalProperties: false,
  }
  const alias = (name: string, of: string, needs: Site[], run: Tool['run']): Tool[] =>
    needs.every((s) => on.includes(s))
      ? [{ name, description: `${of} under another name.`, annotations, inputSchema: schema, run }]
      : []
  return [
    ...alias(
      'ask_chatgpt_web',
      'chat_chatgpt',
      ['chatgpt'],
      (c) => one(desk, c, { site: 'chatgpt', prompt: String(c.args.question) }),
    ),
    ...alias(
      'ask_gemini_web',
      'chat_gemini',
      ['gemini'],
      (c) => one(desk, c, { site: 'gemini', prompt: String(c.args.question) }),
    ),
    ...alias(
      'ask_chatgpt_gemini_web',
      'chat_all with ChatGPT and Gemini',
      ['chatgpt', 'gemini'],
      (c) => several(desk, c, ['chatgpt', 'gemini'], String(c.args.question)),
    ),
  ]
}

/** What a site wrote is data, and is marked so (S10). */
const untrusted = (...from: Site[]) => ({ 'portolan/untrusted': from.map((s) => new URL(profiles[s].newChat).host) })

const structured = (site: Site, { layout, ...rest }: Answer) => ({ ...rest, profile: `${site}/${layout}` })

/** Progress counts up; its message is where the run is, or the answer so far. */
function teller(call: ToolCall): (text: string) => void {
  let n = 0
  return (text) => call.progress(++n, undefined, text)
}

const progressText = 2000

async function one(desk: ChatDesk, call: ToolCall, question: Question): Promise<ToolOutput> {
  const tell = teller(call)
  const answer = await desk.ask(question, call, { step: tell, partial: (text) => tell(text.slice(-progressText)) })
  return {
    content: [{ type: 'text', text: answer.answer }],
    structuredContent: structured(question.site, answer),
    _meta: untrusted(question.site),
  }
}

async function several(
  desk: ChatDesk,
  call: ToolCall,
  services: Site[],
  prompt: string,
  timeoutSeconds = longestRun,
): Promise<ToolOutput> {
  const tell = teller(call)
  const outcomes = await Promise.all(services.map(async (site) => {
    const { label } = profiles[site]
    try {
      const answer = await desk.ask({ site, prompt, timeoutSeconds }, call, {
        step: tell,
        partial: (text) => tell(`${label}: ${text.slice(-progressText)}`),
      })
      return { site, label, text: answer.answer, value: structured(site, answer) }
    } catch (e) {
      const { code = 'UNKNOWN', message, details } = e as ToolFault
      return {
        site,
        label,
        text: `${message} (${code})`,
        value: { error: { code, message, ...details } },
        failed: true,
      }
    }
  }))
  return {
    content: outcomes.map(({ label, text, failed }) => ({
      type: 'text',
      text: `## ${label}${failed ? ': no answer' : ''}\n\n${text}`,
    })),
    structuredContent: Object.fromEntries(outcomes.map(({ site, value }) => [site, value])),
    isError: outcomes.every((o) => o.failed),
    _meta: untrusted(...services),
  }
}

async function snapshot(desk: ChatDesk, site: Site, signal: AbortSignal): Promise<ToolOutput> {
  const profile = profiles[site]
  const tab = desk.places.tabOf(site) ?? await desk.places.open(profile, profile.newChat, true, signal)
  const seen = await look(tab, profile)
  return {
    content: [{ type: 'text', text: JSON.stringify(seen, null, 1) }],
    structuredContent: seen,
    _meta: untrusted(site),
  }
}
