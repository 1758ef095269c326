import { sites, type Site } from '../../extension/chats/drivermessages.ts'

export const hosts: Record<Site, string> = {
  chatgpt: 'chatgpt.com',
  gemini: 'gemini.google.com',
  aistudio: 'aistudio.google.com',
}

/** The path of a new chat. */
export const newChat: Record<Site, string> = { chatgpt: '/', gemini: '/app', aistudio: '/app/prompts/new_chat' }

/** The path of a conversation. */
export const conversationPath: Record<Site, (id: string) => string> = {
  chatgpt: (id) => `/c/${id}`,
  gemini: (id) => `/app/${id}`,
  aistudio: (id) => `/app/prompts/${id}`,
}

/** The address of the log-in page. */
export const loginPath: Record<Site, string> = { chatgpt: '/auth/login', gemini: '/signin', aistudio: '/welcome' }

export function siteOf(host: string, query: URLSearchParams): Site | undefined {
  return sites.find((site) => hosts[site] === host.replace(/:\d+$/, '')) ??
    sites.find((site) => site === query.get('site'))
}

export function conversationOf(site: Site, path: string): string | undefined {
  const id = { chatgpt: /^\/c\/([^/]+)$/, gemini: /^\/app\/([^/]+)$/, aistudio: /^\/app\/prompts\/([^/]+)$/ }[site]
    .exec(path)?.[1]
  return site === 'aistudio' && id === 'new_chat' ? undefined : id
}
