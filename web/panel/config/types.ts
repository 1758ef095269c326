import type { Codes } from '../translations.ts'
import type { ServerConfig } from '../../../wasm/js/shared/types.ts'

/** What was found in a text that describes servers. */
export interface Reading {
  kind: Codes<'kind_'> | 'empty'
  entries: Entry[]
  /** Why there are no entries, or not all. */
  problem?: Problem
}

/** `line` and `column` begin at 1. */
export interface Problem {
  code: string
  line?: number
  column?: number
  limit?: number
}

export interface Entry {
  /** Suggested; unique within the reading. */
  name: string
  /** What to save, once `fill` has put the inputs in; absent for what a browser cannot reach. */
  config?: ServerConfig
  /** A server that is a local process: explained, not added. */
  stdio?: Stdio
  /** Headers that hold secrets. The values are in `config.headers` only. */
  secrets: Secret[]
  /** What the user has to give; `config` says ${input:id} in its place. */
  inputs: Input[]
  lints: Lint[]
}

/** Arguments that may be secret say [redacted]; of the environment only the names are kept. */
export interface Stdio {
  command: string
  args: string[]
  env: string[]
}

export interface Secret {
  header: string
  origin: 'value' | 'input' | 'env'
  input?: string
}

export interface Input {
  id: string
  /** The header that it is for; none: it is part of the url. */
  header?: string
  description?: string
  password: boolean
  required: boolean
  default?: string
  choices?: string[]
}

/**
 * A remark about an entry. `error`: it cannot be saved like this; `warning`: it
 * will hardly work, or leaks; `info`: good to know. `values` are for the message;
 * they hold no secrets but are foreign text.
 */
export interface Lint {
  code: string
  level: 'error' | 'warning' | 'info'
  values?: Record<string, string>
}

/** A server as its dialect says it, before `finish`. */
export interface Draft {
  name?: string
  url?: string
  headers: [name: string, value: string][]
  transport?: 'streamable-http' | 'sse'
  enabled?: boolean
  proxy?: boolean | 'auto'
  timeoutMs?: number
  tools?: { allow?: string[]; deny?: string[] }
  stdio?: { command: string; args: string[]; env: Record<string, string> }
  lints: Lint[]
}

/** What a dialect says of an input beside its id. */
export type Declared = Map<string, Partial<Input>>

export const maxEntries = 500
export const maxText = 1 << 20
