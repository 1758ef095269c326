import { bookmarks, type BookmarkNode } from '../browser.ts'
import { idleMs, ToolFault, type Tool, type ToolAnnotations, type ToolCall } from './tool.ts'

// The tools for bookmarks. The browser's errors become results unchanged.

const reads: ToolAnnotations = { readOnlyHint: true }
const writes: ToolAnnotations = { readOnlyHint: false, destructiveHint: false }
const destroys: ToolAnnotations = { readOnlyHint: false, destructiveHint: true }

const id = { type: 'string', description: "The bookmark's or folder's id" }
const title = { type: 'string' }
const url = { type: 'string', description: 'An absolute URL' }
const query = { type: 'string' }
const parentId = { type: 'string', description: "The folder's id; without it, Other bookmarks" }
const newParentId = { type: 'string', description: "The new folder's id" }
const folderId = { type: 'string', description: 'The folder whose content is wanted; without it, all' }
const depth = { type: 'integer', minimum: 1, maximum: 100, description: 'How many levels of folders; without it, all' }
const index = { type: 'integer', minimum: 0, description: 'The position there; without it, the end' }

const descriptions = {
  bookmark_copy: 'Copies a bookmark, or a folder with its content, into a folder and returns the copy.',
  bookmark_add: 'Adds a bookmark and returns it.',
  bookmark_get: 'Returns the bookmark or folder with this id, in a list.',
  bookmark_get_children: 'Returns the content of a folder, without that of its subfolders.',
  bookmark_get_tree:
    'Returns all bookmarks, or the content of a folder, as a tree. Folders below `depth` have a count only.',
  bookmark_search: 'Returns the bookmarks and folders that have all words of the query in title or address.',
  bookmark_update:
    'Changes the title or the address of a bookmark, or the title of a folder, and returns it. Or several: `items`.',
  bookmark_remove: 'Removes a bookmark or an empty folder, or several. The person is asked.',
  bookmark_remove_tree: 'Removes a folder with its whole content. The person is asked.',
  bookmark_create_folder: 'Creates a bookmark folder and returns it.',
  bookmark_move: 'Moves a bookmark or a folder into another folder and returns it. Or several: `items`.',
}
type Name = keyof typeof descriptions

/** The most bookmarks in one call. */
const mostItems = 500
/** Several bookmarks, each with the parameters of one. */
const items = (properties: object, required: string[]) => ({
  type: 'array',
  minItems: 1,
  maxItems: mostItems,
  items: { type: 'object', properties, required, additionalProperties: false },
  description: 'Several at once, in this order, in place of the other parameters',
})
const oneOrMore = (properties: object, required: string[]) => ({ ...properties, items: items(properties, required) })
const ids = { anyOf: [id, { type: 'array', items: id, minItems: 1, maxItems: mostItems }] }

/** Title, hints, parameters, required parameters. */
const definitions: Record<Name, [string, ToolAnnotations, object, string[]]> = {
  bookmark_add: ['Add a bookmark', writes, { parentId, title, url, index }, ['title', 'url']],
  bookmark_get: ['Get a bookmark', reads, { id }, ['id']],
  bookmark_get_children: ['List a folder', reads, { id }, ['id']],
  bookmark_get_tree: ['Get all bookmarks', reads, { folderId, depth }, []],
  bookmark_search: ['Search bookmarks', reads, { query }, ['query']],
  bookmark_update: ['Change a bookmark', writes, oneOrMore({ id, title, url }, ['id']), []],
  bookmark_remove: ['Remove a bookmark', destroys, { id: ids }, ['id']],
  bookmark_remove_tree: ['Remove a folder', destroys, { id }, ['id']],
  bookmark_create_folder: ['Create a folder', writes, { parentId, title, index }, ['title']],
  bookmark_move: ['Move a bookmark', writes, oneOrMore({ id, parentId: newParentId, index }, ['id', 'parentId']), []],
  bookmark_copy: ['Copy a bookmark', writes, oneOrMore({ id, parentId: newParentId, index }, ['id', 'parentId']), []],
}

type Api = typeof chrome.bookmarks
interface Item {
  id: string
  title?: string
  url?: string
  parentId?: string
  index?: number
}
interface Args extends Omit<Item, 'id'> {
  id?: string | string[]
  items?: Item[]
  query: string
  folderId?: string
  depth?: number
}
/** The outcome for one bookmark of several. */
type Outcome = { id: string; ok: true; node?: unknown } | { id: string; ok: false; error: string }

