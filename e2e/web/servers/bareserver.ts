import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { listen, type Listening } from '../../rig/harness.ts'

/**
 * Bytes and silence: /bytes counts what is posted, or answers with ?down= of them,
 * without a length if ?chunked; /idle is an event stream without events, /silent
 * no answer at all. arrived waits for a request of one of those.
 */
export async function bareServer(): Promise<Listening & { arrived(path: string): Promise<ServerResponse> }> {
  const requests = new Map<string, PromiseWithResolvers<ServerResponse>>()
  const request = (path: string) => requests.get(path) ?? requests.set(path, Promise.withResolvers()).get(path)!
  const listening = await listen(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url!, 'http://bare.invalid')
    if (pathname === '/bytes') {
      let up = 0
      for await (const chunk of req) up += (chunk as Buffer).length
      const down = Number(searchParams.get('down') ?? 0)
      if (down === 0) return void res.writeHead(200, { 'content-type': 'application/json' }).end(String(up))
      res.writeHead(200, {
        'content-type': 'application/json',
        ...(searchParams.has('chunked') ? {} : { 'content-length': down }),
      })
      for (let left = down, part = Buffer.alloc(65536, ' '); left > 0; left -= part.length) {
        if (!res.write(part.subarray(0, left))) await once(res, 'drain')
      }
      return void res.end()
    }
    if (pathname === '/idle') res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    request(req.url!).resolve(res)
  })
  return { ...listening, arrived: (path) => request(path).promise }
}
