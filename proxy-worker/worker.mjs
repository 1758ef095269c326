// The Worker: asks the policy for a decision about each request, and moves the bytes.

import { start } from './policy.mjs'

let policy
try {
  policy = start(true)
} catch (error) {
  console.error(`portolan: starting with the first request instead: ${error}`)
}

const prime = new TextEncoder().encode(':\n\n')
const piece = 128 << 10
const noBody = new Set([101, 204, 205, 304])

export default {
  async fetch(request, env, ctx) {
    try {
      if (!policy || policy.ended) policy = start(false)
      const decision = policy.decide(request)
      return decision.kind === 'answer' ? answer(decision) : await exchange(policy, decision, request, env, ctx)
    } catch (error) {
      console.error(`portolan: ${error}`)
      return fault(request)
    }
  },
}

/** Sends a request, follows redirects, and passes the response on. */
async function exchange(policy, decision, request, env, ctx) {
  const { id, rateKey } = decision
  let lasting = false // the response continues after this function
  const refuse = (code) => answer(policy.refuse(id, code))
  try {
    if (rateKey && env.RATE_LIMITER && !(await env.RATE_LIMITER.limit({ key: rateKey })).success)
      return refuse('rate_limited')
    if (decision.kind === 'diagnose')
      return answer(policy.diagnosis(id, await Promise.all(decision.probes.map((p) => probe(p, decision.firstByteMs)))))
    for (let next = decision, body = request.body;; body = null) {
      const sent = await send(next, body, request)
      if (sent.code) return refuse(sent.code)
      const reply = policy.respond(id, sent.response)
      if (reply.kind === 'pass') {
        lasting = reply.stream && sent.response.body !== null
        return lasting
          ? stream(sent.response, reply, request.signal, ctx, () => policy.done(id))
          : await pass(policy, id, sent.response, reply)
      }
      await sent.response.body?.cancel()
      if (reply.kind === 'answer') return answer(reply)
      next = reply
    }
  } finally {
    if (!lasting) policy.done(id)
  }
}

/** Sends a request. Without a response, code is the code of the refusal. */
function send({ method, url, headers, maxRequest, firstByteMs }, body, request) {
  return new Promise((resolve) => {
    const refuse = (code) => resolve({ code })
    if (body && !request.headers.has('content-length'))
      body = bounded(body, maxRequest, () => refuse('request_too_large'))
    setTimeout(refuse, firstByteMs, 'upstream_timeout') // does nothing after the response; clearing it takes longer
    // After a refusal this ends with the page's request. An AbortController would take a tenth of the proxy's time.
    fetch(url, {
      method,
      headers,
      body,
      redirect: 'manual',
      encodeResponseBody: 'manual',
    }).then((response) => resolve({ response }), () => refuse('upstream_unreachable'))
  })
}

/** Sends one probe of a diagnosis. The platform does not say why a server cannot be reached. */
async function probe({ method, url, headers, body }, timeoutMs) {
  try {
    const response = await fetch(url, {
      method,
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    return response
  } catch (error) {
    return { fault: error.name === 'TimeoutError' ? 'timeout' : 'unreachable' }
  }
}

/** Passes a response on. A body of known length is not read. */
async function pass(policy, id, response, reply) {
  let { body } = response
  if (reply.bind > 0 && body) {
    const [read, rest] = body.tee()
    const head = await begin(read, reply.bind).catch(() => undefined)
    if (!head) return answer(policy.refuse(id, 'upstream_unreachable')) // the server broke off
    const { headers } = policy.bind(id, head)
    return passed(head.length <= reply.bind ? head : rest, { status: reply.status, headers })
  }
  if (body && reply.maxBody > 0 && !response.headers.has('content-length')) body = bounded(body, reply.maxBody)
  return passed(noBody.has(reply.status) ? null : body, reply)
}

/** Passes an event stream on until it ends or the page leaves, and calls done then. */
function stream(response, reply, signal, ctx, done) {
  const { readable, writable } = new IdentityTransformStream()
  if (reply.prime) {
    const writer = writable.getWriter()
    writer.write(prime).catch(() => {})
    writer.releaseLock()
  }
  ctx.waitUntil(response.body.pipeTo(writable, { signal }).catch(() => {}).finally(done))
  return passed(readable, reply)
}

// Compressed bytes stay as they are, because fetch did not decode them.
const passed = (body, { status, headers }) => new Response(body, { status, headers, encodeBody: 'manual' })
const answer = ({ status, headers, body }) => new Response(noBody.has(status) ? null : body, { status, headers })

/**
 * Returns a body that ends with an error past max bytes. A TransformStream would take ten times the time, and
 * ignore a slow reader.
 */
function bounded(body, max, exceeded = () => {}) {
  const { readable, writable } = new IdentityTransformStream()
  const from = body.getReader({ mode: 'byob' })
  const to = writable.getWriter()
  const pump = async () => {
    let room = new Uint8Array(piece)
    for (let n = 0;; room = new Uint8Array(room.buffer)) {
      // Each turn leaves 7 KB of garbage. Past the first piece of a body, read large pieces.
      const { done, value } = await (n < piece ? from.read(room) : from.readAtLeast(piece, room))
      if (done) return to.close()
      if ((n += value.byteLength) > max) {
        exceeded()
        throw new Error('too large')
      }
      await to.write(value)
      room = value
    }
  }
  pump().catch((error) => Promise.allSettled([from.cancel(error), to.abort(error)]))
  return readable
}

/** Returns the body, or of a body longer than max its beginning. */
async function begin(body, max) {
  const chunks = []
  let n = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    if ((n += chunk.byteLength) > max) break // cancels
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** Returns the answer without a policy, as proxy.Refuse("internal") writes it. */
function fault(request) {
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-proxy-error': 'internal',
    'access-control-expose-headers': 'X-Proxy-Error',
    vary: 'Origin',
  }
  const origin = request.headers.get('origin')
  if (origin) headers['access-control-allow-origin'] = origin
  return Response.json({ error: { code: 'internal', message: 'a fault of the proxy', hint: 'Please report it.' } }, {
    status: 500,
    headers,
  })
}
