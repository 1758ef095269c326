import { text } from 'node:stream/consumers'
import { listen, type Listening } from '../../rig/harness.ts'

/** A vault of notes, by path. */
export interface Vault extends Listening {
  readonly key: string
  readonly notes: Map<string, string>
}

/**
 * Stands in for the Local REST API of Obsidian, which needs the app: the status, the list, tags, and reading, writing
 * and deleting of notes.
 */
export async function startVault(notes: Record<string, string>): Promise<Vault> {
  const kept = new Map(Object.entries(notes))
  const key = 'vault-key'
  const listening = await listen(async (req, res) => {
    const { pathname } = new URL(req.url!, 'http://vault')
    const json = (value: unknown, status = 200) =>
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
    if (pathname === '/')
      return json({ status: 'OK', service: 'Obsidian Local REST API', versions: { obsidian: '1.9.0', self: '3.2.0' } })
    if (req.headers.authorization !== `Bearer ${key}`) return json({ errorCode: 40101, message: 'no key' }, 401)
    if (pathname === '/tags/') return json({ tags: [...tags(kept)].map(([name, count]) => ({ name, count })) })
    if (pathname === '/vault/') return json({ files: [...kept.keys()] })
    const path = decodeURIComponent(pathname.slice('/vault/'.length))
    const note = kept.get(path)
    if (req.method === 'PUT') {
      kept.set(path, await text(req))
      return res.writeHead(204).end()
    }
    if (note === undefined) return json({ errorCode: 40400, message: 'Not Found' }, 404)
    if (req.method === 'DELETE') {
      kept.delete(path)
      return res.writeHead(204).end()
    }
    if (req.headers.accept === 'application/vnd.olrapi.note+json') {
      const stat = { ctime: 0, mtime: 0, size: Buffer.byteLength(note) }
      return json({ path, content: note, frontmatter: {}, tags: [...tags(new Map([[path, note]])).keys()], stat })
    }
    res.writeHead(200, { 'Content-Type': 'text/markdown', 'Content-Length': Buffer.byteLength(note) })
    res.end(req.method === 'HEAD' ? undefined : note)
  })
  return { ...listening, key, notes: kept }
}

/** The number of uses of each tag. */
function tags(notes: Map<string, string>): Map<string, number> {
  const found = new Map<string, number>()
  for (const [, tag] of [...notes.values()].join('\n').matchAll(/#(\w+)/g)) found.set(tag!, (found.get(tag!) ?? 0) + 1)
  return found
}
