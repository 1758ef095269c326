import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer, constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { sites, type Site } from '../../extension/chats/drivermessages.ts'
import { Backend, type Prompt, type Reply } from './backend.ts'
import { bundlePages } from './bundle.ts'
import { certificate } from './certificate.ts'
import { document } from './document.ts'
import { conversationOf, conversationPath, hosts, loginPath, newChat, siteOf } from './hosts.ts'
import { paths } from './page/glyph.ts'
import { stateOf, type PageState, type Posted } from './state.ts'

export type { Prompt } from './backend.ts'
export type { PageState } from './state.ts'

/** Stand-ins of the chat sites, on loopback. */
export interface Pages {
  /** Answers by Host, for `--host-resolver-rules=MAP chatgpt.com 127.0.0.1:PORT` and `--ignore-certificate-errors`. */
  httpsPort: number
  /** Flags of Chromium for the sites' own addresses. */
  flags: string[]
  /** The same without TLS. */
  httpUrl(site: Site, path?: string): string
  /** Sets the state of pages that load later. */
  set(site: Site, state: Partial<PageState>): void
  /** Forgets states, conversations and prompts. Answers under way end. */
  reset(): void
  /** Sets what a site's model answers, until the reset. Without a text, the prompt has its usual answer. */
  reply(site: Site, of: Reply): void
  /** Ends the thinking, the outline or the pause of prompts about something, also one that is still to come. */
  goOn(site: Site, about?: string): void
  /** Makes an earlier conversation, and returns its id. */
  seed(site: Site, turns: number): string
  /** A conversation's path. */
  path(site: Site, id: string): string
  /** The prompts that the site's backend received, oldest first. */
  prompts(site: Site): Prompt[]
  /** The number of times that a stop button was pressed. */
  stopped(site: Site): number
  close(): Promise<void>
}

type Request = IncomingMessage | Http2ServerRequest
type Response = ServerResponse | Http2ServerResponse

