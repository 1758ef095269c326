import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { listen, type Listening } from '../../rig/harness.ts'
import { sdkServer } from './sdkserver.ts'

/** An authorization server that asks nobody, and notes the tokens that it gives. */
class Provider extends DemoInMemoryAuthProvider {
  readonly issued: string[] = []
  pages = 0
  private readonly refreshing = new Map<string, Parameters<DemoInMemoryAuthProvider['exchangeAuthorizationCode']>[0]>()

  override async authorize(...args: Parameters<DemoInMemoryAuthProvider['authorize']>): Promise<void> {
    this.pages++
    await super.authorize(...args)
  }

  override async exchangeAuthorizationCode(...args: Parameters<DemoInMemoryAuthProvider['exchangeAuthorizationCode']>) {
    const tokens = await super.exchangeAuthorizationCode(...args)
    const refresh_token = randomUUID()
    this.refreshing.set(refresh_token, args[0])
    this.issued.push(tokens.access_token, refresh_token)
    return { ...tokens, refresh_token }
  }
}

/**
 * The official SDK's authorization server, and an MCP server behind it on the same origin. Without `cors`, the MCP
 * server is closed to pages.
 */
export async function oauthServer({ cors = true } = {}): Promise<
  Listening & { issued: string[]; readonly pages: number; calls: string[] }
> {
  // express, which is the SDK's own, is not ours to import the types of.
  const { default: express } = await import('express' as string) as {
    default(): {
      use(...args: unknown[]): void
      all(...args: unknown[]): void
      (req: IncomingMessage, res: ServerResponse): void
    }
  }
  const app = express()
  const server = await listen(app)
  const url = new URL(server.url)
  const endpoint = new URL('/mcp', url)
  const provider = new Provider()
  const inner = await sdkServer([], { cors })
  app.use(
    mcpAuthRouter({
      provider,
      issuerUrl: url,
      resourceServerUrl: endpoint,
      authorizationOptions: { rateLimit: false },
      tokenOptions: { rateLimit: false },
      clientRegistrationOptions: { rateLimit: false },
    }),
  )
  const guard = requireBearerAuth({
    verifier: provider,
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(endpoint),
  })
  interface Req {
    method: string
    headers: Record<string, string>
    on: unknown
  }
  interface Res {
    setHeader(name: string, value: string): void
    writeHead(status: number, headers?: Record<string, string>): Res
    write(chunk: Uint8Array): void
    end(): void
  }
  app.all(
    '/mcp',
    (_: Req, res: Res, next: () => void) => {
      for (
        const [name, value] of cors
          ? Object.entries({
            'allow-origin': '*',
            'allow-headers': '*, authorization',
            'allow-methods': 'GET, POST, DELETE',
            'expose-headers': 'mcp-session-id, www-authenticate',
          })
          : []
      ) res.setHeader(`access-control-${name}`, value)
      next()
    },
    (
      req: Req,
      res: Res,
      next: () => void,
    ) => (req.method === 'OPTIONS' ? res.writeHead(cors ? 204 : 405).end() : next()),
    guard,
    async (req: Req, res: Res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req as unknown as AsyncIterable<Buffer>) chunks.push(chunk)
      const gone = new AbortController()
      ;(res as unknown as { on(event: string, fn: () => void): void }).on('close', () => gone.abort())
      const { host: _, 'content-length': __, connection: ___, ...headers } = req.headers
      const answer = await fetch(inner.url, {
        method: req.method,
        headers,
        signal: gone.signal,
        ...(chunks.length && { body: Buffer.concat(chunks) }),
      }).catch(() => undefined)
      if (!answer) return
      const { 'content-encoding': ____, 'content-length': _____, ...out } = Object.fromEntries(answer.headers)
      res.writeHead(answer.status, out)
      try {
        for await (const chunk of answer.body ?? []) res.write(chunk)
      } catch { /* who asked has gone */ }
      res.end()
    },
  )
  return {
    url: endpoint.href,
    issued: provider.issued,
    get pages() {
      return provider.pages
    },
    calls: inner.calls,
    close: async () => {
      await server.close()
      await inner.close()
    },
  }
}
