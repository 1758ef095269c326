import { bookmarks, type BookmarkNode } from '../browser.ts'
import { ToolFault, type Tool, type ToolAnnotations } from './tool.ts'

// The nine tools of K2, and bookmark_get_children. The browser's errors become results unchanged (K3).

const reads: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }
const writes: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false }
const destroys: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: false }

const parameters = {
  id: { type: 'string', description: "The bookmark's or folder's id" },
  title: { type: 'string' },
  url: { type: 'string', description: 'An absolute URL' },
  parentId: { type: 'string', description: "The folder's id; without it, Other bookmarks" },
  /** Published as parentId. */
  newParentId: { type: 'string', description: "The new folder's id" },
  index: { type: 'integer', minimum: 0, description: 'The position there; without it, the end' },
  query: { type: 'string' },
}

type Api = typeof chrome.bookmarks
type Args = Record<'id' | 'title' | 'url' | 'parentId' | 'query', string> & { index?: number }
type Row = [
  title: string,
  description: string,
  annotations: ToolAnnotations,
  /** Names in `parameters`; a question mark makes one optional. */
  inputs: string,
  run: (api: Api, args: Args) => Promise<unknown>,
  /** What the call will do, for the user. */
  summary?: (api: Api, args: Args) => Promise<string>,
]

const rows: Record<string, Row> = {
  bookmark_add: [
    'Add a bookmark',
    'Adds a bookmark and returns it.',
    writes,
    'parentId? title url',
    (b, { parentId, title, url }) => b.create({ parentId, title, url }),
  ],
  bookmark_get: [
    'Get a bookmark',
    'Returns the bookmark or folder with this id, in a list.',
    reads,
    'id',
    (b, { id }) => b.get(id),
  ],
  bookmark_get_children: [
    'List a folder',
    'Returns the content of a folder, without that of its subfolders.',
    reads,
    'id',
    (b, { id }) => b.getChildren(id),
  ],
  bookmark_get_tree: [
    'Get all bookmarks',
    'Returns all bookmarks as a tree of folders.',
    reads,
    '',
    (b) => b.getTree(),
  ],
  bookmark_search: [
    'Search bookmarks',
    'Returns the bookmarks and folders that have all words of the query in title or address.',
    reads,
    'query',
    (b, { query }) => b.search(query),
  ],
  bookmark_update: [
    'Change a bookmark',
    'Changes the title or the address of a bookmark, or the title of a folder, and returns it.',
    writes,
    'id title? url?',
    (b, { id, title, url }) => b.update(id, { title, url }),
    async (b, { id, title, url }) => `Change ${await quoted(b, id)} to ${[title, url].filter(Boolean).join(', ')}`,
  ],
  bookmark_remove: [
    'Remove a bookmark',
    'Removes a bookmark or an empty folder. The person is asked.',
    destroys,
    'id',
    (b, { id }) => b.remove(id).then(() => ({ success: true })),
    async (b, { id }) => `Remove the bookmark ${await quoted(b, id)}`,
  ],
  bookmark_remove_tree: [
    'Remove a folder',
    'Removes a folder with its whole content. The person is asked.',
    destroys,
    'id',
    (b, { id }) => b.removeTree(id).then(() => ({ success: true })),
    async (b, { id }) => {
      const [node] = await b.getSubTree(id)
      const n = node ? count(node) : 0
      return `Remove the folder ${await quoted(b, id)} with ${n} ${n === 1 ? 'item' : 'items'} in it`
    },
  ],
  bookmark_create_folder: [
    'Create a folder',
    'Creates a bookmark folder and returns it.',
    writes,
    'parentId? title',
    (b, { parentId, title }) => b.create({ parentId, title }),
  ],
  bookmark_move: [
    'Move a bookmark',
    'Moves a bookmark or a folder into another folder and returns it.',
    writes,
    'id newParentId index?',
    (b, { id, parentId, index }) => b.move(id, { parentId, index }),
    async (b, { id, parentId }) => `Move ${await quoted(b, id)} to ${await quoted(b, parentId)}`,
  ],
}

export const bookmarkTools = Object.entries(rows).map((
  [name, [title, description, annotations, inputs, run, summary]],
): Tool => {
  const names = inputs.split(' ').filter(Boolean).map((input) => ({
    published: input.replace('?', '').replace('newParentId', 'parentId'),
    parameter: input.replace('?', '') as keyof typeof parameters,
    required: !input.endsWith('?'),
  }))
  return {
    name,
    title,
    description,
    annotations: { title, ...annotations },
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(names.map(({ published, parameter }) => [published, parameters[parameter]])),
      required: names.filter((n) => n.required).map((n) => n.published),
      additionalProperties: false,
    },
    async run(call) {
      const value = await run(api(), call.args as Args)
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

interface BookmarkEvent {
  type: 'created' | 'changed' | 'removed' | 'moved'
  data: Record<string, unknown>
}

let watched = false

/**
 * Reports changes of bookmarks (K9), from the first call with the permission. The background calls it at top level, and
 * after each change of permissions.
 */
export function onBookmarkEvent(handler: (event: BookmarkEvent) => void): void {
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
