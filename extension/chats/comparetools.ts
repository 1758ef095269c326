import type { Tool, ToolCall, ToolOutput } from '../tools/tool.ts'
import type { Compare, CompareOrder } from './compare.ts'
import type { Comparisons } from './comparisons.ts'
import { siteSpecs, untrusted } from './sites/index.ts'
import type { Site } from './sites/site.ts'
import {
  annotations,
  execution,
  labelsOf,
  object,
  promptSchema,
  reporter,
  servicesSchema,
  structured,
  timeoutSchema,
} from './tools.ts'

/** The part of an answer that the other sites and the judge see, in UTF-16 units. */
const usualChars = 12_000

/** Returns chat_compare and chat_consensus, if two sites or more are on. */
export function compareTools(comparisons: Comparisons, on: Site[]): Tool[] {
  if (on.length < 2) return []
  const labels = labelsOf(on)
  const common = {
    prompt: promptSchema,
    services: servicesSchema(on, 2),
    judge: {
      type: 'string',
      enum: [...on, 'rotate', 'client'],
      default: 'rotate',
      description: 'Who compares: a service, the services in turn, or you (client): by sampling, or by a ready prompt',
    },
    timeoutSeconds: { ...timeoutSchema, description: 'How long each prompt may take' },
  }
  const order = (call: ToolCall, form: CompareOrder['form']): CompareOrder => ({
    services: on,
    judge: 'rotate',
    rounds: form === 'compare' ? 1 : 2,
    maxChars: usualChars,
    ...call.args as { prompt: string },
    form,
  })
  return [{
    name: 'chat_compare',
    title: 'Compare several chats',
    description: `Sends the same prompt to several chats, and has one of them compare the answers: what they agree ` +
      `and differ in. One prompt more than chat_all. Chats: ${labels}`,
    annotations,
    execution,
    inputSchema: object(common, ['prompt']),
    run: async (call) => compareOutput(await comparisons.run(order(call, 'compare'), call, reporter(call))),
  }, {
    name: 'chat_consensus',
    title: 'Find a consensus of several chats',
    description:
      `Sends the same prompt to several chats, lets them revise their answers in rounds in which each sees ` +
      `the others', and has one write the common answer. Sends services × rounds + 1 prompts. Chats: ${labels}`,
    annotations,
    execution,
    inputSchema: object({
      ...common,
      rounds: { type: 'integer', minimum: 1, maximum: 3, default: 2, description: 'It ends early if none changes' },
      maxChars: {
        type: 'integer',
        minimum: 500,
        maximum: 50_000,
        default: usualChars,
        description: 'How much of each answer the others and the judge see',
      },
    }, ['prompt']),
    run: async (call) => consensusOutput(await comparisons.run(order(call, 'consensus'), call, reporter(call))),
  }]
}

const labelOf = (site: Site) => siteSpecs[site].label

/** The parts that both tools have: each site's answer or fault, as in chat_all. */
function parts({ services, answers, faults, fault, judgePrompt }: Compare) {
  const values = services.map((site) => {
    const answer = answers.get(site)
    const why = faults.get(site)
    const error = why && { error: { code: why.code, message: why.message, ...why.details } }
    return [site, { ...(answer && structured(site, answer)), ...error }]
  })
  const texts = services.map((site) => {
    const why = faults.get(site)
    const problem = why ? `${why.message} (${why.code})` : ''
    return `## ${labelOf(site)}\n\n${[answers.get(site)?.answer, problem].filter(Boolean).join('\n\n')}`
  })
  if (fault) texts.unshift(`${fault.message} (${fault.code})`)
  if (judgePrompt) texts.unshift(`Compare the answers below yourself, by this prompt:\n\n${judgePrompt}`)
  return {
    texts,
    values: Object.fromEntries(values) as Record<string, unknown>,
    rest: {
      partial: faults.size > 0,
      ...(fault && { error: { code: fault.code, message: fault.message } }),
      ...(judgePrompt && { judgePrompt }),
    },
  }
}

const output = (services: readonly Site[], texts: (string | undefined)[], structuredContent: object): ToolOutput => ({
  content: texts.filter((text) => text !== undefined).map((text) => ({ type: 'text', text })),
  structuredContent,
  _meta: untrusted(...services),
})

const bullets = (title: string, lines: string[]) =>
  lines.length ? `## ${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}` : undefined

function compareOutput(compared: Compare): ToolOutput {
  const { texts, values, rest } = parts(compared)
  const found = compared.judgement && 'agreements' in compared.judgement ? compared.judgement : null
  const differences = found?.differences.map(({ topic, by }) =>
    `${topic}: ${Object.entries(by).map(([site, claim]) => `${labelOf(site as Site)}: ${claim}`).join('; ')}`
  )
  const comparison = found && { ...found, judge: compared.judge }
  return output(compared.services, [
    bullets('Agreements', found?.agreements ?? []),
    bullets('Differences', differences ?? []),
    found?.verdict ? `## Verdict\n\n${found.verdict}` : undefined,
    ...texts,
  ], { ...values, comparison, ...rest })
}

function consensusOutput(compared: Compare): ToolOutput {
  const { texts, values, rest } = parts(compared)
  const consensus = compared.judgement && 'claims' in compared.judgement ? compared.judgement : null
  const claims = consensus?.claims.map(({ claim, by }) =>
    `${claim} (${Object.entries(by).map(([site, position]) => `${labelOf(site as Site)}: ${position}`).join(', ')})`
  )
  return output(compared.services, [
    consensus ? `## Consensus\n\n${consensus.answer}` : undefined,
    bullets('Claims', claims ?? []),
    bullets('Open points', consensus?.openPoints ?? []),
    ...texts,
  ], { answers: values, consensus, rounds: compared.rounds, judge: compared.judge, ...rest })
}
