import { sites, type Site } from '../../extension/chats/drivermessages.ts'

/** A site's addresses: host, a new chat, what is before a conversation's id, the log-in page. */
const addresses: Record<Site, [string, string, string, string]> = {
  chatgpt: ['chatgpt.com', '/', '/c/', '/auth/login'],
  gemini: ['gemini.google.com', '/app', '/app/', '/signin'],
  aistudio: ['aistudio.google.com', '/app/prompts/new_chat', '/app/prompts/', '/welcome'],
  claude: ['claude.ai', '/new', '/chat/', '/login'],
  perplexity: ['www.perplexity.ai', '/', '/search/', '/login'],
  grok: ['grok.com', '/', '/c/', '/sign-in'],
  deepseek: ['chat.deepseek.com', '/', '/a/chat/s/', '/sign_in'],
  mistral: ['chat.mistral.ai', '/chat', '/chat/', '/login'],
  copilot: ['copilot.microsoft.com', '/', '/chats/', '/login'],
}

const each = <T>(value: (site: Site) => T) =>
  Object.fromEntries(sites.map((site) => [site, value(site)])) as Record<Site, T>

export const hosts = each((site) => addresses[site][0])

/** The path of a new chat. */
export const newChat = each((site) => addresses[site][1])

/** The path of a conversation. */
export const conversationPath = each((site) => (id: string) => addresses[site][2] + id)

/** The address of the log-in page. */
export const loginPath = each((site) => addresses[site][3])

export function siteOf(host: string, query: URLSearchParams): Site | undefined {
  return sites.find((site) => hosts[site] === host.replace(/:\d+$/, '')) ??
    sites.find((site) => site === query.get('site'))
}

export function conversationOf(site: Site, path: string): string | undefined {
  const before = addresses[site][2]
  const id = path.startsWith(before) ? path.slice(before.length) : ''
  return id && !id.includes('/') && path !== newChat[site] ? id : undefined
}
