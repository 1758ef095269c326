import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen } from '../../rig/harness.ts'

/** The state of a protected MCP server and its authorization server, which a test reads and changes. */
export interface SignInServer {
  /** The MCP endpoint. */
  url: string
  /** Of the authorization server. */
  issuer: string
  /** Counts of register, authorize and revoke, and the grant types. */
  counts: Record<string, number>
  /** Every token that was ever given. */
  given: string[]
  /** Makes all access tokens invalid, or with true everything. */
  expire(all?: boolean): void
  close(): Promise<void>
}

/**
 * An MCP server whose one tool `echo` wants a token, with CORS, and an authorization server whose
 * page has a button. `apart`: the page cuts its ties to who opened it.
 */
export async function signInServer({ apart = false } = {}): Promise<SignInServer> {
  const counts: Record<string, number> = {}
  const given: string[] = []
  const valid = new Set<string>(), refreshes = new Set<string>()
  const codes = new Map<string, URLSearchParams>()
  let last = 0
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1
  }

  const login = await listen(async (req, res) => {
    const at = new URL(req.url!, login.url)
    const body = await text(req)
    if (cors(req, res)) return
    switch (at.pathname) {
      case '/.well-known/oauth-authorization-server':
        return json(res, 200, {
          issuer: login.url,
          authorization_endpoint: `${login.url}/authorize`,
          token_endpoint: `${login.url}/token`,
          registration_endpoint: `${login.url}/register`,
          revocation_endpoint: `${login.url}/revoke`,
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
        })
      case '/register':
        count('register')
        return json(res, 201, { client_id: `client${++last}` })
      case '/authorize': {
        count('authorize')
        const code = `secret-code-${++last}`
        codes.set(code, at.searchParams)
        const back = new URL(at.searchParams.get('redirect_uri')!)
        for (const [k, v] of [['code', code], ['state', at.searchParams.get('state')!], ['iss', login.url]])
          back.searchParams.set(k!, v!)
        res.writeHead(200, {
          'content-type': 'text/html',
          ...(apart && { 'cross-origin-opener-policy': 'same-origin' }),
        })
        return void res.end(
          `<!doctype html><title>Log in</title><a id="allow" href="${back.href.replaceAll('&', '&amp;')}">Allow</a>`,
        )
      }
      case '/revoke': {
        count('revoke')
        const token = new URLSearchParams(body).get('token')!
        valid.delete(token)
        refreshes.delete(token)
        return void res.writeHead(200).end()
      }
      case '/token': {
        const form = new URLSearchParams(body)
        const grant = form.get('grant_type')!
        count(grant)
        let ok = false
        if (grant === 'authorization_code') {
          const q = codes.get(form.get('code')!)
          codes.delete(form.get('code')!)
          ok =
            q?.get('code_challenge') === createHash('sha256').update(form.get('code_verifier')!).digest('base64url') &&
            q?.get('client_id') === form.get('client_id')
        } else if (grant === 'refresh_token') {
          ok = refreshes.delete(form.get('refresh_token')!)
        }
        if (!ok) return json(res, 400, { error: 'invalid_grant' })
        const access = `canary-access-${++last}`, refresh = `canary-refresh-${last}`
        given.push(access, refresh)
        valid.add(access)
        refreshes.add(refresh)
        return json(res, 200, { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: 3600 })
      }
    }
    res.writeHead(404).end()
  })

  const mcp = await listen(async (req, res) => {
    const body = await text(req)
    if (cors(req, res)) return
    if (req.url === '/.well-known/oauth-protected-resource/mcp') {
      return json(res, 200, {
        resource: `${mcp.url}/mcp`,
        authorization_servers: [login.url],
        scopes_supported: ['read'],
      })
    }
    if (req.url !== '/mcp') return void res.writeHead(404).end()
    if (req.method !== 'POST') return void res.writeHead(405).end()
    const token = req.headers.authorization?.replace('Bearer ', '')
    if (!token || !valid.has(token)) {
      res.setHeader(
        'www-authenticate',
        `Bearer resource_metadata="${mcp.url}/.well-known/oauth-protected-resource/mcp"`,
      )
      return json(res, 401, { error: 'invalid_token', error_description: `not ${token}` })
    }
    const m = JSON.parse(body) as { id?: number; method: string; params?: { arguments?: unknown } }
    if (m.id === undefined) return void res.writeHead(202).end()
    const answer = (result: unknown) => json(res, 200, { jsonrpc: '2.0', id: m.id, result })
    switch (m.method) {
      case 'initialize':
        return answer({
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'protected', version: '1' },
        })
      case 'tools/list':
        return answer({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] })
      case 'tools/call':
        return answer({ content: [{ type: 'text', text: JSON.stringify(m.params?.arguments) }] })
    }
    json(res, 400, { jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'unknown method' } })
  })

  return {
    url: `${mcp.url}/mcp`,
    issuer: login.url,
    counts,
    given,
    expire(all) {
      valid.clear()
      if (all) refreshes.clear()
    },
    close: async () => void await Promise.all([login.close(), mcp.close()]),
  }
}

function cors(req: IncomingMessage, res: ServerResponse): boolean {
  res.setHeader('access-control-allow-origin', '*')
  res.setHeader('access-control-allow-headers', '*, authorization')
  res.setHeader('access-control-allow-methods', '*')
  if (req.method === 'OPTIONS') res.writeHead(204).end()
  return req.method === 'OPTIONS'
}

function json(res: ServerResponse, status: number, value: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' })
  res.end(JSON.stringify(value))
}

async function text(req: IncomingMessage): Promise<string> {
  let all = ''
  for await (const chunk of req) all += chunk
  return all
}