/** Called before each of several changes. Throws once the call has been stopped. */
type Next = () => void

function counter({ signal, progress }: ToolCall): Next {
  let n = 0
  return () => {
    if (signal.aborted) throw new ToolFault('CANCELLED', `The call was stopped after ${n} changes.`)
    if (++n % 100 === 0) progress(n)
  }
}

const runs: Record<Name, (api: Api, args: Args, next: Next) => Promise<unknown>> = {
  bookmark_add: (b, { parentId, title, url, index }) => b.create({ parentId, title, url, index }),
  bookmark_get: (b, { id }) => b.get(id as string),
  bookmark_get_children: (b, { id }) => b.getChildren(id as string),
  bookmark_get_tree: async (b, { folderId, depth }) =>
    tree(await (folderId === undefined ? b.getTree() : b.getSubTree(folderId)), depth),
  bookmark_search: (b, { query }) => b.search(query),
  bookmark_update: several((b, { id, title, url }) => b.update(id, { title, url }), ['id']),
  bookmark_remove: (b, { id }, next) =>
    typeof id === 'string' ? b.remove(id).then(() => ({ success: true })) : each(
      (id ?? []).map((id) => ({ id })),
      async ({ id }) => void await b.remove(id),
      next,
    ),
  bookmark_remove_tree: (b, { id }) => b.removeTree(id as string).then(() => ({ success: true })),
  bookmark_create_folder: (b, { parentId, title, index }) => b.create({ parentId, title, index }),
  bookmark_move: several((b, { id, parentId, index }) => b.move(id, { parentId, index }), ['id', 'parentId']),
  bookmark_copy: several(copy, ['id', 'parentId']),
}

/** Runs for the one bookmark of the arguments, or for each of `items`. */
function several(run: (api: Api, item: Item, next: Next) => Promise<unknown>, required: (keyof Item)[]) {
  return (b: Api, { items, ...one }: Args, next: Next): Promise<unknown> => {
    if (items) return each(items, (item) => run(b, item, next), next)
    const missing = required.filter((name) => one[name] === undefined)
    if (!missing.length) return run(b, one as Item, next)
    const names = missing.join(' and ')
    throw new ToolFault('INVALID_ARGUMENTS', `Invalid arguments: ${names} must be given, or items.`)
  }
}

/** One after another, because a move changes the positions of the others. A failure leaves the rest alone. */
async function each(
  items: Item[],
  run: (item: Item) => Promise<unknown>,
  next: Next,
): Promise<{ results: Outcome[] }> {
  const results: Outcome[] = []
  for (const item of items) {
    next()
    try {
      const node = await run(item)
      results.push({ id: item.id, ok: true, ...(node !== undefined && { node }) })
    } catch (e) {
      results.push({ id: item.id, ok: false, error: (e as Error).message })
    }
  }
  return { results }
}

/** Copies a bookmark, or a folder with its content. A folder cannot be copied into itself. */
async function copy(b: Api, { id, parentId, index }: Item, next: Next): Promise<BookmarkNode> {
  const [node] = await b.getSubTree(id)
  const inside = (n: BookmarkNode): boolean => n.id === parentId || !!n.children?.some(inside)
  if (node!.children && inside(node!)) throw new Error('A folder cannot be copied into itself.')
  const make = async ({ title, url, children }: BookmarkNode, parentId: string, index?: number) => {
    next()
    const made = await b.create({ parentId, title, url, index })
    for (const child of children ?? []) await make(child, made.id)
    return made
  }
  return make(node!, parentId!, index)
}

/** A tree's JSON beyond this length loses its lowest folders. */
const longestTree = 200_000
interface Cut extends BookmarkNode {
  /** The number of bookmarks and folders in the folder. */
  count?: number
  /** They are left out. */
  truncated?: true
}

/** Cuts a tree to some levels. Without `depth`, to as many as fit in a result. */
function tree(nodes: BookmarkNode[], depth?: number): Cut[] {
  const cut = ({ children, ...node }: BookmarkNode, levels: number): Cut =>
    !children
      ? node
      : levels > 0
      ? { ...node, children: children.map((child) => cut(child, levels - 1)) }
      : { ...node, count: children.length, ...(children.length && { truncated: true }) }
  const cutTo = (levels: number) => nodes.map((node) => cut(node, levels))
  if (depth !== undefined) return cutTo(depth)
  if (JSON.stringify(nodes).length <= longestTree) return nodes
  let levels = 10
  while (levels > 1 && JSON.stringify(cutTo(levels)).length > longestTree) levels--
  return cutTo(levels)
}

