import type { Model, ToolView } from '../loop/types.ts'
import type { DispatchOptions, JSONSchema, Snapshot, StorageAdapter, ToolResult } from '../../wasm/js/shared/types.ts'

/**
 * Runs one search for a person. It looks at the servers, has your model plan, and searches with the server's own
 * progress. It shows a preview, and has your model write an answer. Every end is an event: `answer` or `error`. Only
 * wrong options throw, a `RegistryError` with the code `invalid_option`. The run begins when it is read, and can be
 * read once.
 *
 * ```ts
 * for await (const event of run({ prompt, registry, model, roles: { search: 'search' } })) console.log(event)
 * ```
 */
export declare function run(options: RunOptions): Run
/**
 * A run as server-sent events: one event of the run each, its members as JSON. It ends after `clarify`: the client
 * sends its prompt again, with `answered`. A client that leaves ends the run.
 */
export declare function toSSE(run: Run): Response
/** A run. Read its events with `for await`; leaving it ends the run, its calls and the model's request. */
export interface Run extends AsyncIterable<RunEvent> {
  /** Answers the question of `clarify`. Returns whether one was open. A blank text is no answer. */
  reply(text: string): boolean
  /** Counts and times so far. It has no texts. */
  readonly metrics: Readonly<RunMetrics>
}

/** Options of {@link run}. */
export interface RunOptions {
  /** The person's wish, at most 4,000 characters. */
  prompt: string
  /** Where the tools are. It is also asked for the health of their servers, and for hints of the tools. */
  registry?: RunRegistry
  /** A narrower list of tools. With `registry`, calls go through the view. One of the two is needed. */
  view?: Extract<ToolView, { call: unknown }>
  /** Your model: it plans with `json: true` and writes the answer. It never gets tools. */
  model: Model
  /** Which tool does what. */
  roles: RunRoles
  /**
   * The shape of a plan: an object whose members are strings, numbers, booleans or lists of strings. The tools get its
   * members as arguments, as far as they have such parameters. Default: `query`, and with `roles.list` `databases`.
   */
  schema?: JSONSchema
  /** The longest time, in ms. It stands still while the person is asked. Default: 60,000. */
  timeoutMs?: number
  /** The most sources of a plan. Specific ones are kept before masks. Default: 5. */
  maxSources?: number
  /** The most results of the preview, which are those that the model gets. Default: 10. */
  preview?: number
  /** Keeps results for 5 minutes and the list of sources for an hour, in memory, per registry. Default: true. */
  cache?: boolean
  /** The number of runs that a person may begin. */
  quota?: RunQuota
  /** A question of an earlier run, and the reply. The run then asks no other. */
  answered?: { question: string; reply: string }
  signal?: AbortSignal
}

/** The parts of a `Registry` that a run uses. */
export interface RunRegistry {
  /** The current state. */
  getSnapshot(): Pick<Snapshot, 'servers' | 'tools'>
  /** Connects to servers. */
  discover(names?: string[], options?: { signal?: AbortSignal }): Promise<unknown>
  /** Calls a tool. */
  call(name: string, args: Record<string, unknown>, options?: DispatchOptions): Promise<ToolResult>
}

/** The names of tools: the server's own, or those for models (`server__tool`). */
export interface RunRoles {
  /** Lists the sources that a plan may name. It gets no arguments. */
  list?: string
  /**
   * Searches. Several: the first that the server has. Put the one that reports progress first, as in
   * `['search_with_progress', 'search']`.
   */
  search: string | readonly string[]
  /** Makes the address of the search for people. It gets the plan. Without it the answer has the next best address. */
  link?: string
}

/** A bound on the runs of one person in a day (UTC). */
export interface RunQuota {
  /** Names the person or the client. It is stored, so pass no secret. */
  key: string
  /** The most runs in a day. */
  perDay: number
  /** Keeps the counts. Default: memory. Only the runs of one process wait for each other. */
  store?: StorageAdapter
}

/** The events of a run. The last event is `answer` or `error`. */
export type RunEvent =
  /** A stage begins or goes on. `pct` is there only if the server said it. `message` is the server's. */
  | { type: 'progress'; stage: RunStage; pct?: number; message?: string }
  /**
   * The prompt has several meanings. The run waits for `reply()`, at most once and 10 minutes. That of `remoteRun()`
   * has no such bound.
   */
  | { type: 'clarify'; question: string }
  /** The findings: the first results, and their number. Their texts are a server's: do not trust them. */
  | { type: 'results_preview'; items: RunItem[]; total: number }
  /**
   * The answer in Markdown, with the sections Summary, Key Cases and Notes, and the address of the search at the end.
   * Its links are those of the preview. `url` is what the tool of the role `link` made. Without one it is the address
   * that the search names, its first result, or the server's website or origin. A view without a registry that finds
   * nothing has none of these: `url` is then empty.
   */
  | {
    type: 'answer'
    markdown: string
    url: string
    /** The model wrote no summary: it failed or the time was over. The answer lists the results. */
    partial?: true
    /** The number of links of the model that were taken out, because no result has them. */
    removedLinks: number
    /** The number of runs that the quota has left today. */
    remaining?: number
  }
  | {
    type: 'error'
    code: RunErrorCode
    detail?: string
    hint?: string
    /** With `quota`: when the next run is possible, in ms since the epoch. */
    resetsAt?: number
  }

/** The stages of a run, in order. */
export type RunStage = 'health' | 'plan' | 'search' | 'summarise'

/**
 * The reason why a run failed.
 * - `unhealthy`: a server of the roles is not connected after 2 s, or lacks a tool. The model was not asked.
 * - `bad_plan`: the model twice gave no valid plan; `detail` says what was wrong with the second
 * - `model_failed`: the model threw while it planned
 * - `search_failed`: no search tool gave results
 * - `quota`, `timeout`, `aborted`
 * - `refused`: of `remoteRun()`, if the endpoint gave no events
 */
export type RunErrorCode =
  | 'unhealthy'
  | 'bad_plan'
  | 'model_failed'
  | 'search_failed'
  | 'quota'
  | 'timeout'
  | 'aborted'
  | 'refused'

/** A result. */
export interface RunItem {
  title: string
  /** An http or https address. Two results never have the same one. */
  url: string
  /** The other facts of the server: at most 20 texts, numbers and booleans. */
  metadata?: Record<string, string | number | boolean>
}

/** Counts and times of a run. */
export interface RunMetrics {
  modelCalls: number
  toolCalls: number
  retries: number
  cacheHits: number
  /** Results after and before duplicates were left out. */
  results: number
  listed: number
  clarifications: number
  removedLinks: number
  /** In ms, of the stages that have ended. */
  ms: Partial<Record<RunStage, number>>
}

/** The part of the options that a person or a client may choose. */
export interface RunRequest extends Pick<RunOptions, 'prompt' | 'timeoutMs' | 'preview' | 'answered'> {}
