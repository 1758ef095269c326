/** Looks for bridges on this computer by their discovery answers (bridge/routes.go). */
import { addressProblem } from './problems.ts'

/** A bridge as it describes itself. Nothing of it is proved before the pairing. */
export interface FoundBridge {
  name: string
  version: number
  /** In ms since the epoch. */
  startedAt: number
  /** Its host and port. */
  address: string
}

/** The port of discovery, then those where bridges listen. */
const bridgePorts = [8766, ...Array.from({ length: 10 }, (_, i) => 55156 + i)]

/** The longest wait for an answer, in ms. */
const answerTimeout = 1500
/** The largest answer, in bytes. */
const longestAnswer = 4096

/** Asks each port of this computer once. Answers that are not those of a bridge are left out. */
export async function findBridges(signal: AbortSignal, ports: readonly number[] = bridgePorts): Promise<FoundBridge[]> {
  const answers = await Promise.all(ports.map((port) => ask(port, signal).catch(() => undefined)))
  const found = new Map<string, FoundBridge>()
  for (const bridge of answers) if (bridge && !found.has(bridge.address)) found.set(bridge.address, bridge)
  return [...found.values()]
}

async function ask(port: number, signal: AbortSignal): Promise<FoundBridge | undefined> {
  const res = await fetch(`http://127.0.0.1:${port}/mcp-discovery`, {
    redirect: 'error', // a redirect may lead to another host
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    cache: 'no-store',
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeout)]),
  })
  if (res.ok && res.body) return bridgeOf(await textOf(res.body))
  await res.body?.cancel()
  return undefined
}

/** Reads a text to its end. Rejects if it is too long. */
async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let size = 0
  // Leaving the loop cancels the answer.
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > longestAnswer) throw new RangeError('the answer is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Reads an answer. Returns nothing if it is no bridge's, or leads to another computer. */
function bridgeOf(text: string): FoundBridge | undefined {
  const answer = JSON.parse(text) as Record<string, unknown> | null
  if (!answer || typeof answer !== 'object') return undefined
  const { name, version, startedAt, wsUrl } = answer
  const address = /^ws:\/\/([^/]{1,80})\/extension$/.exec(String(wsUrl))?.[1]
  if (!address || addressProblem(address)) return undefined
  if (typeof name !== 'string' || !/^[\w .-]{1,40}$/.test(name)) return undefined
  if (!Number.isSafeInteger(version) || !Number.isSafeInteger(startedAt)) return undefined
  return { name, version: version as number, startedAt: startedAt as number, address }
}
