import { workerName } from './launching.ts'

// Ways to a worker where the plain one is barred.

const kind = { type: 'module', name: workerName } as const
const script = () => new URL('./worker.js', import.meta.url).href

/** What the DOM's types lack of Trusted Types. */
interface TrustedTypes { createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(_: ''): string } }

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined

/** Where a page demands Trusted Types; the policy `portolan` trusts one URL. Throws where there are none. */
export function trustedWorker(): Worker {
  policy ??= (globalThis as never as { trustedTypes: TrustedTypes }).trustedTypes.createPolicy('portolan', { createScriptURL: script })
  return new Worker(policy.createScriptURL(''), kind)
}

/** A worker's script must be of the page's origin; what it imports need not be. */
export function blobWorker(): Worker {
  const url = URL.createObjectURL(new Blob([`import ${JSON.stringify(script())}`], { type: 'text/javascript' }))
  const worker = new Worker(url, kind)
  setTimeout(() => URL.revokeObjectURL(url), 15_000)
  return worker
}
