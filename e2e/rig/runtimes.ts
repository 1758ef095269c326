import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, start, startProxy } from './harness.ts'
import { soak } from './soak.ts'
import { worker, workerd } from './workerd.ts'

/** The proxy for pages of one origin and servers on this machine, where it runs. */
export interface Runtime {
  url: string
  /** The process that moves the bytes. */
  pid: number
  /**
   * When it notices that a browser has left. Browsers close a connection without
   * a reset, which workerd takes for the end of what the client has to send: it
   * finds out when it next writes. On Cloudflare the platform tells the Worker.
   */
  notices: 'at once' | 'when it writes'
  stop(): Promise<void>
}

const environment = (origin: string) => ({
  ALLOWED_ORIGINS: origin,
  ALLOWED_HOSTS: '127.0.0.1',
  ALLOWED_PORTS: '*',
  ALLOW_HTTP: 'true',
  ALLOW_PRIVATE: 'true',
})

export const runtimes: Record<string, (origin: string) => Promise<Runtime>> = {
  native: async (origin) => ({ ...await startProxy(origin), notices: 'at once' }),
  workerd: async (origin) => ({ ...await workerd(worker, environment(origin)), notices: 'when it writes' }),
  ...(soak && { 'wrangler dev': wranglerDev }), // it starts slowly
}

/** Runs wrangler dev with wrangler.jsonc as it is, cut off from the user's own settings. */
async function wranglerDev(origin: string): Promise<Runtime> {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-wrangler-'))
  const vars = join(dir, 'vars')
  await writeFile(vars, Object.entries(environment(origin)).map(([name, value]) => `${name}="${value}"\n`).join(''))
  const running = await start(
    join(root, 'node_modules/.bin/node'),
    [
      join(root, 'proxy-worker/node_modules/wrangler/bin/wrangler.js'),
      'dev',
      '--cwd',
      join(root, 'proxy-worker'),
      '--local',
      '--ip',
      '127.0.0.1',
      '--port',
      '0',
      '--inspector-port',
      '0',
      '--env-file',
      vars,
      '--persist-to',
      dir,
      '--show-interactive-dev-session=false',
    ],
    /Ready on (http:\S+)/,
    {
      XDG_CONFIG_HOME: dir,
      WRANGLER_LOG_PATH: dir,
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      CI: 'true',
      NO_COLOR: '1',
    },
  )
  return {
    url: `${running.ready[1]}/`,
    pid: await member(running.pid, 'workerd'),
    notices: 'when it writes',
    async stop() {
      await running.stop()
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Finds a process of a group by its name. */
async function member(group: number, name: string): Promise<number> {
  for (const pid of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const [, command, rest] = /\((.*)\) (.*)/.exec(stat) ?? []
    if (command?.startsWith(name) && rest!.split(' ')[2] === String(group)) return Number(pid)
  }
  throw new Error(`there is no ${name} in process group ${group}`)
}

/** The most memory that a process has had since it was last asked, in MB. */
export async function peak(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  await writeFile(`/proc/${pid}/clear_refs`, '5')
  return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024
}
