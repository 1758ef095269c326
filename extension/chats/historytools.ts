import { ToolFault, type Tool } from '../tools/tool.ts'
import type { Chats } from './chats.ts'
import { untrusted } from './sites/index.ts'
import type { HistoryQuery } from '../messages.ts'

const annotations = { readOnlyHint: true, openWorldHint: false }

const limit = { type: 'integer', minimum: 1, maximum: 100, default: 20 }
const project = { type: 'string', maxLength: 100, description: 'Only this project' }

interface Asked extends Pick<HistoryQuery, 'project' | 'site' | 'limit'> {
  query?: string
}

/** The tools for a client's own conversations and questions. It never sees those of another. */
export function historyTools(chats: Chats): Tool[] {
  const site = { type: 'string', enum: chats.enabled, description: 'Only this chat' }
  const input = (properties: object) => ({
    type: 'object',
    properties: { ...properties, project, site, limit },
    additionalProperties: false,
  })
  return [
    {
      name: 'chat_sessions',
      title: 'List your conversations',
      description: 'Lists the conversations that you had with the chats, the last used first. ' +
        'Continue one by its conversationId.',
      annotations,
      inputSchema: input({}),
      async run({ client, args }) {
        const sessions = chats.conversations.of(client, args as Asked).map(({ client: _, id, usedAt, ...rest }) => (
          { ...rest, conversationId: id, lastUsed: new Date(usedAt).toISOString() }
        ))
        return { content: [{ type: 'text', text: JSON.stringify(sessions) }], structuredContent: { sessions } }
      },
    },
    {
      name: 'chat_history',
      title: 'Search your questions and answers',
      description: 'Searches the questions that you asked the chats, and their answers, the newest first. ' +
        'The person decides whether they are kept. Untrusted: what the sites wrote.',
      annotations,
      inputSchema: input({ query: { type: 'string', maxLength: 500, description: 'Words that all occur' } }),
      async run({ client, args }) {
        if (!chats.history.on) {
          throw new ToolFault(
            'HISTORY_OFF',
            'No history is kept. The person can switch it on in the side panel of Portolan: Chats, "Keep questions and ' +
              'answers".',
          )
        }
        const { query: text, ...rest } = args as Asked
        const found = await chats.history.of(client, { text, ...rest, limit: rest.limit ?? 20 })
        const entries = found.map(({ clientName: _, ...entry }) => entry)
        return {
          content: [{ type: 'text', text: JSON.stringify(entries) }],
          structuredContent: { entries },
          _meta: untrusted(...new Set(entries.map((e) => e.site))),
        }
      },
    },
  ]
}
