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
  secrets: () => import('./storage/secrets.ts'),
  leaks: () => import('../shared/leaks.ts'),
  integrity: () => import('../shared/integrity.ts'),
  models: () => import('./models/models.ts'),
  limits: () => import('./limits.ts'),
  project: () => import('./storage/project.ts'),
  repair: () => import('./storage/repair.ts'),
  offers: () => import('./offers/offers.ts'),
  questions: () => import('./offers/questions.ts'),
  results: () => import('./models/results.ts'),
  tomessage: () => import('./models/tomessage.ts'),
  trust: () => import('./storage/trust.ts'),
  scan: () => import('../shared/scan.ts'),
  signin: () => import('./signin.ts'),
  skills: () => import('./offers/skills.ts'),
  serve: () => import('./serve.ts'),
  tasks: () => import('./offers/tasks.ts'),
}

type Loaders = typeof parts
export type Parts = { [K in keyof Loaders]: Awaited<ReturnType<Loaders[K]>> }

/** Loads a part. In a service worker, which has no import(), `host` contains the parts (host/service.ts). */
export async function part<K extends keyof Parts>(name: K, host: RegistryOptions['host']): Promise<Parts[K]> {
  const loaders = (host as { parts?: Loaders } | undefined)?.parts ?? parts
  return await imported<unknown>(`${name}.js`, loaders[name]) as Parts[K]
}
