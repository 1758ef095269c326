import { root, start, type Running } from '../../e2e/rig/harness.ts'
import { worker, workerd } from '../../e2e/rig/workerd.ts'

/** The page that the subjects let in. */
export const page = 'http://localhost:5173'

const environment = {
  ALLOWED_ORIGINS: page,
  ALLOWED_HOSTS: '127.0.0.1',
  ALLOWED_PORTS: '*',
  ALLOW_HTTP: 'true',
  ALLOW_PRIVATE: 'true',
  MAX_STREAMS: '1000',
  MAX_REQUESTS_PER_MINUTE: '1000000',
}
const stock = ['worker.mjs', 'runtime.mjs', 'wasm_exec.js', 'app.wasm'].map((name) => [name, `dist/stock/${name}`])

/** The measured program; without a process it is the server itself. */
export type Subject = { url: string } & Partial<Running>

export const subjects: Record<string, () => Promise<Subject>> = {
  forward: () => workerd({ 'forward.mjs': 'bench/proxy/forward.mjs' }, {}),
  'hand-written': () => workerd({ 'plain.mjs': 'bench/proxy/plain.mjs' }, {}),
  portolan: () => workerd(worker, environment),
  native: async () => {
    const running = await start(`${root}dist/bin/portolan`, ['proxy'], /proxy is at (http:\S+)/, environment)
    return { ...running, url: running.ready[1]! }
  },
  direct: async () => ({ url: '' }),
  'workers.Serve': () => workerd(Object.fromEntries(stock), {}),
}

/** Which part of the requests a subject gets: a Go program for each is slow. */
export const share = (name: string): number => (name === 'workers.Serve' ? 0.1 : 1)
