// The proxy's function on the usual path as one would write it by hand: the
// measure for what the policy in Go costs.

const origins = new Set(['http://localhost:5173'])
const hosts = new Set(['127.0.0.1'])
const notSent =
  /^(x-portolan-|x-forwarded-|cf-|sec-)|^(host|origin|referer|cookie|forwarded|via|connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-authorization|expect)$/
const notReturned =
  /^access-control-|^(set-cookie|set-cookie2|connection|keep-alive|proxy-authenticate|trailer|transfer-encoding|upgrade|strict-transport-security|clear-site-data|alt-svc)$/
const prime = new TextEncoder().encode(':\n\n')

function refuse(status, code, origin) {
  const headers = { 'content-type': 'application/json', 'x-proxy-error': code, vary: 'Origin' }
  if (origin) headers['access-control-allow-origin'] = origin
  return new Response(JSON.stringify({ error: { code } }), { status, headers })
}

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
    let target
    try {
      target = new URL(request.headers.get('x-portolan-target') ?? new URL(request.url).searchParams.get('url'))
    } catch {
      return refuse(400, 'target_invalid', origin)
    }
    if (!hosts.has(target.hostname)) return refuse(403, 'host_refused', origin)
    const accept = request.headers.get('accept') ?? ''
    const mcp = request.method === 'POST'
      ? request.headers.get('content-type')?.startsWith('application/json') && accept.includes('application/json') &&
        accept.includes('text/event-stream')
      : request.method === 'GET'
      ? accept.includes('text/event-stream')
      : request.method === 'DELETE' && request.headers.has('mcp-session-id')
    if (!mcp) return refuse(403, 'not_mcp', origin)
    const sent = new Headers()
    for (const [name, value] of request.headers) if (!notSent.test(name)) sent.append(name, value)
    const aborter = new AbortController()
    const timer = setTimeout(() => aborter.abort(), 60_000)
    request.signal.addEventListener('abort', () => aborter.abort())
    let response
    try {
      response = await fetch(target, {
        method: request.method,
        headers: sent,
        body: request.body,
        redirect: 'manual',
        signal: aborter.signal,
      })
    } catch {
      return refuse(502, 'upstream_unreachable', origin)
    } finally {
      clearTimeout(timer)
    }
    const headers = new Headers({
      'access-control-allow-origin': origin,
      vary: 'Origin',
      'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate, Retry-After, X-Proxy-Error',
    })
    for (const [name, value] of response.headers) if (!notReturned.test(name)) headers.append(name, value)
    const { status } = response
    if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
      return new Response(response.body, { status, headers })
    const { readable, writable } = new IdentityTransformStream()
    const writer = writable.getWriter()
    writer.write(prime).catch(() => {})
    writer.releaseLock()
    response.body.pipeTo(writable).catch(() => {})
    return new Response(readable, { status, headers })
  },
}
