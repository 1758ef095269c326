import { createHash } from 'node:crypto'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { listen, type Listening } from '../../rig/harness.ts'
import { admitPages, sdkSessions } from './sdksessions.ts'

const extension = 'io.modelcontextprotocol/skills'

/** A skill that a test serves. A test may change it while the server runs. */
export interface Served {
  /** The URI of the directory. */
  root: string
  /** The frontmatter of the entry. */
  frontmatter: Record<string, unknown>
  /** The files by path, SKILL.md included. */
  files: Record<string, string | Buffer>
  /** Not in skills/list. */
  unlisted?: boolean
  /** Replaces `resources` of the entry. */
  resources?: unknown
}

/** A skill of one SKILL.md, and of other files. */
export function skill(root: string, description: string, files: Record<string, string | Buffer> = {}): Served {
  const name = root.split('/').at(-1)!
  const text = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n# ${name}\n\nDo it well.\n`
  return { root, frontmatter: { name, description }, files: { 'SKILL.md': text, ...files } }
}

export const digest = (content: string | Buffer): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`

/** The entry of a skill, as skills/list and skills/get give it. */
export function entryOf({ root, frontmatter, files, resources }: Served): Record<string, unknown> {
  return {
    uri: `${root}/SKILL.md`,
    frontmatter,
    resources: resources !== undefined ? resources : Object.entries(files).map(([path, content]) => ({
      uri: `${root}/${path}`,
      digest: digest(content),
      size: Buffer.byteLength(content),
    })),
  }
}

export interface SkillServer extends Listening {
  skills: Served[]
  /** The methods that were asked for, with the URI if there is one. */
  asked: string[]
  /** If set, it is called when a resource is to be read, which waits for it. */
  before?: (() => Promise<void>) | undefined
}

const unknown = (uri: string) => new McpError(ErrorCode.InvalidParams, `nothing is served at ${uri}`)

const params = z.looseObject({ uri: z.string().optional(), cursor: z.string().optional() }).optional()

/**
 * A server of skills on the official TypeScript SDK, open to pages of any origin. Its lists have pages of two entries,
 * and its directories pages of one.
 */
export async function skillServer(skills: Served[], { directoryRead = true, ttlMs = 0 } = {}): Promise<SkillServer> {
  const asked: string[] = []
  const served: Omit<SkillServer, keyof Listening> = { skills, asked }

  /** A page of a list. The cursor is the place of its first entry. */
  const page = <T>(all: T[], cursor: string | undefined, size: number): [T[], object] => {
    const from = Number(cursor ?? 0), end = from + size
    return [all.slice(from, end), end < all.length ? { nextCursor: String(end) } : {}]
  }

  function program(): Server {
    const server = new Server({ name: 'skilled', version: '1' }, {
      capabilities: { tools: {}, resources: {}, extensions: { [extension]: { directoryRead } } } as never,
    })
    server.setRequestHandler(
      ListToolsRequestSchema,
      () => ({ tools: [{ name: 't', inputSchema: { type: 'object' } }] }),
    )
    server.setRequestHandler(z.object({ method: z.literal('skills/list'), params }), ({ params }) => {
      asked.push('skills/list')
      const [listed, next] = page(served.skills.filter((s) => !s.unlisted), params?.cursor, 2)
      return { resultType: 'complete', skills: listed.map(entryOf), ttlMs, cacheScope: 'public', ...next }
    })
    server.setRequestHandler(z.object({ method: z.literal('skills/get'), params }), ({ params }) => {
      asked.push(`skills/get ${params?.uri}`)
      const found = served.skills.find((s) => `${s.root}/SKILL.md` === params?.uri)
      if (!found) throw unknown(String(params?.uri))
      return { resultType: 'complete', skill: entryOf(found), ttlMs, cacheScope: 'public' }
    })
    server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
      asked.push(`read ${uri}`)
      const { skills } = served
      await served.before?.()
      for (const { root, files } of skills) {
        const content = uri.startsWith(`${root}/`) ? files[uri.slice(root.length + 1)] : undefined
        if (content === undefined) continue
        return {
          contents: [
            typeof content === 'string'
              ? { uri, mimeType: 'text/markdown', text: content }
              : { uri, mimeType: 'application/octet-stream', blob: content.toString('base64') },
          ],
        }
      }
      throw unknown(uri)
    })
    server.setRequestHandler(z.object({ method: z.literal('resources/directory/read'), params }), ({ params }) => {
      const uri = String(params?.uri)
      asked.push(`directory ${uri}`)
      const children = new Map<string, object>()
      for (const { root, files } of served.skills) {
        for (const path of Object.keys(files)) {
          const at = `${root}/${path}`
          if (!at.startsWith(`${uri}/`)) continue
          const [name, below] = at.slice(uri.length + 1).split('/')
          children.set(name!, {
            uri: `${uri}/${name}`,
            name,
            mimeType: below === undefined ? 'text/markdown' : 'inode/directory',
          })
        }
      }
      if (!children.size) throw unknown(uri)
      const [resources, next] = page([...children.values()], params?.cursor, 1)
      return { resultType: 'complete', resources, ...next }
    })
    return server
  }

  const serve = sdkSessions(program)
  const listening = await listen(async (req, res) => {
    if (admitPages(req, res)) return
    await serve(req, res)
  })
  return Object.assign(served, { ...listening, url: `${listening.url}/mcp` })
}
