import type { Cassette } from '../shared/types.ts'

/** Describes the value for a redact hook: a part of a recorded call, or a tool's definition. */
export interface RedactContext {
  /** The tool's model name. */
  tool: string
  part: 'arguments' | 'result' | 'error' | 'progress' | 'definition'
}

/** Options of recording and replaying. */
export interface CassetteOptions {
  /**
   * Returns the value to record. It may change its argument. Header values of the registry's servers are removed
   * before. When replaying, the arguments of a call pass through it before the lookup.
   */
  redact?: (value: unknown, context: RedactContext) => unknown
}

/** Options of {@link record}. */
export interface RecordOptions extends CassetteOptions {
  /** The largest cassette, in bytes of JSON. Default: 10 MiB. Calls beyond it are not recorded. */
  maxBytes?: number
}

/** A cassette during recording. */
export interface Recording extends Cassette {
  /** The number of recorded calls, failed ones too. */
  readonly calls: number
  /** The cassette is full, and later calls are missing. */
  readonly full: boolean
  /** The cassette as JSON text for {@link replay}. */
  text(): string
}

/** Records lists and results of servers. Pass it as `createRegistry({ cassette })`. */
export declare function record(options?: RecordOptions): Recording

/**
 * Replays a cassette, without the module and without a network. Servers have their last lists. Calls with the same
 * arguments get the recorded results in their order. A call that is not recorded rejects with `cassette_miss`. Throws a
 * RegistryError `invalid_cassette` if the text is no cassette.
 */
export declare function replay(text: string, options?: CassetteOptions): Cassette