const isCut = (node: Cut): boolean => !!node.truncated || !!node.children?.some(isCut)

/** Says what a call will do, for the user who approves it. */
const summaries: Partial<Record<Name, (api: Api, args: Args) => Promise<string>>> = {
  bookmark_update: async (b, { id, title, url, items }) =>
    items
      ? firstOf(b, 'Change', items.map((i) => i.id))
      : `Change ${await quoted(b, id as string)} to ${[title, url].filter(Boolean).join(', ')}`,
  bookmark_remove: async (b, { id }) =>
    typeof id === 'string'
      ? `Remove the bookmark ${await quoted(b, id)}`
      : firstOf(b, 'Remove', id ?? []),
  bookmark_remove_tree: async (b, { id }) => {
    const [node] = await b.getSubTree(id as string)
    const n = node ? count(node) : 0
    return `Remove the folder ${await quoted(b, id as string)} with ${n} ${n === 1 ? 'item' : 'items'} in it`
  },
  bookmark_move: async (b, { id, parentId, items }) =>
    items
      ? firstOf(b, 'Move', items.map((i) => i.id))
      : `Move ${await quoted(b, id as string)} to ${await quoted(b, parentId!)}`,
}

export const bookmarkTools = (Object.keys(descriptions) as Name[]).map((name): Tool => {
  const [title, hints, properties, required] = definitions[name]
  const summary = summaries[name]
  return {
    name,
    title,
    description: descriptions[name],
    annotations: { title, ...hints, openWorldHint: false },
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    idleMs,
    async run(call) {
      const value = await runs[name](api(), call.args as unknown as Args, counter(call))
      const results = (value as { results?: Outcome[] }).results
      return {
        content: [{ type: 'text', text: JSON.stringify(value) }],
        structuredContent: Array.isArray(value) // must be an object
          ? { nodes: value, ...(value.some(isCut) && { truncated: true }) }
          : value,
        ...(results?.every((r) => !r.ok) && { isError: true }),
      }
    },
    ...(summary && { summary: (call) => summary(api(), call.args as unknown as Args) }),
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
  const [node] = await b.get(id).catch(() => [])
  if (!node) return 'something that is not there'
  return `“${node.title.slice(0, 200)}”${node.url ? ` (${node.url.slice(0, 200)})` : ''}`
}

const mostQuoted = 5

/** Says what is done to several bookmarks, with the first of them in quotes. */
async function firstOf(b: Api, verb: string, ids: string[]): Promise<string> {
  const some = await Promise.all(ids.slice(0, mostQuoted).map((id) => quoted(b, id)))
  return `${verb} ${ids.length} bookmarks: ${some.join(', ')}${
    ids.length > mostQuoted ? ` and ${ids.length - mostQuoted} more` : ''
  }`
}

const count = (node: BookmarkNode): number => (node.children ?? []).reduce((n, child) => n + 1 + count(child), 0)

/** The most changes that are reported in a second. An import makes thousands, which would end the connection. */
const mostChanges = 50
let changes = 0

let report: (event: { type: string; data: object }) => void
const tell: typeof report = (event) => {
  if (!changes++) {
    setTimeout(() => {
      const count = changes - mostChanges
      changes = 0
      if (count > 0) report({ type: 'dropped', data: { count } })
    }, 1000)
  }
  if (changes <= mostChanges) report(event)
}

// A browser adds the same function to an event only once.
const created = (_: string, node: BookmarkNode) => tell({ type: 'created', data: { ...node } })
const changed = (id: string, change: object) => tell({ type: 'changed', data: { id, ...change } })
const removed = (id: string, { parentId, index, node }: { parentId: string; index: number; node: BookmarkNode }) =>
  tell({ type: 'removed', data: { id, parentId, index, title: node.title, url: node.url } })
const moved = (id: string, move: object) => tell({ type: 'moved', data: { id, ...move } })

/**
 * Reports changes of bookmarks while there is the permission. The background calls it at top level, and after each
 * change of permissions: Firefox forgets the listeners of a permission that is given back.
 */
export function onBookmarkEvent(handler: typeof report): void {
  report = handler
  const b = bookmarks()
  b?.onCreated.addListener(created)
  b?.onChanged.addListener(changed)
  b?.onRemoved.addListener(removed)
  b?.onMoved.addListener(moved)
}
