// Functions of the page as tools of the browser's agents (WebMCP, draft of June 2026).

import { RegistryError } from '../shared/registry-error.ts'
import type * as types from '../shared/types.ts'
import { checkFunction } from './checkrequest.ts'
import { messageOf } from './models/local.ts'
import { shielded } from './requests.ts'

/** `document.modelContext`. Older drafts have it in `navigator`, with unregisterTool in place of the signal. */
interface ModelContext {
  registerTool(tool: object, options: { signal: AbortSignal }): unknown
  unregisterTool?(name: string): unknown
  addEventListener?(type: 'toolchange', listener: () => void, options: { signal: AbortSignal }): void
}

/** The registry, as far as publishing uses it. */
interface Published {
  /** The functions of the page that models may call now. A function that has not changed is the same object. */
  tools(): types.ToolInfo[]
  call(name: string, args: Record<string, unknown>, options: types.DispatchOptions): Promise<types.ToolResult>
  subscribe(listener: () => void): () => void
  /** Ends with the registry. */
  readonly ended: AbortSignal
}

type OnRefused = NonNullable<Parameters<types.Registry['publishTools']>[1]>

/** Offers a registry's functions of the page to documents. */
export class Publisher {
  readonly #source: Published
  readonly #publications = new WeakMap<object, Publication>()

  constructor(source: Published) {
    this.#source = source
  }

