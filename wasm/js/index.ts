import { compile, ignore } from './compile.ts'
import { RegistryError } from './errors.ts'
import { launch } from './launch.ts'
import { explainWasm } from './explain.ts'
import { checkOptions, startOptions } from './options.ts'
import { part } from './parts.ts'
import { PageRegistry } from './registry.ts'
import { ConfigStore, needSecretStore, noSecretStore, storageFor } from './storage.ts'
import type * as types from './types.ts'
import { watchPage } from './watch.ts'

export { portChannel } from './channel.ts'
export { serveRegistry } from './serve.ts'
export { RegistryError }
export type * from './types.ts'

export const createRegistry: typeof types.createRegistry = async (options = {}) => {
  checkOptions(options)
  if (options.rememberSecrets) needSecretStore()
  const report = options.onProgress ?? ignore
  let store!: ConfigStore
  // The worker is asked for first, then the module, and then what storage holds, which can take as long.
  const compiled = Promise.resolve().then(() => within(options.signal, compile(options.wasm, report).catch((e: unknown) => { throw explainWasm(e) })))
  const settings = Promise.resolve().then(async () => {
    const secrets = options.rememberSecrets ? await (await part('secrets', options.host)).openSecrets().catch((e: unknown) => { throw noSecretStore(e) }) : undefined
    store = new ConfigStore(storageFor(options.storage), secrets)
    await store.load()
    for (const [name, config] of Object.entries(options.servers ?? {})) store.give(name, config)
    return startOptions(options, await store.hints())
  })
  compiled.then(() => report({ loaded: 1, total: 1, phase: 'start' })).catch(ignore)
  const { channel, mode } = await launch(options, Promise.all([compiled, settings]))

  const validate = options.validate ? (await part('validate', options.host)).validateArguments : undefined
  let begun = false
  const registry = new PageRegistry(channel, {
    mode,
    validate,
    onElicitation: options.onElicitation,
    onHints: (h) => store.saveHints(h),
    onConfig: (name, patch) => { if (begun) store.change(name, patch) },
    onClose: watchPage((m) => registry.tell(m)),
  })
  try {
    const attached = registry.attach(options.signal) // need not be back before what follows is sent
    // A stored server that cannot be used any more is left out; one of the options is the caller's to mend.
    await Promise.all([attached, ...[...store.servers].map(([name, config]) =>
      registry.addServer(name, config).catch((e: unknown) => { if (options.servers?.[name]) throw e }))])
    begun = true
  } catch (e) {
    await registry.close()
    throw e
  }
  report({ loaded: 1, total: 1, phase: 'ready' })
  return registry
}

export const connectRegistry: typeof types.connectRegistry = (channel) =>
  new PageRegistry(channel, { mode: 'remote' }).attach()

async function within<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work
  const aborted = () => new RegistryError('aborted', 'the caller cancelled', { cause: signal.reason })
  if (signal.aborted) throw aborted()
  return Promise.race([work, new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(aborted()), { once: true }))])
}
