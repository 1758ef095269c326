import type { Tool } from '../tools/tool.ts'

/** The other names that a user can switch on: the name, ours, and the only services that it asks. */
const names: [string, string, string[]?][] = [
  ['ask_chatgpt_web', 'chat_chatgpt'],
  ['ask_gemini_web', 'chat_gemini'],
  ['ask_chatgpt_gemini_web', 'chat_all', ['chatgpt', 'gemini']],
  ['take_cdp_snapshot', 'chat_snapshot'],
  ['get_page_dom', 'page_dom'],
]

interface Schema {
  properties: Record<string, { items?: object }>
  required: string[]
}

/** Returns other names of tools. They take all parameters of what they stand for; the prompt is their `question`. */
export function aliasesOf(tools: readonly Tool[], enabled: readonly string[]): Tool[] {
  return names.flatMap(([name, of, services]) => {
    const tool = tools.find((t) => t.name === of)
    return tool && (services ?? []).every((site) => enabled.includes(site)) ? [alias(name, tool, services)] : []
  })
}

function alias(name: string, tool: Tool, services?: string[]): Tool {
  const { properties: { prompt, ...rest }, required } = tool.inputSchema as Schema
  const properties: Schema['properties'] = prompt ? { question: prompt, ...rest } : { ...rest }
  if (services) properties.services = { ...rest.services, items: { type: 'string', enum: services } }
  return {
    ...tool,
    name,
    of: tool.name,
    description: `${tool.name}${services ? ' with ChatGPT and Gemini' : ''} under another name. ${tool.description}`,
    inputSchema: { ...tool.inputSchema, properties, required: required.map((r) => (r === 'prompt' ? 'question' : r)) },
    run(call) {
      const { question, ...args } = call.args
      return tool.run({
        ...call,
        args: { ...(services && { services }), ...args, ...(question !== undefined && { prompt: question }) },
      })
    },
  }
}