  /** Offers the tools to a document. All publications of one document are the same, until the last has ended. */
  publish(document: object, onRefused?: OnRefused): () => void {
    if (onRefused !== undefined) checkFunction('onRefused', onRefused)
    const context = isGone(document) ? undefined : contextOf(document)
    if (!context || this.#source.ended.aborted) return () => {}
    let publication = this.#publications.get(context)
    if (!publication) {
      publication = new Publication(document, context, this.#source, () => this.#publications.delete(context))
      this.#publications.set(context, publication)
    }
    return publication.join(onRefused)
  }
}

interface Offer {
  info: types.ToolInfo
  refused?: RegistryError
  /** Takes the tool back. */
  end(): void
}

class Publication {
  readonly #document: object
  readonly #context: ModelContext
  readonly #source: Published
  readonly #users = new Set<OnRefused>()
  readonly #offers = new Map<string, Offer>()
  /** Aborts when the last user has left, and with the registry. */
  readonly #end = new AbortController()

  constructor(document: object, context: ModelContext, source: Published, ended: () => void) {
    this.#document = document
    this.#context = context
    this.#source = source
    const stop = source.subscribe(() => this.#follow())
    this.#end.signal.addEventListener('abort', () => {
      stop()
      ended()
      for (const offer of this.#offers.values()) offer.end()
    })
    const { signal } = this.#end
    source.ended.addEventListener('abort', () => this.#end.abort(), { signal })
    shielded(() => context.addEventListener?.('toolchange', () => this.#retry(), { signal }))
  }

  join(onRefused: OnRefused = () => {}): () => void {
    const user: OnRefused = (...refusal) => onRefused(...refusal)
    for (const { info, refused } of this.#offers.values()) if (refused) shielded(() => user(refused, info.name))
    this.#users.add(user)
    if (this.#users.size === 1) this.#follow()
    return () => {
      if (this.#users.delete(user) && !this.#users.size) this.#end.abort()
    }
  }

  /** Offers new tools, and takes back those that were removed or changed. */
  #follow(): void {
    if (this.#end.signal.aborted) return
    const now = new Map(this.#source.tools().map((info) => [info.name, info]))
    for (const [name, offer] of this.#offers) {
      if (now.get(name) === offer.info) continue
      this.#offers.delete(name)
      offer.end()
    }
    for (const info of now.values()) if (!this.#offers.has(info.name)) this.#offer(info)
  }

  /** Offers tools again that were refused. Another script may have taken back a tool of that name. */
  #retry(): void {
    for (const { info, refused } of [...this.#offers.values()]) if (refused) this.#offer(info, refused)
  }

  /** `before`: the refusal that users know of. */
  #offer(info: types.ToolInfo, before?: RegistryError): void {
    const document = this.#document, context = this.#context
    const control = new AbortController()
    const offer: Offer = {
      info,
      end() {
        if (isGone(document)) return
        control.abort()
        if (offer.refused) return // the name is not ours
        try {
          context.unregisterTool?.(info.name)
        } catch { /* the signal has removed it */ }
      },
    }
    this.#offers.set(info.name, offer)
    const refuse = (cause: unknown) => {
      if (control.signal.aborted) return
      offer.refused = new RegistryError('unsupported', `the browser refused ${info.name}: ${messageOf(cause)}`, {
        server: info.server,
        hint: 'A document takes a name once. A permissions policy may forbid the feature "tools".',
        cause,
      })
      if (before?.message === offer.refused.message) return
      for (const user of this.#users) shielded(() => user(offer.refused!, info.name))
    }
    try {
      Promise.resolve(context.registerTool(this.#toolOf(info), { signal: control.signal })).catch(refuse)
    } catch (e) {
      refuse(e)
    }
  }

  /** The tool in the form of the draft. */
  #toolOf(info: types.ToolInfo): object {
    const { title, description, inputSchema, annotations } = info.definition
    const says = (hint: string) => annotations?.[hint] === true
    return {
      name: info.name,
      ...(title && { title }),
      description: description || title || info.tool, // an empty one is refused
      inputSchema,
      annotations: {
        readOnlyHint: says('readOnlyHint'),
        // A tool that reaches the open world brings foreign texts.
        untrustedContentHint: says('untrustedContentHint') || says('openWorldHint'),
        consequentialHint: says('destructiveHint'), // of Chromium 156
      },
      execute: (args: Record<string, unknown>, context?: { signal?: unknown }) => this.#run(info, args, context),
    }
  }

  /** Runs a call as one of a model. Chromium hides why a function has thrown, so agents get failures as results. */
  async #run(info: types.ToolInfo, args: Record<string, unknown>, context?: { signal?: unknown }): Promise<object> {
    const asked = context?.signal
    const signal = asked instanceof AbortSignal ? AbortSignal.any([asked, this.#end.signal]) : this.#end.signal
    try {
      if (!signal.aborted && !this.#source.tools().some((tool) => tool.name === info.name))
        throw new RegistryError('unknown_tool', `${info.name} was removed`, { server: info.server })
      const { content, structuredContent, isError } = await this.#source.call(info.name, args, { signal })
      return { content, ...(structuredContent !== undefined && { structuredContent }), ...(isError && { isError }) }
    } catch (e) {
      if (signal.aborted) throw e
      const { code } = e as RegistryError
      return { content: [{ type: 'text', text: `${messageOf(e)} (${code})` }], isError: true }
    }
  }
}

/** Whether a document has no window, or no more. Chromium 156 may crash when its modelContext is used. */
function isGone(document: { defaultView?: unknown }): boolean {
  try {
    return document.defaultView === null
  } catch {
    return false
  }
}

/** The browser's model context. Undefined where there is none. */
function contextOf(document: object): ModelContext | undefined {
  const unusable = (why: string, cause?: unknown) =>
    new RegistryError('unsupported', `document.modelContext cannot be used: ${why}`, {
      hint: 'The browser or a script of this page has one that is not of the WebMCP draft.',
      cause,
    })
  if (typeof document !== 'object' || document === null)
    throw new RegistryError('invalid_option', 'document is not a Document')
  let context: ModelContext | null | undefined, register: unknown
  try {
    const { modelContext, defaultView } = document as {
      modelContext?: ModelContext
      defaultView?: { navigator?: { modelContext?: ModelContext } }
    }
    context = modelContext ?? defaultView?.navigator?.modelContext
    register = context?.registerTool
  } catch (e) {
    throw unusable(messageOf(e), e)
  }
  if (context === undefined || context === null) return undefined
  if (typeof register !== 'function') throw unusable('it has no registerTool')
  return context
}