export async function startPages(): Promise<Pages> {
  const [scripts, pair] = await Promise.all([bundlePages(), certificate()])
  const backends = Object.fromEntries(sites.map((site) => [site, new Backend(site)])) as Record<Site, Backend>
  const answer = (req: Request, res: Response): void => {
    respond(req, res, backends, scripts).catch(() => reset(res))
  }
  const plain = createServer(answer)
  // Six streams of one origin would starve the seventh over HTTP/1.1.
  const secure = createSecureServer({ ...pair, allowHTTP1: true }, answer)
  // A browser may leave in the middle of a stream.
  secure.on('session', (session) => {
    session.on('error', () => {})
  })
  const sockets = new Set<Socket>()
  for (const server of [plain, secure]) {
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
  }
  const [httpPort, httpsPort] = await Promise.all([plain, secure].map(async (server) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  })) as [number, number]
  return {
    httpsPort,
    flags: [
      `--host-resolver-rules=${
        [...Object.values(hosts), 'accounts.google.com'].map((host) => `MAP ${host} 127.0.0.1:${httpsPort}`).join(', ')
      }`,
      '--ignore-certificate-errors',
    ],
    httpUrl: (site, path = newChat[site]) => `http://127.0.0.1:${httpPort}${path}?site=${site}`,
    set: (site, state) => {
      backends[site].state = { ...backends[site].state, ...state }
    },
    reset: () => {
      for (const site of sites) backends[site].reset()
    },
    reply: (site, of) => {
      backends[site].reply = of
    },
    goOn: (site, about = '') => backends[site].goOn(about),
    seed: (site, turns) => backends[site].seed(turns),
    path: (site, id) => conversationPath[site](id),
    prompts: (site) => [...backends[site].prompts],
    stopped: (site) => backends[site].stopped,
    async close() {
      for (const site of sites) backends[site].reset()
      const closed = Promise.all([plain, secure].map((server) => new Promise((resolve) => server.close(resolve))))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

async function respond(
  req: Request,
  res: Response,
  backends: Record<Site, Backend>,
  scripts: Record<Site, string>,
): Promise<void> {
  const url = new URL(req.url ?? '/', 'http://pages')
  const site = siteOf(String(req.headers[':authority'] ?? req.headers.host ?? ''), url.searchParams)
  if (!site) return send(res, 404, 'text/plain', `no site; add ?site= with one of ${sites.join(', ')}\n`)
  const backend = backends[site]
  const state = stateOf(backend.state, url.searchParams)
  if (req.method === 'POST') return post(url.pathname, JSON.parse(await body(req)), res, backend, state)
  if (url.pathname === '/assets/app.js') return send(res, 200, 'text/javascript', scripts[site])
  if (url.pathname.startsWith('/images/')) return send(res, 200, 'image/svg+xml', picture)
  if (url.pathname.startsWith('/icons/'))
    return send(res, 200, 'image/svg+xml', icons[url.pathname.slice(7, -4)] ?? picture)
  if (url.pathname === '/never') return
  if (url.pathname === '/reset') return reset(res)
  if (url.pathname === '/favicon.ico') return send(res, 204, 'image/x-icon', '')
  if (state.hangs) return
  // The tab has no address for as long as this takes.
  if (state.loggedOut === 'away') await new Promise((resolve) => setTimeout(resolve, 500))
  if (state.loggedOut === 'away') return redirect(res, 'https://accounts.google.com/v3/signin/identifier')
  if (state.loggedOut === 'rejected') return redirect(res, 'https://accounts.google.com/v3/signin/rejected?rrk=47')
  if ((state.loggedOut === 'wall' || state.loggedOut === 'refused') && url.pathname !== loginPath[site])
    return redirect(res, loginPath[site] + url.search)
  const boot = backend.boot(conversationOf(site, url.pathname), state)
  if (!boot) return redirect(res, newChat[site] + url.search)
  send(res, 200, 'text/html; charset=utf-8', document(boot))
}

async function post(
  path: string,
  posted: Posted & { turn: string },
  res: Response,
  backend: Backend,
  state: PageState,
): Promise<void> {
  if (path === '/backend/stop' || path === '/backend/skip') {
    backend[path === '/backend/stop' ? 'stop' : 'skip'](posted.turn)
    return send(res, 204, 'text/plain', '')
  }
  if (path !== '/backend/conversation') return send(res, 404, 'text/plain', '')
  const conversation = backend.record(posted)
  const refusal = backend.refuses(posted, state)
  if (refusal === 'network') return reset(res)
  if (refusal)
    return send(res, refusal === 'ratelimit' ? 429 : 401, 'application/json', JSON.stringify({ error: refusal }))
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  // Only node:http's type has one signature for the responses of both protocols.
  const writing = res as ServerResponse
  writing.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' })
  for await (const event of backend.play(posted, conversation, state.locale, gone.signal)) {
    if (gone.signal.aborted) return
    writing.write(JSON.stringify(event) + '\n')
  }
  writing.end()
}

/** Breaks the connection of one answer. */
function reset(res: Response): void {
  if ('stream' in res && res.stream) res.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  else (res as ServerResponse).destroy()
}

async function body(req: Request): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const policy = "default-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

function send(res: Response, status: number, type: string, text: string): void {
  ;(res as ServerResponse).writeHead(status, {
    'content-type': type,
    'cache-control': 'no-store',
    'content-security-policy': policy,
  }).end(text)
}

function redirect(res: Response, location: string): void {
  ;(res as ServerResponse).writeHead(302, { location, 'cache-control': 'no-store' }).end()
}

const icon = (path: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#444746" stroke-width="2"><path d="${path}"/></svg>`

const icons: Record<string, string> = {
  mic: icon(paths.mic!),
  thumb_up: icon(paths.up!),
  thumb_down: icon(paths.down!),
}

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180"><rect width="320" height="180" fill="#dbe7f0"/><path d="M0 120q80-60 160 0t160 0v60H0z" fill="#4a7a9c"/></svg>'

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = await startPages()
  for (const site of sites) console.log(`${site.padEnd(9)} ${pages.httpUrl(site)}`)
  console.log(`the sites' own addresses: chromium ${pages.flags.map((flag) => `'${flag}'`).join(' ')}`)
  console.log(`a state for one page, in its address: ${pages.httpUrl('chatgpt')}&layout=turn-key&locale=ja`)
}
