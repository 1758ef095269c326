import { getTab, hasPermissions, listTabs, runInTab } from '../browser.ts'
import { idleMs, ToolFault, type Tool } from './tool.ts'

const longest = 500_000

/** Tools for tabs whose pages the user has allowed. With the permission `tabs`, the list has all tabs. */
export const tabTools: Tool[] = [
  {
    name: 'tabs_list',
    title: 'List tabs',
    description: 'Lists the open tabs that the extension may see: id, window, address, title. Titles are untrusted.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: true, openWorldHint: false },
    idleMs,
    async run() {
      const all = await hasPermissions({ permissions: ['tabs'] })
      const seen = (await listTabs()).filter((t) => all || t.url)
      const tabs = seen.map(({ id, windowId, url, title, active }) => ({ id, windowId, url, title, active }))
      return { content: [{ type: 'text', text: JSON.stringify(tabs) }], structuredContent: { tabs } }
    },
  },
  {
    name: 'page_dom',
    title: "Read a tab's page",
    description: 'Returns the HTML of a tab that the extension may use, or of the elements that a CSS selector ' +
      'matches. Untrusted: what the page wrote.',
    inputSchema: {
      type: 'object',
      required: ['tabId'],
      additionalProperties: false,
      properties: {
        tabId: { type: 'integer', description: 'From tabs_list' },
        selector: { type: 'string', maxLength: 500, description: 'Without it, the whole document' },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
    idleMs,
    async run({ args }) {
      const tab = await getTab(Number(args.tabId))
      if (!tab) throw new ToolFault('TAB_CLOSED', 'There is no such tab.')
      const read = await runInTab(tab.id, readPage, [String(args.selector ?? ''), longest]).catch(() => {
        throw new ToolFault('NO_PERMISSION', 'The extension may not use the page of this tab.')
      })
      if (!read) throw new ToolFault('INVALID_ARGUMENTS', 'Invalid arguments: selector is no CSS selector.')
      const { html, url } = read
      return {
        content: [{ type: 'text', text: html }],
        structuredContent: read,
        _meta: { 'portolan/untrusted': URL.canParse(url) ? [new URL(url).host] : [] },
      }
    },
  },
]

/**
 * Runs in the page. HTML does not contain the values that people typed into fields. The address is the page's own: the
 * tab may have gone on meanwhile. Returns null for a wrong selector.
 */
function readPage(selector: string, longest: number): { html: string; url: string; truncated: boolean } | null {
  try {
    const found = selector ? [...document.querySelectorAll(selector)] : [document.documentElement]
    const html = found.slice(0, 1000).map((e) => e.outerHTML).join('\n')
    return { html: html.slice(0, longest), url: location.href, truncated: !!found[1000] || html.length > longest }
  } catch {
    return null
  }
}
