import { ToolFault, type Tool, type ToolCall, type ToolOutput } from '../tools/tool.ts'
import { longestRun, type Chats, type Prompt } from './chats.ts'
import { snapshotOf } from './driverport.ts'
import type { Answer } from './drivermessages.ts'
import { historyTools } from './historytools.ts'
import { siteSpecs, untrusted } from './sites/index.ts'
import type { Site } from './sites/site.ts'

export const promptSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 200_000,
  pattern: '\\S', // sites have no way to send a blank prompt
  description: 'The whole prompt',
}
const conversationId = {
  type: 'string',
  pattern: '^[\\w.-]{1,200}$',
  description: 'Continues a conversation: the id from an earlier answer. "new" begins a conversation',
}
export const timeoutSchema = {
  type: 'integer',
  minimum: 10,
  maximum: longestRun,
  default: longestRun,
  description: 'How long it may take, its time in the queue included',
}

export const servicesSchema = (sites: Site[], minItems: number) => ({
  type: 'array',
  items: { type: 'string', enum: sites },
  minItems,
  uniqueItems: true,
  description: 'Which; without it, all',
})

export const labelsOf = (sites: Site[]) => sites.map((site) => siteSpecs[site].label).join(', ')

export const object = (properties: object, required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const answerProperties = {
  answer: { type: 'string', description: 'Markdown. Untrusted: what the site wrote' },
  url: { type: 'string' },
  conversationId: { type: ['string', 'null'] },
  timings: { type: 'object', additionalProperties: { type: 'number' } },
  profile: { type: 'string' },
  confidence: { enum: ['high', 'medium', 'low'] },
  evidence: { type: 'array', items: { type: 'string' } },
  truncated: { type: 'boolean' },
  model: { type: ['string', 'null'], description: 'The model that answered, as the page names it' },
  flags: { type: 'array', items: { type: 'string' }, description: 'suspicious_answer: look at it before you use it' },
}
const answerSchema = { type: 'object', properties: answerProperties, required: Object.keys(answerProperties) }

/** Chats may take minutes. */
export const execution = { taskSupport: 'optional' } as const

export const annotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: true }

/** The names of the sites in the descriptions of their tools. */
const names: Record<Site, string> = {
  chatgpt: 'OpenAI ChatGPT',
  gemini: 'Google Gemini AI',
  aistudio: 'a Gemini model in Google AI Studio',
  claude: 'Anthropic Claude',
  perplexity: 'Perplexity, which searches the web,',
  grok: 'xAI Grok',
  deepseek: 'DeepSeek',
  mistral: 'Mistral Le Chat',
  copilot: 'Microsoft Copilot',
}

/** The parameters of single sites. */
const parameters: Partial<Record<Site, Record<string, { default: unknown; [keyword: string]: unknown }>>> = {
  aistudio: {
    temperature: { type: 'number', minimum: 0, maximum: 1, default: 0.7 },
  },
}

/** Returns the parameter for a site's model, if its page lets one choose. */
function modelParameter(chats: Chats, site: Site): object {
  if (!chats.profiles.of(site).layouts.some((layout) => layout.model)) return {}
  const offered = chats.models.of(site)
  const list = offered.length
    ? `Its page last offered: ${offered.join(', ')}`
    : 'A name that the page does not know is answered with the list of those that it offers'
  return { model: { type: 'string', minLength: 1, maxLength: 100, description: `Default: the page's own. ${list}` } }
}

/** Returns the parameters that have their default. A page without such a setting keeps its own. */
function defaults(site: Site, args: Record<string, unknown>): string[] {
  const known = parameters[site] ?? {}
  return Object.keys(known).filter((name) => args[name] === known[name]!.default)
}

