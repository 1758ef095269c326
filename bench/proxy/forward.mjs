// The least that a proxy for pages does, written by hand: it checks origin and target as the policy does, and
// forwards. It bounds no time and no body, and it passes all headers but a few.

const origins = new Set(['http://localhost:5173'])
const hosts = new Set(['127.0.0.1'])
const schemes = new Set(['http:', 'https:'])

const refuse = (status, code) => Response.json({ error: { code } }, { status, headers: { 'x-proxy-error': code } })

export default {
  async fetch(request) {
    const origin = request.headers.get('origin')
    if (!origins.has(origin)) return refuse(403, 'origin_refused')
    if (request.method === 'OPTIONS') {
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': 'GET, POST, DELETE',
          vary: 'Origin',
          'access-control-allow-headers': request.headers.get('access-control-request-headers') ?? '',
          'access-control-max-age': '7200',
        },
      })
    }
    const own = new URL(request.url)
    let target
    try {
      target = new URL(request.headers.get('x-portolan-target') ?? own.searchParams.get('url'))
    } catch {
      return refuse(400, 'target_invalid')
    }
    if (!schemes.has(target.protocol) || target.username || target.password || target.host === own.host)
      return refuse(403, 'target_refused')
    if (!hosts.has(target.hostname)) return refuse(403, 'host_refused')
    const headers = new Headers(request.headers)
    for (const name of ['x-portolan-target', 'origin', 'referer', 'cookie']) headers.delete(name)
    const { method, body } = request
    const response = await fetch(target, { method, headers, body, redirect: 'manual' })
    const passed = new Response(response.body, response)
    passed.headers.set('access-control-allow-origin', origin)
    passed.headers.set('access-control-expose-headers', 'Mcp-Session-Id, WWW-Authenticate, Retry-After')
    passed.headers.append('vary', 'Origin')
    passed.headers.delete('set-cookie')
    return passed
  },
}
