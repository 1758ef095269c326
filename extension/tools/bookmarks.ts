import { bookmarks, type BookmarkNode } from '../browser.ts'
import { ToolFault, type Tool, type ToolAnnotations, type ToolCall, type ToolOutput } from './tool.ts'

// The nine tools of K2, and bookmark_get_children. The browser's errors are passed on as they are (K3).

const id = { type: 'string', description: "The bookmark's or folder's id" }
const title = { type: 'string' }
const url = { type: 'string', description: 'An absolute URL' }
const parentId = { type: 'string', description: "The folder's id; without it, Other bookmarks" }
const reads: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }
const writes: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false }
const destroys: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: false }

type Api = typeof chrome.bookmarks
type Args = Record<string, string> & { index?: never }

function tool(
  name: string,
  title: string,
  description: string,
  annotations: ToolAnnotations,
  properties: object,
  required: string[],
  run: (api: Api, args: Args) => Promise<unknown>,
  summary?: (api: Api, args: Args) => Promise<string>,
): Tool {
  return {
    name,
    title,
    description,
    annotations: { title, ...annotations },
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    run: async (call) => output(await run(api(), call.args as Args)),
    ...(summary && { summary: (call: ToolCall) => summary(api(), call.args as Args) }),
  }
}

function api(): Api {
  const found = bookmarks()
  if (!found)
    throw new ToolFault(
      'NO_PERMISSION',
      'The extension may not use bookmarks. The person can switch them on in its side panel.',
    )
  return found
}

/** The text is exactly what K2 promises; structured content must be an object. */
function output(value: unknown): ToolOutput {
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }],
    structuredContent: Array.isArray(value) ? { nodes: value } : value,
  }
}

const quoted = (
  node: BookmarkNode | undefined,
) => (node
  ? `“${node.title.slice(0, 200)}”${node.url ? ` (${node.url.slice(0, 200)})` : ''}`
  : 'something that is not there')

function count(node: BookmarkNode): number {
  return (node.children ?? []).reduce((n, child) => n + 1 + count(child), 0)
}

const done = { success: true }

export const bookmarkTools: Tool[] = [
  tool('bookmark_add', 'Add a bookmark', 'Adds a bookmark and returns it.', writes, { parentId, title, url }, [
    'title',
    'url',
  ], (b, { parentId, title, url }) => b.create({ parentId, title, url })),
  tool('bookmark_get', 'Get a bookmark', 'Returns the bookmark or folder with this id, in a list.', reads, { id }, [
    'id',
  ], (b, { id }) => b.get(id!)),
  tool('bookmark_get_children', 'List a folder', 'Returns what is in a folder, not in its subfolders.', reads, { id }, [
    'id',
  ], (b, { id }) => b.getChildren(id!)),
  tool(
    'bookmark_get_tree',
    'Get all bookmarks',
    'Returns all bookmarks as a tree of folders.',
    reads,
    {},
    [],
    (b) => b.getTree(),
  ),
  tool(
    'bookmark_search',
    'Search bookmarks',
    'Returns the bookmarks and folders that have all words of the query in title or address.',
    reads,
    { query: { type: 'string' } },
    ['query'],
    (b, { query }) => b.search(query!),
  ),
  tool(
    'bookmark_update',
    'Change a bookmark',
    'Changes the title or the address of a bookmark, or the title of a folder, and returns it.',
    writes,
    { id, title, url },
    ['id'],
    (b, { id, title, url }) => b.update(id!, { title, url }),
    async (b, { id, title, url }) =>
      `Change ${quoted((await b.get(id!))[0])} to ${[title, url].filter(Boolean).join(', ')}`,
  ),
  tool(
    'bookmark_remove',
    'Remove a bookmark',
    'Removes a bookmark or an empty folder. The person is asked.',
    destroys,
    { id },
    ['id'],
    async (b, { id }) => {
      await b.remove(id!)
      return done
    },
    async (b, { id }) => `Remove the bookmark ${quoted((await b.get(id!))[0])}`,
  ),
  tool(
    'bookmark_remove_tree',
    'Remove a folder',
    'Removes a folder with all that is in it. The person is asked.',
    destroys,
    { id },
    ['id'],
    async (b, { id }) => {
      await b.removeTree(id!)
      return done
    },
    async (b, { id }) => {
      const [node] = await b.getSubTree(id!)
      const n = node ? count(node) : 0
      return `Remove the folder ${quoted(node)} with ${n} ${n === 1 ? 'item' : 'items'} in it`
    },
  ),
  tool(
    'bookmark_create_folder',
    'Create a folder',
    'Creates a bookmark folder and returns it.',
    writes,
    { parentId, title },
    ['title'],
    (b, { parentId, title }) => b.create({ parentId, title }),
  ),
  tool(
    'bookmark_move',
    'Move a bookmark',
    'Moves a bookmark or a folder into another folder and returns it.',
    writes,
    {
      id,
      parentId: { type: 'string', description: "The new folder's id" },
      index: { type: 'integer', minimum: 0, description: 'Its place there; without it, the end' },
    },
    ['id', 'parentId'],
    (b, { id, parentId, index }) => b.move(id!, { parentId, index }),
    async (b, { id, parentId }) => `Move ${quoted((await b.get(id!))[0])} to ${quoted((await b.get(parentId!))[0])}`,
  ),
]

export interface BookmarkEvent {
  type: 'created' | 'changed' | 'removed' | 'moved'
  data: Record<string, unknown>
}

let watched = false

/** Tells what changes (K9), from the first call on that finds the permission. One of them is at top level. */
export function onBookmarkEvent(handler: (event: BookmarkEvent) => void): void {
  const b = bookmarks()
  if (watched) return
  watched = !!b
  b?.onCreated.addListener((_, node) => handler({ type: 'created', data: { ...node } }))
  b?.onChanged.addListener((id, change) => handler({ type: 'changed', data: { id, ...change } }))
  b?.onRemoved.addListener((id, { parentId, index, node }) =>
    handler({ type: 'removed', data: { id, parentId, index, title: node.title, url: node.url } })
  )
  b?.onMoved.addListener((id, move) => handler({ type: 'moved', data: { id, ...move } }))
}
