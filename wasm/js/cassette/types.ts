import type { Cassette } from '../shared/types.ts'

/** What a redact hook is shown: a part of a recorded call, or a tool's definition. */
export interface RedactContext {
  /** What models call the tool. */
  tool: string
  part: 'arguments' | 'result' | 'error' | 'progress' | 'definition'
}

/** What recording and replaying have in common. */
export interface CassetteOptions {
  /**
   * Returns what is to be kept of a value, which it may change. Header values
   * of the registry's servers are taken out before, wherever they stand. When
   * replaying, arguments go through it as well before they are looked up.
   */
  redact?: (value: unknown, context: RedactContext) => unknown
}

/** What {@link record} takes. */
export interface RecordOptions extends CassetteOptions {
  /** How large the cassette may become, in bytes of JSON; default 10 MiB. Calls beyond it are not recorded. */
  maxBytes?: number
}

/** A cassette that is being recorded. */
export interface Recording extends Cassette {
  /** Calls that have been recorded, answers and errors. */
  readonly calls: number
  /** Calls have been left out, for there was no room. */
  readonly full: boolean
  /** The cassette as JSON text, to be given to {@link replay}. */
  text(): string
}

/** Records what servers list and answer; pass it as `createRegistry({ cassette })`. */
export declare function record(options?: RecordOptions): Recording

/**
 * Answers from a cassette, without the module and without a network: servers list
 * what they listed last, and calls with the same arguments are answered in the
 * order in which they were recorded. A call that is not on it is rejected with
 * `cassette_miss`. Throws a RegistryError `invalid_cassette` for a text that is none.
 */
export declare function replay(text: string, options?: CassetteOptions): Cassette
