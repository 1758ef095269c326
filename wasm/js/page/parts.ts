import type { RegistryOptions } from '../shared/types.ts'
import { imported } from './imported.ts'

/**
 * Parts that are loaded at first use. The build makes a file of each. A service worker has no import(), so its host
 * contains them. Other parts are used in pages only and are imported where they are used.
 */
export const parts = {
  activity: () => import('./activity.ts'),
  validate: () => import('./validate.ts'),
  search: () => import('../shared/search.ts'),
  secrets: () => import('./secrets.ts'),
  leaks: () => import('../shared/leaks.ts'),
  integrity: () => import('../shared/integrity.ts'),
  models: () => import('./models.ts'),
  limits: () => import('./limits.ts'),
  project: () => import('./project.ts'),
  repair: () => import('./repair.ts'),
  offers: () => import('./offers.ts'),
  questions: () => import('./questions.ts'),
  results: () => import('./results.ts'),
  tomessage: () => import('./tomessage.ts'),
  trust: () => import('./trust.ts'),
  scan: () => import('../shared/scan.ts'),
  signin: () => import('./signin.ts'),
  skills: () => import('./skills.ts'),
  serve: () => import('./serve.ts'),
  tasks: () => import('./tasks.ts'),
}

type Loaders = typeof parts
export type Parts = { [K in keyof Loaders]: Awaited<ReturnType<Loaders[K]>> }

/** Loads a part. In a service worker, which has no import(), `host` contains the parts (host/service.ts). */
export async function part<K extends keyof Parts>(name: K, host: RegistryOptions['host']): Promise<Parts[K]> {
  const loaders = (host as { parts?: Loaders } | undefined)?.parts ?? parts
  return await imported<unknown>(`${name}.js`, loaders[name]) as Parts[K]
}
