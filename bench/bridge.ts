import { readdirSync, readFileSync } from 'node:fs'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { call, hasTool, Rig } from '../e2e/extension/rig.ts'
import { median, print, type Table } from './report.ts'

/**
 * The way of a desktop client's call to the extension and back: what both hops
 * add, how soon the first call is answered, and what an idle extension costs.
 * The tool is a search for bookmarks that finds none. Asserts nothing.
 *
 *   ./build.sh bench bridge [--calls 200]
 */
const at = process.argv.indexOf('--calls')
const calls = at < 0 ? 200 : Number(process.argv[at + 1])
const p = (samples: number[], q: number) => samples.sort((a, b) => a - b)[Math.floor(samples.length * q)]!

const rig = await Rig.create({ granted: true })
try {
  await rig.ask('setOptions', { bookmarks: true })
  const stdio = await rig.bridge.stdioClient('stdio')
  const http = await rig.bridge.httpClient('http')
  await hasTool(stdio, 'bookmark_search')
  await hasTool(http, 'bookmark_search')

  const took = async (client: Client) => {
    const begun = performance.now()
    await call(client, 'bookmark_search', { query: 'nothing at all' })
    return performance.now() - begun
  }
  const inBrowser = () =>
    rig.panel.evaluate(async (n) => {
      const times: number[] = []
      for (let i = 0; i < n; i++) {
        const begun = performance.now()
        await chrome.bookmarks.search('nothing at all')
        times.push(performance.now() - begun)
      }
      return times
    }, calls)
  const own = await inBrowser()
  const latency: Table = { 'in the browser itself': own, stdio: [], HTTP: [] }
  for (let i = 0; i < calls; i++) {
    latency.stdio!.push(await took(stdio))
    latency.HTTP!.push(await took(http))
  }
  print({ 'a small call, ms': latency }, 'in the browser itself')
  for (const [name, samples] of Object.entries(latency))
    console.log(`${name}: p50 ${median(samples).toFixed(2)} ms, p95 ${p(samples, 0.95).toFixed(2)} ms`)

  const starts: Table = {
    'worker killed → connected': [],
    'worker killed → first call': [],
    'portolan bridge → first call': [],
    'page → state, no worker': [],
  }
  for (let i = 0; i < 5; i++) {
    const before = (await rig.state()).links[0]!.since
    const begun = performance.now()
    await rig.browser.killWorker()
    await rig.until('connected', (s) => s.links[0]?.status === 'connected' && s.links[0].since !== before)
    starts['worker killed → connected']!.push(performance.now() - begun)
    await hasTool(http, 'bookmark_search')
    for (;;) if (!(await call(http, 'bookmark_search', { query: 'nothing at all' })).error) break
    starts['worker killed → first call']!.push(performance.now() - begun)
  }
  for (let i = 0; i < 5; i++) {
    await rig.bridge.stop()
    await rig.until('the loss', (s) => s.links[0]?.status === 'waiting')
    await new Promise((resolve) => setTimeout(resolve, 7000)) // by then it looks as seldom as it ever does
    const begun = performance.now()
    const client = await rig.bridge.stdioClient(`first-${i}`)
    const r = await call(client, 'bookmark_search', { query: 'nothing at all' })
    starts['portolan bridge → first call']!.push(performance.now() - begun)
    if (r.error) console.log(`a first call was refused: ${r.text}`)
    await client.close()
    await rig.bridge.start()
    await rig.connected()
  }
  for (let i = 0; i < 5; i++) {
    await rig.browser.killWorker()
    const begun = performance.now()
    await rig.openPanel()
    starts['page → state, no worker']!.push(performance.now() - begun)
    await rig.connected()
  }
  console.log()
  for (const [name, samples] of Object.entries(starts))
    console.log(`${name}: median ${median(samples).toFixed(0)} ms (${samples.map((n) => n.toFixed(0)).join(', ')})`)

  await rig.panel.close()
  const idle = async (seconds: number) => {
    const before = cpu()
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    return ((cpu() - before) / seconds) * 1000
  }
  console.log(`\nidle, connected: ${(await idle(30)).toFixed(1)} ms CPU a second for the whole browser`)
  await rig.bridge.stop()
  console.log(`idle, no bridge: ${(await idle(30)).toFixed(1)} ms CPU a second for the whole browser`)
  await rig.openPanel()
  await rig.ask('unpair', { pairing: (await rig.state()).links[0]!.pairing })
  await rig.panel.close()
  console.log(`idle, unpaired: ${(await idle(30)).toFixed(1)} ms CPU a second for the whole browser`)
} finally {
  await rig.close()
}

/** CPU seconds of all processes of the browser so far. */
function cpu(): number {
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(rig.browser.profile)) continue
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      ticks += Number(fields[11]) + Number(fields[12])
    } catch { /* it ended */ }
  }
  return ticks / 100
}
