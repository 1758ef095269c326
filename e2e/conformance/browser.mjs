// The browser of inbrowser.mjs: one Chromium for all scenarios, each in a page and a profile of its own, and with a
// CORS proxy of its own. All together send more requests in a minute than one proxy lets pass.
//
// 	node browser.mjs SOCKET
import { createReadStream } from 'node:fs'
import { createServer as createSocket } from 'node:net'
import { join, normalize } from 'node:path'
import { root, freePort, launch, launchChromium, listen } from '../rig/harness.ts'

const types = { js: 'text/javascript', mjs: 'text/javascript', html: 'text/html', wasm: 'application/wasm' }
const site = await listen((req, res) => {
  const path = normalize(new URL(req.url, 'http://x').pathname)
  if (path === '/')
    return void res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>conformance</title>')
  const file = path === '/drive.mjs' ? join(import.meta.dirname, 'drive.mjs') : join(root, 'dist', path)
  const body = createReadStream(file)
  body.on('open', () => res.writeHead(200, { 'content-type': types[path.split('.').at(-1)] ?? 'text/plain' }))
  body.on('error', () => res.writeHead(404).end())
  body.pipe(res)
})

const browser = await launchChromium()

async function run(given) {
  const context = await browser.newContext()
  const listens = `127.0.0.1:${await freePort()}`
  const proxy = launch(join(root, 'dist/bin/portolan'), [
    'proxy',
    '--listen',
    listens,
    '--origin',
    site.url,
    '--host',
    '*',
    '--insecure-allow-private',
  ])
  try {
    for (let i = 0; i < 500 && !proxy.output().includes(listens); i++) await new Promise((done) => setTimeout(done, 10))
    const page = await context.newPage()
    await page.goto(site.url)
    return await page.evaluate(async ({ url, scenario, context, proxy }) => {
      const { createRegistry } = await import('/npm/index.js')
      const { drive } = await import('/drive.mjs')
      const signIn = {
        clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
        clientName: 'portolan',
      }
      return drive({ createRegistry, url, scenario, context, options: { proxy, signIn }, server: { proxy: true } })
    }, { ...given, proxy: `http://${listens}/?url={href}` })
  } catch (e) {
    return { failed: true, told: [String(e)] }
  } finally {
    await Promise.allSettled([context.close(), proxy.stop()])
  }
}

const door = createSocket((client) => {
  let text = ''
  client.on('error', () => {})
  client.on('data', async (chunk) => {
    text += chunk
    if (text.endsWith('\n')) client.end(JSON.stringify(await run(JSON.parse(text))))
  })
}).listen(process.argv[2])

process.on('SIGTERM', async () => {
  door.close()
  await Promise.allSettled([browser.close(), site.close()])
  process.exit()
})