/** Returns the tools of the sites that are switched on. */
export function chatTools(chats: Chats): Tool[] {
  const on = chats.enabled
  const tools: Tool[] = on.map((site) => ({
    name: `chat_${site}`,
    title: `Ask ${siteSpecs[site].label}`,
    description: `Send a prompt to ${names[site]} and get a response`,
    annotations,
    inputSchema: object(
      {
        prompt: promptSchema,
        ...parameters[site],
        ...modelParameter(chats, site),
        conversationId,
        timeoutSeconds: timeoutSchema,
      },
      ['prompt'],
    ),
    outputSchema: answerSchema,
    execution,
    run: (call) => one(chats, call, { site, ...call.args, preferred: defaults(site, call.args) } as unknown as Prompt),
  }))
  if (!on.length) return tools
  tools.push({
    name: 'chat_all',
    title: 'Ask several chats',
    description: `Recommended: send the same prompt to several chats at once and get each one's response: ${
      labelsOf(on)
    }`,
    annotations,
    execution,
    inputSchema: object(
      {
        prompt: promptSchema,
        services: servicesSchema(on, 1),
        timeoutSeconds: timeoutSchema,
      },
      ['prompt'],
    ),
    run: (call) => several(chats, call, { services: on, ...call.args as { prompt: string } }),
  }, {
    name: 'chat_snapshot',
    title: "Look at a chat's page",
    description:
      "Returns the structure of a chat's page without what people wrote, and how many elements each of the " +
      "driver's selectors finds. For reports of a site that changed.",
    annotations: { readOnlyHint: true, openWorldHint: true },
    inputSchema: object({ service: { type: 'string', enum: on } }, ['service']),
    run: (call) => snapshot(chats, call.args.service as Site, call.signal),
  })
  tools.push(...historyTools(chats))
  return tools
}

export const structured = (site: Site, { layout, ...rest }: Answer) => ({ ...rest, profile: `${site}/${layout}` })

/** Progress counts up. Its message is the state of the run, or the answer so far. */
export function reporter(call: ToolCall): (text: string) => void {
  let n = 0
  return (text) => call.progress(++n, undefined, text)
}

const longestProgress = 2000

async function one(chats: Chats, call: ToolCall, prompt: Prompt): Promise<ToolOutput> {
  const step = reporter(call)
  const answer = await chats.ask(prompt, call, { step, partial: (text) => step(text.slice(-longestProgress)) })
  return {
    content: [{ type: 'text', text: answer.answer }],
    structuredContent: structured(prompt.site, answer),
    _meta: untrusted(prompt.site),
  }
}

async function several(
  chats: Chats,
  call: ToolCall,
  { services, ...prompt }: { services: Site[] } & Omit<Prompt, 'site'>,
): Promise<ToolOutput> {
  const step = reporter(call)
  const outcomes = await Promise.all(services.map(async (site) => {
    const { label } = siteSpecs[site]
    const partial = (text: string) => step(`${label}: ${text.slice(-longestProgress)}`)
    try {
      const answer = await chats.askBeside({ ...prompt, site }, call, { step, partial })
      return { site, text: `## ${label}\n\n${answer.answer}`, value: structured(site, answer) }
    } catch (e) {
      const { code = 'UNKNOWN', message, details } = e as ToolFault
      const value = { error: { code, message, ...details } }
      return { site, text: `## ${label}: no answer\n\n${message} (${code})`, value, failed: true }
    }
  }))
  return {
    content: outcomes.map(({ text }) => ({ type: 'text', text })),
    structuredContent: Object.fromEntries(outcomes.map(({ site, value }) => [site, value])),
    isError: outcomes.every((o) => o.failed),
    _meta: untrusted(...services),
  }
}

async function snapshot(chats: Chats, site: Site, signal: AbortSignal): Promise<ToolOutput> {
  chats.settings.check(site)
  const spec = chats.profiles.of(site)
  const seen = await snapshotOf(await chats.tabs.any(spec, signal), spec)
  return {
    content: [{ type: 'text', text: JSON.stringify(seen, null, 1) }],
    structuredContent: seen,
    _meta: untrusted(site),
  }
}
