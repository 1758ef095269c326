import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Limits, Registry, RegistryOptions, ServerHealth } from '../../wasm/js/shared/types.ts'
import { root } from './harness.ts'

// The farm of misbehaving servers, which is written in Go, and how a registry in
// JavaScript uses it; registry/registrytest/farm has both in Go.

export interface FarmCase {
  name: string
  area: string
  severe: boolean
  use: Use
  /** RUN stands for a word of the client's choice. */
  url: string
}

interface Use {
  transport?: 'sse'
  timeoutMs: number
  limits?: Partial<Limits>
  args?: string
  lingerMs?: number
  cancelMs?: number
  calls?: number
  validate?: boolean
  asks?:
    | 'resources'
    | 'resourceTemplates'
    | 'prompts'
    | 'readResource'
    | 'getPrompt'
    | 'complete'
    | 'subscribeResource'
    | 'instructions'
}

export interface Farm {
  control: string
  good: string
  secret: string
  cases: FarmCase[]
  close(): void
}

/** Starts dist/bin/farm, which build.sh builds. */
export async function startFarm(): Promise<Farm> {
  const child = spawn(`${root}dist/bin/farm`, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<never>((_, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => reject(new Error(`the farm ended with ${code}`)))
  })
  ended.catch(() => {})
  const line = await Promise.race([
    ended,
    new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve)),
  ])
  return { ...JSON.parse(line) as Omit<Farm, 'close'>, close: () => void child.stdin.end() }
}

export interface Task extends Use {
  bad: string
  good: string
  secret: string
  realm: string
  mode?: 'main'
}

export const taskOf = (farm: Farm, c: FarmCase, run: string, realm: string): Task => ({
  ...c.use,
  bad: c.url.replace('RUN', run),
  good: farm.good,
  secret: farm.secret,
  realm,
})

/** The outcome of a case for a client: Outcome of the Go package. */
export interface Outcome {
  fault: string
  late: Record<string, number>
  goodMs: number[]
  [key: string]: unknown
}

