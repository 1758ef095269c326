import { bookmarks, type BookmarkNode } from '../browser.ts'
import { ToolFault, type Tool, type ToolAnnotations } from './tool.ts'

// The nine tools of K2, and bookmark_get_children. The browser's errors become results unchanged (K3).

const reads: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }
const writes: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false }
const destroys: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: false }

const id = { type: 'string', description: "The bookmark's or folder's id" }
const title = { type: 'string' }
const url = { type: 'string', description: 'An absolute URL' }
const query = { type: 'string' }
const parentId = { type: 'string', description: "The folder's id; without it, Other bookmarks" }
const newParentId = { type: 'string', description: "The new folder's id" }
const index = { type: 'integer', minimum: 0, description: 'The position there; without it, the end' }

const descriptions = {
  bookmark_add: 'Adds a bookmark and returns it.',
  bookmark_get: 'Returns the bookmark or folder with this id, in a list.',
  bookmark_get_children: 'Returns the content of a folder, without that of its subfolders.',
  bookmark_get_tree: 'Returns all bookmarks as a tree of folders.',
  bookmark_search: 'Returns the bookmarks and folders that have all words of the query in title or address.',
  bookmark_update: 'Changes the title or the address of a bookmark, or the title of a folder, and returns it.',
  bookmark_remove: 'Removes a bookmark or an empty folder. The person is asked.',
  bookmark_remove_tree: 'Removes a folder with its whole content. The person is asked.',
  bookmark_create_folder: 'Creates a bookmark folder and returns it.',
  bookmark_move: 'Moves a bookmark or a folder into another folder and returns it.',
}
type Name = keyof typeof descriptions

/** Title, hints, parameters, required parameters. */
const definitions: Record<Name, [string, ToolAnnotations, object, string[]]> = {
  bookmark_add: ['Add a bookmark', writes, { parentId, title, url }, ['title', 'url']],
  bookmark_get: ['Get a bookmark', reads, { id }, ['id']],
  bookmark_get_children: ['List a folder', reads, { id }, ['id']],
  bookmark_get_tree: ['Get all bookmarks', reads, {}, []],
  bookmark_search: ['Search bookmarks', reads, { query }, ['query']],
  bookmark_update: ['Change a bookmark', writes, { id, title, url }, ['id']],
  bookmark_remove: ['Remove a bookmark', destroys, { id }, ['id']],
  bookmark_remove_tree: ['Remove a folder', destroys, { id }, ['id']],
  bookmark_create_folder: ['Create a folder', writes, { parentId, title }, ['title']],
  bookmark_move: ['Move a bookmark', writes, { id, parentId: newParentId, index }, ['id', 'parentId']],
}

type Api = typeof chrome.bookmarks
type Args = Record<'id' | 'title' | 'url' | 'parentId' | 'query', string> & { index?: number }

const runs: Record<Name, (api: Api, args: Args) => Promise<unknown>> = {
  bookmark_add: (b, { parentId, title, url }) => b.create({ parentId, title, url }),
  bookmark_get: (b, { id }) => b.get(id),
  bookmark_get_children: (b, { id }) => b.getChildren(id),
  bookmark_get_tree: (b) => b.getTree(),
  bookmark_search: (b, { query }) => b.search(query),
  bookmark_update: (b, { id, title, url }) => b.update(id, { title, url }),
  bookmark_remove: (b, { id }) => b.remove(id).then(() => ({ success: true })),
  bookmark_remove_tree: (b, { id }) => b.removeTree(id).then(() => ({ success: true })),
  bookmark_create_folder: (b, { parentId, title }) => b.create({ parentId, title }),
  bookmark_move: (b, { id, parentId, index }) => b.move(id, { parentId, index }),
}

/** Says what a call will do, for the user who approves it. */
const summaries: Partial<Record<Name, (api: Api, args: Args) => Promise<string>>> = {
  bookmark_update: async (b, { id, title, url }) =>
    `Change ${await quoted(b, id)} to ${[title, url].filter(Boolean).join(', ')}`,
  bookmark_remove: async (b, { id }) => `Remove the bookmark ${await quoted(b, id)}`,
  bookmark_remove_tree: async (b, { id }) => {
    const [node] = await b.getSubTree(id)
    const n = node ? count(node) : 0
    return `Remove the folder ${await quoted(b, id)} with ${n} ${n === 1 ? 'item' : 'items'} in it`
  },
  bookmark_move: async (b, { id, parentId }) => `Move ${await quoted(b, id)} to ${await quoted(b, parentId)}`,
}

export const bookmarkTools = (Object.keys(descriptions) as Name[]).map((name): Tool => {
  const [title, hints, properties, required] = definitions[name]
  const summary = summaries[name]
  return {
    name,
    title,
    description: descriptions[name],
    annotations: { title, ...hints },
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    async run(call) {
      const value = await runs[name](api(), call.args as Args)
      return {
        content: [{ type: 'text', text: JSON.stringify(value) }], // the exact text that K2 promises
        structuredContent: Array.isArray(value) ? { nodes: value } : value, // must be an object
      }
    },
    ...(summary && { summary: (call) => summary(api(), call.args as Args) }),
  }
})

function api(): Api {
  const found = bookmarks()
  if (found) return found
  throw new ToolFault(
    'NO_PERMISSION',
    'The extension may not use bookmarks. The person can switch them on in its side panel.',
  )
}

/** Returns a bookmark's own title and address, in quotes. */
async function quoted(b: Api, id: string): Promise<string> {
  const [node] = await b.get(id)
  if (!node) return 'something that is not there'
  return `“${node.title.slice(0, 200)}”${node.url ? ` (${node.url.slice(0, 200)})` : ''}`
}

const count = (node: BookmarkNode): number => (node.children ?? []).reduce((n, child) => n + 1 + count(child), 0)

let watched = false

/**
 * Reports changes of bookmarks (K9), from the first call with the permission. The background calls it at top level, and
 * after each change of permissions.
 */
export function onBookmarkEvent(handler: (event: { type: string; data: object }) => void): void {
  const b = bookmarks()
  if (watched || !b) return
  watched = true
  b.onCreated.addListener((_, node) => handler({ type: 'created', data: { ...node } }))
  b.onChanged.addListener((id, change) => handler({ type: 'changed', data: { id, ...change } }))
  b.onRemoved.addListener((id, { parentId, index, node }) =>
    handler({ type: 'removed', data: { id, parentId, index, title: node.title, url: node.url } })
  )
  b.onMoved.addListener((id, move) => handler({ type: 'moved', data: { id, ...move } }))
}
