import { compile } from './compile.ts'
import { ignore } from '../shared/download.ts'
import { Elsewhere } from './storage-events.ts'
import { fromWire } from '../shared/errors.ts'
import { intended, launch, type Opened } from './launch.ts'
import { redirectUrl, startOptions } from './options.ts'
import { imported, part, type Parts } from './parts.ts'
import type { Owner, RegistryImage } from './registry.ts'
import { aborted, type Body } from './requests.ts'
import type { Begin } from '../shared/protocol.ts'
import type { Others } from './storage-lock.ts'
import { ConfigStore, storageFor } from './storage.ts'
import type * as types from '../shared/types.ts'
import { version } from '../shared/version.ts'
import { watchPage } from './watch.ts'

/** createRegistry, of a class of images, with options that are right. */
export async function create<R extends RegistryImage>(
  Made: new(owner: Owner) => R,
  options: types.RegistryOptions,
): Promise<R> {
  const { host, onProgress: report = ignore, servers: given = {}, signal } = options
  const cassette = options.cassette as
    | { open(start: () => Promise<Opened>, begin: Promise<Begin>): Promise<Opened> }
    | undefined
  const phase = (phase: string) => report({ loaded: 1, total: 1, phase })
  let store!: ConfigStore
  const tell = (m: Body) => registry.requests.tell(m)
  // A service worker is taken to have its storage for itself: it has no import().
  const alone = options.storage === 'memory' || !!host
  let sharing: Promise<Others> | undefined
  const others = () =>
    sharing ??= Promise.all([imported('storage-lock.js', () => import('./storage-lock.ts')), stored]).then((
      [{ Others }],
    ) => new Others(store, options, tell))
  const turn = <T>(work: () => Promise<T>) => (alone ? work() : others().then((o) => o.turn(work), work))
  const stored = Promise.resolve().then(async () => {
    const secrets = options.rememberSecrets
      ? await (await part('secrets', host)).openSecrets()
      : undefined
    store = new ConfigStore(storageFor(options.storage), secrets, turn)
    await store.load(given)
  })
  const checker = options.validate ? part('validate', host) : undefined
  const scanner = options.scan ? part('scan', host) : undefined
  for (const early of [stored, checker, scanner]) early?.catch(ignore)
  const validate = (await checker)?.validateArguments
  const scanning = await scanner?.then(({ Scanner }) => new Scanner())
  let trust: Promise<InstanceType<Parts['trust']['Trust']>> | undefined
  const approved = () =>
    trust ??= Promise.all([part('trust', host), stored]).then(([{ Trust }]) =>
      new Trust(store, options, {
        turn,
        take: (key, pins) => tell({ method: 'takePins', key, pins }),
        changed: () => elsewhere?.tell(),
      })
    )
  /** Settles when what was approved has been given to the storage. */
  const kept = async () => (await trust?.catch(ignore))?.saved

  // Is there as long as the module is not: then all servers are off.
  let asleep: Parts['unloaded'] | undefined
  let unheard = () => {}
  const show = () =>
    asleep &&
    registry.receive({
      event: 'state',
      whole: true,
      status: registry.discovered ? 'ready' : 'idle',
      servers: asleep.states(store.servers),
    })
  const shared = intended(options) === 'shared'
  const sharedPart = () => imported('shared.js', () => import('./shared.ts'))
  let doors: Promise<InstanceType<Parts['signin']['Door']>> | undefined
  const door = () =>
    doors ??= part('signin', host).then(({ Door }) => new Door(options.signIn?.onAuthorize, redirectUrl(options)))
  const unwatch = watchPage(tell)
  const elsewhere = alone
    ? undefined
    : new Elsewhere(() => others().then((o) => o.heard(() => (asleep ? trust : approved()))).then(show, ignore))
  const registry: R = new Made({
    mode: intended(options),
    host,
    validate,
    scanner: scanning,
    asks: !!options.onApprove,
    trust: approved,
    onElicitation: options.onElicitation,
    door,
    onHints: (h) => store.saveHints(h),
    onConfig: (name, patch) => (store.change(name, patch), show(), store.saved.then(elsewhere?.tell)),
    kept,
    onServers: (servers) =>
      void (shared && !asleep && sharedPart().then((s) => s.follow(store.servers, servers), ignore)),
    onClose: async () => (unwatch(), await store?.saved, await kept(), elsewhere?.close()),
    async open(signal) {
      const compiled = async () => {
        const module = await within(signal, compile(options, report))
        phase('start')
        return module
      }
      // The worker is asked for first, then the module, and then what storage holds, which can take as long.
      const begin = stored.then((): Begin => ({
        servers: Object.fromEntries(store.servers),
        given: Object.keys(given),
        discovered: registry.discovered,
      }))
      const start = () =>
        launch(
          options,
          compiled,
          begin.then(async (
            b,
          ) => [startOptions(options, await store.hints(), await kept().then(() => store.pins())), b]),
        )
      const opened = await (cassette ? cassette.open(start, begin) : start())
      asleep = undefined
      unheard()
      return opened
    },
    asleep(body) {
      // In shared mode all tabs are to hear of it.
      const a = shared && /Server|set/.test(body.method) ? undefined : asleep?.answer(store.servers, body)
      if (!a) return undefined
      if (body.method === 'discover') show()
      return 'error' in a ? Promise.reject(fromWire(a.error)) : Promise.resolve(a.result)
    },
  })
  registry.version = version
  const enabled = (c: types.ServerConfig) => c.enabled !== false
  try {
    const sure = Object.values(given).some(enabled) // before the storage has been read
    if (!sure) await within(signal, stored)
    if (sure || [...store.servers.values()].some(enabled)) {
      const { refused } = await registry.requests.start(signal)
      // A stored server that cannot be used any more is left out; one of the options is the caller's to mend.
      for (const [name, e] of Object.entries(refused)) if (given[name]) throw fromWire(e)
    } else {
      asleep = await part('unloaded', host)
      show()
      if (shared) unheard = (await sharedPart()).whenUp(() => registry.requests.start().catch(ignore))
    }
  } catch (e) {
    await registry.close()
    throw e
  }
  try {
    // A person has come back from a redirect; how the sign-in goes is in the health.
    if ('portolan.signin' in sessionStorage) door().then((d) => d.resume(registry), ignore)
  } catch { /* no such storage here */ }
  phase('ready')
  return registry
}

export async function within<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work
  if (signal.aborted) throw aborted(signal)
  return Promise.race([
    work,
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(aborted(signal)), { once: true })),
  ])
}
