import type { ServerConfig } from '../../wasm/js/shared/types.ts'
import type { Input, Lint } from './types.ts'

/** A server as its dialect says it, before `finish`. */
export interface Draft extends Pick<ServerConfig, 'enabled' | 'proxy' | 'timeoutMs' | 'tools'> {
  name?: string
  url?: string
  headers: [name: string, value: string][]
  transport?: 'streamable-http' | 'sse'
  stdio?: { command: string; args: string[]; env: Record<string, string> }
  lints: Lint[]
}

/** The members of an input beside its id, in a dialect. */
export type Declared = Map<string, Partial<Input>>

export const maxEntries = 500
export const maxText = 1 << 20
