import type { Run, RunErrorCode, RunMetrics, RunOptions, RunRequest } from '../types.ts'

/**
 * Serves runs as a handler of Workers, Deno, Bun and service workers. It answers POST at `/session/research` with a
 * JSON body, a {@link RunRequest}. Other paths, and all requests while it is off, get 404.
 */
export declare function endpoint(options: EndpointOptions): (
  request: Request,
  /** The environment of a Worker. Deno and Bun give what knows the client's address. */
  env?: object,
) => Promise<Response>
/** The same for `createServer` of Node. */
export declare function nodeEndpoint(options: EndpointOptions): (request: NodeRequest, response: NodeResponse) => void

/** Runs at an {@link endpoint}, with the same events. A reply is sent as a further request. */
export declare function remoteRun(url: string | URL, options: RemoteRunOptions): Run
/** Options of {@link remoteRun}. */
export interface RemoteRunOptions extends RunRequest {
  /** Such as `X-Extension-Id`. */
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Options of {@link endpoint}. */
export interface EndpointOptions {
  /**
   * Makes the options of a run. `client` is the network address of the client, if it is known: it may be the key of a
   * quota. The run gets the prompt of the request by itself, and no more time or results than these options allow.
   */
  run(request: RunRequest, client: { address: string; extensionId?: string }): RunSetup | Promise<RunSetup>
  /** Default: whether the variable `HOST_AGENT_ENABLED` of the environment is `1`. */
  enabled?: boolean
  /** Origins whose pages may use it, such as `chrome-extension://…`. Default: its own. */
  origins?: readonly string[]
  /** If given, the header `X-Extension-Id` must have one of them. */
  extensionIds?: readonly string[]
  /** If given, the header `User-Agent` must contain one of these texts. It keeps only chance visitors out. */
  userAgents?: readonly string[]
  /** The most requests of an address in a minute. Default: 10. */
  perMinute?: number
  /**
   * Receives a line for each request, when it has ended: the security log, and the source of metrics. It has no texts,
   * addresses or keys. Where it is kept, and when it is rotated, is up to you.
   */
  log?: (line: EndpointLog) => void
}

/** The options of a run that are not the client's. */
export type RunSetup = Omit<RunOptions, 'prompt' | 'answered' | 'signal'>

/** A line of the endpoint's log. */
export interface EndpointLog {
  /** In ms since the epoch. */
  at: number
  /** The status of the response. */
  status: number
  /** Which rule refused the request. */
  refused?: 'origin' | 'method' | 'rate' | 'extension' | 'user_agent' | 'type' | 'size' | 'request' | 'setup'
  /** The end of the run: its last event, with the code of an error. `left`: the client left. */
  outcome?: 'answer' | 'clarify' | 'left' | RunErrorCode
  /** The number of runs that the quota has left today. */
  remaining?: number
  metrics?: Readonly<RunMetrics>
}

/** The members of a request that {@link nodeEndpoint} uses. An `IncomingMessage` has them. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined
  url?: string | undefined
  headers: Record<string, string | string[] | undefined>
  socket: { remoteAddress?: string | undefined }
  /** The value of a JSON body that a framework has read already, as `express.json()` does. */
  body?: unknown
}

/** The members of a response that {@link nodeEndpoint} uses. A `ServerResponse` has them. */
export interface NodeResponse {
  /** Begins the response. */
  writeHead(status: number, headers: Record<string, string>): unknown
  /** Sends a part of the body. False: wait for `drain`. */
  write(chunk: Uint8Array): boolean
  /** Ends the response. */
  end(): unknown
  /** Calls the listener once. */
  once(event: 'close' | 'drain', listener: () => void): unknown
}
