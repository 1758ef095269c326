import { RegistryError } from '../shared/errors.ts'
import type { RegistryOptions } from '../shared/types.ts'

/** Files beside the script that only some options need. Each is a bundle of its own: no class of theirs is ours. */
const files = {
  activity: () => import('./activity.js'),
  validate: () => import('./validate.js'),
  secrets: () => import('./secrets.js'),
  integrity: () => import('./integrity.js'),
  asleep: () => import('./unloaded.js'),
  shared: () => import('./shared.js'),
  detour: () => import('./worker-fallbacks.js'),
  results: () => import('./results.js'),
  others: () => import('./storage-lock.js'),
  trust: () => import('./trust.js'),
  scan: () => import('./scan.js'),
  signin: () => import('./signin.js'),
  serve: () => import('./serve.js'),
}

type Files = typeof files
export type Parts = { [K in keyof Files]: Awaited<ReturnType<Files[K]>> }

/** Loads one of them. Where there is no import(), the host has brought it. */
export async function part<K extends keyof Files>(name: K, host: RegistryOptions['host']): Promise<Parts[K]> {
  const brought = (host as { parts?: Partial<Parts> } | undefined)?.parts?.[name]
  try {
    return brought ?? await files[name]() as Parts[K]
  } catch (e) {
    throw notLoaded(`${name}.js`, e)
  }
}

export const notLoaded = (file: string, cause: unknown) =>
  new RegistryError('load_failed', `${file} could not be loaded: ${(cause as Error).message}`, {
    hint:
      `Serve ${file} beside the script. In a service worker, import Host from 'portolan/worker' and pass it as options.host.`,
    cause,
  })
