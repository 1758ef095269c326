import { compile } from './compile.ts'
import { create } from './create.ts'
import { ignore } from '../shared/download.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { loadAhead } from './launch.ts'
import { checkOptions } from './options.ts'
import { part } from './parts.ts'
import { RegistryImage } from './registry.ts'
import { within } from './requests.ts'
import type * as types from '../shared/types.ts'

export { portChannel } from '../shared/channel.ts'
export { serveRegistry } from './serving.ts'
export { RegistryError }
export type * from '../shared/types.ts'

export const createRegistry: typeof types.createRegistry = async (options = {}) => {
  checkOptions(options)
  return create(options)
}

export const preload: typeof types.preload = async (options = {}) => {
  checkOptions(options)
  part('models', options.host).catch(ignore) // createRegistry tells of its failure
  await within(options.signal, loadAhead(options, () => compile(options, options.onProgress ?? ignore)))
}

export const connectRegistry: typeof types.connectRegistry = async (channel) => {
  const registry = new RegistryImage({ mode: 'remote' })
  await Promise.all([registry.load(), registry.requests.attach(channel)])
  return registry
}
