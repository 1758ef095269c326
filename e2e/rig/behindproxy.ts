import { root, serveFolder, startProxy } from './harness.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'

/** The demo page, a server without CORS, and the proxy between them. */
export async function behindProxy() {
  const site = await serveFolder(`${root}dist/demo`)
  const plain = await sdkServer([], { cors: false })
  const proxy = await startProxy(site.url)
  return {
    site,
    plain,
    proxy,
    async close() {
      await proxy.stop()
      await plain.close()
      await site.close()
    },
  }
}
