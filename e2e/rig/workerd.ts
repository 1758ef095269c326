import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, start, type Running } from './harness.ts'

/** The modules of the Worker, by name, with their files below the root. */
export const worker = Object.fromEntries(
  ['worker.mjs', 'policy.mjs', 'wasm_exec.js', 'proxy.wasm'].map((name) => [name, `dist/worker/${name}`]),
)

/**
 * Serves modules with workerd under wrangler.jsonc's compatibility date; the first is the Worker, vars are its
 * environment.
 */
export async function workerd(
  modules: Record<string, string>,
  vars: Record<string, string>,
): Promise<Running & { url: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-workerd-'))
  const date =
    /"compatibility_date": "([^"]+)"/.exec(await readFile(join(root, 'proxy-worker/wrangler.jsonc'), 'utf8'))![1]
  await writeFile(
    join(dir, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${
      Object.entries(modules).map(([name, path]) =>
        `(name = "${name}", ${name.endsWith('.wasm') ? 'wasm' : 'esModule'} = embed "/${path}")`
      ).join(', ')
    }],
  compatibilityDate = "${date}", compatibilityFlags = ["enable_request_signal"],
  bindings = [${Object.entries(vars).map(([name, text]) => `(name = "${name}", text = "${text}")`).join(', ')}],
);`,
  )
  try {
    const running = await start(join(root, 'proxy-worker/node_modules/@cloudflare/workerd-linux-64/bin/workerd'), [
      'serve',
      '-I',
      root,
      '--control-fd=1',
      join(dir, 'config.capnp'),
    ], /"event":"listen".*"port":(\d+)/)
    // On SIGTERM it would wait for its streams.
    return { ...running, stop: () => running.stop('SIGKILL'), url: `http://127.0.0.1:${running.ready[1]}/` }
  } finally {
    await rm(dir, { recursive: true })
  }
}