/** Uses both servers at once. It may run in a page, so it refers to nothing outside. */
export async function visit(
  createRegistry: (o: RegistryOptions) => Promise<Registry>,
  wasm: RegistryOptions['wasm'],
  t: Task,
): Promise<Outcome> {
  const o = {
    realm: t.realm,
    fault: '',
    health: '',
    lastError: '',
    tools: [] as string[],
    warnings: [] as string[],
    calls: [] as string[],
    longestError: 0,
    textBytes: 0,
    controls: false,
    told: false,
    polluted: false,
    goodCalls: 0,
    goodErrors: 0,
    goodError: '',
    late: {} as Record<string, number>,
    goodMs: [] as number[],
  }
  const timed = async <T>(what: string, deadlineMs: number, work: Promise<T>): Promise<T> => {
    const began = performance.now()
    try {
      return await work
    } finally {
      o.late[what] = Math.max(o.late[what] ?? -Infinity, performance.now() - began - deadlineMs)
    }
  }
  const shown = (text: string | null | undefined) => {
    const bytes = new TextEncoder().encode(text ?? '').length
    o.told ||= !!text?.includes(t.secret)
    o.longestError = Math.max(o.longestError, bytes)
    o.controls ||= /[\x00-\x08\x0b-\x1f\x7f]/.test(text ?? '')
  }
  const r = await createRegistry({
    storage: 'memory',
    validate: !!t.validate,
    ...(wasm && { wasm }),
    ...(t.limits && { limits: t.limits }),
    ...(t.mode && { mode: t.mode }),
    servers: {
      bad: {
        url: t.bad,
        timeoutMs: t.timeoutMs,
        headers: { 'X-Api-Key': t.secret },
        ...(t.transport && { transport: t.transport }),
      },
      good: { url: t.good },
    },
  })
  const good = async () => {
    const began = performance.now()
    o.goodCalls++
    try {
      await r.discover(['good'])
      await r.dispatch('good__t', {})
      const { status, lastError } = r.getHealth().good!
      if (status !== 'connected') throw new Error(`the good server is ${status}: ${lastError}`)
    } catch (e) {
      o.goodErrors++
      o.goodError = String(e)
    }
    o.goodMs.push(performance.now() - began)
  }
  /** Uses the good server as long as the work goes on, and once at least. */
  const meanwhile = async (work: Promise<unknown>) => {
    let done = false
    const end = work.finally(() => {
      done = true
    })
    end.catch(() => {})
    do {
      await good()
      await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 20))]).catch(() => {})
    } while (!done)
    await end
  }
  try {
    await meanwhile(timed('discover', 2 * t.timeoutMs, r.discover(['bad']))) // connecting and listing have one deadline each
    const health = r.getHealth().bad!
    o.health = health.errorCode ?? ''
    o.lastError = health.lastError ?? ''
    o.warnings = health.warnings ?? []
    for (const text of [health.lastError, health.serverInfo?.name, ...o.warnings]) shown(text)
    const tools = r.getSnapshot().tools.filter((x) => x.server === 'bad')
    o.tools = tools.map((x) => x.name)
    o.told ||= JSON.stringify(tools.slice(0, 100)).includes(t.secret)
    for (const format of ['openai', 'openai-responses', 'anthropic', 'gemini'] as const)
      JSON.stringify(r.getTools({ format }))
    if (t.lingerMs) await meanwhile(new Promise((resolve) => setTimeout(resolve, t.lingerMs)))
    for (let i = 0; i < (t.calls ?? 1) && o.tools.length; i++) {
      const signal = t.cancelMs ? AbortSignal.timeout(t.cancelMs) : undefined
      if (t.asks) {
        const patience = t.timeoutMs + 2000 // the module's own deadline is first
        const end = { signal: AbortSignal.timeout(patience) }
        const one = { servers: ['bad'], ...end }
        const list = (all: { uri?: string; uriTemplate?: string; prompt?: string }[]) =>
          `${all.length} ${all[0]?.uri ?? all[0]?.uriTemplate ?? all[0]?.prompt ?? ''}`
        const asks = {
          resources: () => r.resources(one).then(list),
          resourceTemplates: () => r.resourceTemplates(one).then(list),
          prompts: () => r.prompts(one).then(list),
          readResource: () => r.readResource('bad', 'demo://a', end).then(({ text }) => text),
          getPrompt: () => r.getPrompt('bad__p', {}, end).then((p) => String(p.messages[0]?.content['text'] ?? '')),
          complete: () =>
            r.complete({ server: 'bad', prompt: 'p', argument: 'a', value: '' }, end).then((c) => c.values[0] ?? ''),
          instructions: () => r.instructions(one).then((all) => all[0]?.text ?? ''),
          subscribeResource: async () => {
            const stop = await r.subscribeResource('bad', 'demo://a', () => {})
            await new Promise((resolve) => setTimeout(resolve, t.lingerMs ?? 0))
            stop()
            return 'watching'
          },
        }
        await meanwhile(
          timed('ask', patience, asks[t.asks]()).then((text) => {
            o.textBytes = Math.max(o.textBytes, new TextEncoder().encode(text).length)
            o.calls.push(`text:${text.slice(0, 300)}`)
          }, (e: { code: string; message: string; hint?: string }) => {
            shown(e.message)
            shown(e.hint)
            o.calls.push(`code:${e.code ?? e.message}`)
          }),
        )
        continue
      }
      await meanwhile(
        timed(
          'call',
          t.cancelMs ?? t.timeoutMs,
          r.call(o.tools[0]!, t.args ?? '{}', {
            timeoutMs: t.timeoutMs,
            ...(signal && { signal }),
            onProgress: () => {},
          }),
        ).then(({ text }) => {
          o.textBytes = Math.max(o.textBytes, new TextEncoder().encode(text).length)
          o.calls.push(`text:${text.slice(0, 300)}`)
        }, (e: { code: string; message: string; hint?: string }) => {
          shown(e.message)
          shown(e.hint)
          o.calls.push(`code:${e.code ?? e.message}`)
        }),
      )
    }
    await good()
    const last: ServerHealth = r.getHealth().bad!
    o.lastError = last.lastError ?? ''
    shown(last.lastError)
    o.told ||= JSON.stringify(r.getSnapshot().servers).includes(t.secret)
    o.polluted = 'polluted' in {}
  } catch (e) {
    o.fault = String(e)
  } finally {
    await timed('close', 0, r.close())
  }
  return o
}

/** The faults of a run, and the time that exchanges stayed open after the end, in ms. */
export async function judge(
  farm: Farm,
  c: FarmCase,
  run: string,
  outcome: Outcome,
): Promise<{ problems: string[]; openMs: number }> {
  const at = (verb: string) => `${farm.control}/${verb}/${encodeURIComponent(c.name)}/${run}`
  const { ms } = await (await fetch(at('open'))).json() as { ms: number }
  return {
    openMs: ms,
    problems: await (await fetch(at('judge'), { method: 'POST', body: JSON.stringify(outcome) })).json() as string[],
  }
}

export interface Verdict {
  c: FarmCase
  problems: string[]
  outcome?: Outcome
  openMs: number
}

/** Visits all cases, so many at once. */
export async function visitAll(
  farm: Farm,
  cases: FarmCase[],
  atOnce: number,
  run: string,
  use: (c: FarmCase, run: string) => Promise<Outcome>,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const left = [...cases]
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let c = left.shift(); c; c = left.shift()) {
      try {
        const outcome = await use(c, run)
        verdicts.push({ c, outcome, ...await judge(farm, c, run, outcome) })
      } catch (e) {
        verdicts.push({ c, problems: [`the client failed: ${(e as Error).message}`], openMs: 0 })
      }
    }
  }))
  return verdicts
}

/** The latest return of each call of the API after its deadline, in ms. */
export function latest(verdicts: Verdict[]): Record<string, number> {
  const late: Record<string, number> = {}
  for (const { outcome } of verdicts) {
    for (const [what, ms] of Object.entries(outcome?.late ?? {}))
      late[what] = Math.max(late[what] ?? -Infinity, Math.round(ms))
  }
  return late
}
