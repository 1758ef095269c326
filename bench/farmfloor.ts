import type { Task } from '../e2e/rig/farm.ts'

/** The durations of calls of the good server, and the number that failed. */
export interface CrowdOutcome {
  goodMs: number[]
  errors: number
  error: string
}

/**
 * The machine's own neighbours: a worker that calls the good server, and one that
 * reads whatever the hostile one sends, up to what a registry reads, and throws it away. Nothing
 * is parsed, and there is no registry. It refers to nothing outside.
 */
export async function floor(tasks: Task[], good: string, calls: number): Promise<CrowdOutcome> {
  const asker = `
    const rpc = (method) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: method === 'tools/call' ? { name: 't', arguments: {} } : {} })
    const ask = (url, method, signal) => fetch(url, { method: 'POST', signal, headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }, body: rpc(method) });`
  const start = (program: string) =>
    new Worker(URL.createObjectURL(new Blob([asker + program], { type: 'text/javascript' })))
  const own = start(
    `onmessage = async ({ data }) => { try { postMessage(await (await ask(data, 'tools/call')).text()) } catch (e) { postMessage('') } }`,
  )
  const others = tasks.map((t) => {
    const other = start(`onmessage = async ({ data: { bad, timeoutMs } }) => {
      for (let round = 0; ; round++) {
        for (const method of ['tools/list', 'tools/call']) {
          try {
            const reader = (await ask(bad, method, AbortSignal.timeout(timeoutMs))).body.getReader()
            for (let size = 0; size <= 16 << 20;) {
              const { done, value } = await reader.read()
              if (done) break
              size += value.length
            }
            reader.cancel().catch(() => {})
          } catch (e) {}
        }
        if (!round) postMessage('used')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }`)
    const used = { once: false }
    other.onmessage = () => {
      used.once = true
    }
    other.postMessage(t)
    return { other, used }
  })
  const o: CrowdOutcome = { goodMs: [], errors: 0, error: '' }
  while (others.some(({ used }) => !used.once) || o.goodMs.length < calls) {
    const began = performance.now()
    const text = await new Promise<string>((resolve) => {
      own.onmessage = ({ data }) => resolve(data as string)
      own.postMessage(good)
    })
    o.goodMs.push(performance.now() - began)
    if (!text) o.errors++
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  for (const w of [own, ...others.map(({ other }) => other)]) w.terminate()
  return o
}
