import type { WireError } from './errors.ts'
import type { StartOptions } from './protocol.ts'

/** The first message to a worker, and its answer. */
export interface Launch { module: WebAssembly.Module; options: StartOptions }
export type Launched = { launched: true } | { refused: WireError }

/** The name by which a worker knows that it is ours. */
export const workerName = 'portolan-module'
