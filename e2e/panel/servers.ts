import { faultServer, json, result, tool, type FaultServer, type Script } from '../web/servers/faultserver.ts'

const words = ['harbour', 'light', 'anchor', 'tide', 'chart', 'buoy', 'mast', 'rope', 'deck', 'keel']

/** Tools as real servers have them: a description, a few parameters, a claim. */
export const someTools = (n: number, about = 'Looks up') =>
  Array.from({ length: n }, (_, i) => ({
    name: `${words[i % 10]}_${i}`,
    description: `${about} ${
      words[i % 10]
    } number ${i}. Give the name of a port and, if you wish, how many answers you want; the newest come first.`,
    inputSchema: {
      type: 'object',
      required: ['port'],
      properties: {
        port: { type: 'string', description: 'Name of the port' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
        order: { enum: ['newest', 'oldest'] },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }))

export const listing = (tools: unknown[], more: Partial<Script['on']> = {}): Promise<FaultServer> =>
  faultServer({ on: { 'tools/list': (a) => result(a, { tools }), ...more } as Script['on'] })

/** Servers, each in a state of its own, as a settings panel meets them. */
export async function harbour(): Promise<{ servers: Record<string, { url: string }>; close(): Promise<void> }> {
  const good = await listing(someTools(8))
  const locked = await faultServer({
    on: { '*': (a) => void a.res.writeHead(401, { 'www-authenticate': 'Bearer' }).end() },
  })
  const failing = await faultServer({ on: { '*': (a) => void a.res.writeHead(500).end('out of order') } })
  const closed = await faultServer({
    on: {
      '*': (a) => {
        for (const name of a.res.getHeaderNames()) a.res.removeHeader(name)
        json(a, '{}')
      },
    },
  })
  const all = { good, locked, failing, closed }
  return {
    servers: Object.fromEntries(Object.entries(all).map(([name, s]) => [name, { url: s.url }])),
    close: async () => {
      for (const s of Object.values(all)) await s.close()
    },
  }
}

export { tool }
