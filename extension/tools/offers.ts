import { fits } from '../../wasm/js/page/offers/offers.ts'
import type { RegistryImage } from '../../wasm/js/page/registry.ts'
import { RegistryError } from '../../wasm/js/shared/registry-error.ts'

/** A page of a list has at most so many characters, far below the bridge's limit for a message. */
const pageLength = 1 << 20

/** The most resources that clients watch at once. */
const mostWatched = 1000

/** The most resources whose server is known from a tool's result. */
const mostNamed = 1000

type Params = Record<string, unknown>
type Asked = { signal: AbortSignal; callId: string; pairing: string }

/** A subscription at a server. */
interface Watched {
  /** The resource's server, once that is known. */
  server?: string
  /** The pairings whose clients watch the resource. */
  pairings: Set<string>
  /** Resolves to what ends it. */
  end: Promise<() => void>
}

/** Resources, prompts and completion of the registry's servers, for desktop clients. */
export class PublishedOffers {
  /** The server that a tool's result has named a resource of, by URI. */
  private readonly named = new Map<string, string>()

  /** The subscriptions of clients, by the client's URI. */
  private readonly watched = new Map<string, Watched>()
  private readonly updated: (uri: string) => void

  /** `updated`: a resource that a client watches has changed. */
  constructor(updated: (uri: string) => void) {
    this.updated = updated
  }

  /** Answers a request of the spec. Rejects with a code, as the registry does. */
  async answer(registry: RegistryImage, method: string, params: Params, asked: Asked): Promise<object> {
    const { signal, callId, pairing } = asked
    const uri = String(params['uri'])
    switch (method) {
      case 'resources/list': {
        const seen = new Set<string>()
        return paged(
          'resources',
          params,
          (await registry.resources({ signal })).map(({ server, flags: _, ...r }) => {
            const uri = seen.has(r.uri) ? ownUri(server, r.uri) : r.uri
            seen.add(r.uri)
            return { ...r, uri, _meta: marked(server, r._meta) }
          }),
        )
      }
      case 'resources/templates/list':
        return paged(
          'resourceTemplates',
          params,
          (await registry.resourceTemplates({ signal })).map(({ server, flags: _, ...t }) => (
            { ...t, _meta: marked(server, t._meta) }
          )),
        )
      case 'resources/read': {
        const [server, own] = await this.place(registry, uri, { signal })
        const { contents, _meta } = await registry.readResource(server, own, { signal, callId })
        return { contents, _meta: marked(server, _meta) }
      }
      case 'resources/subscribe':
        await this.watch(registry, uri, pairing)
        return {}
      case 'resources/unsubscribe':
        await this.unwatch(uri, pairing)
        return {}
      case 'prompts/list':
        return paged(
          'prompts',
          params,
          (await registry.prompts({ signal })).map(({ server, prompt: _, flags: __, ...p }) => (
            { ...p, _meta: marked(server, p._meta) }
          )),
        )
      case 'prompts/get': {
        const args = params['arguments'] as Record<string, string> | undefined
        const { description, messages, provenance, _meta } = await registry.getPrompt(
          String(params['name']),
          args,
          { signal, callId },
        )
        return { description, messages, _meta: marked(provenance.server, _meta) }
      }
      case 'completion/complete':
        return { completion: await this.complete(registry, params, signal) }
    }
    throw new RegistryError('unsupported', `there is no ${method}`)
  }

  /** Notes which resources a server's result names. */
  note(server: string, content: unknown): void {
    if (!Array.isArray(content)) return
    for (const block of content as { uri?: unknown; resource?: { uri?: unknown } }[]) {
      const uri = block?.uri ?? block?.resource?.uri
      if (typeof uri === 'string' && uri.length < 8192) this.named.set(uri, server)
    }
    for (const uri of this.named.keys()) {
      if (this.named.size <= mostNamed) break
      this.named.delete(uri)
    }
  }

  /** Ends the subscriptions of a pairing, because the connection with its clients has ended. */
  unwatchAll(pairing: string): void {
    for (const uri of this.watched.keys()) void this.unwatch(uri, pairing)
  }

  /** Ends the subscriptions of servers that are none of these. A server that is added again knows nothing of them. */
  keep(servers: object): void {
    for (const [uri, { server, pairings }] of this.watched)
      if (server && !(server in servers)) { for (const pairing of pairings) void this.unwatch(uri, pairing) }
  }

  /** Subscribes to a resource once, however often it is asked for. No caller's cancellation ends it for the others. */
  private async watch(registry: RegistryImage, uri: string, pairing: string): Promise<void> {
    let watched = this.watched.get(uri)
    if (!watched) {
      if (this.watched.size >= mostWatched)
        throw new RegistryError('too_large', `clients watch ${mostWatched} resources already`)
      const end = this.place(registry, uri).then(([server, its]) => {
        own.server = server
        return registry.subscribeResource(server, its, () => this.updated(uri))
      })
      const own: Watched = watched = { pairings: new Set(), end }
      this.watched.set(uri, own)
      end.catch(() => {
        if (this.watched.get(uri) === own) this.watched.delete(uri)
      })
    }
    watched.pairings.add(pairing)
    await watched.end
  }

  private async unwatch(uri: string, pairing: string): Promise<void> {
    const watched = this.watched.get(uri)
    if (!watched?.pairings.delete(pairing) || watched.pairings.size) return
    this.watched.delete(uri)
    const end = await watched.end.catch(() => undefined)
    end?.()
  }

  /** The server that a URI is read from, and its own URI. */
  private async place(
    registry: RegistryImage,
    uri: string,
    options: { signal?: AbortSignal } = {},
  ): Promise<[string, string]> {
    const [, server, own] = /^portolan:\/\/([^/]+)\/(.+)$/.exec(uri) ?? []
    try {
      if (server && own) return [decodeURIComponent(server), decodeURIComponent(own)]
    } catch { /* a URI that is no code of ours may be a server's own */ }
    const listed = (await registry.resources(options)).find((r) => r.uri === uri)
    const of = listed?.server ?? this.named.get(uri) ??
      (await registry.resourceTemplates(options)).find((t) => fits(t.uriTemplate, uri))?.server
    if (of === undefined) throw new RegistryError('unknown_resource', `no server offers ${uri}`.slice(0, 500))
    return [of, uri]
  }

  private async complete(registry: RegistryImage, params: Params, signal: AbortSignal): Promise<object> {
    const { ref, argument, context } = params as {
      ref: { name?: string; uri?: string }
      argument: { name: string; value: string }
      context?: { arguments?: Record<string, string> }
    }
    const request = {
      argument: argument.name,
      value: argument.value,
      context: context?.arguments,
    }
    const prompt = (await registry.prompts({ signal })).find((p) => p.name === ref.name)
    if (prompt) return registry.complete({ ...request, server: prompt.server, prompt: prompt.prompt }, { signal })
    const template = (await registry.resourceTemplates({ signal })).find((t) => t.uriTemplate === ref.uri)
    if (template) return registry.complete({ ...request, server: template.server, template: ref.uri! }, { signal })
    throw new RegistryError(ref.uri ? 'unknown_resource' : 'unknown_prompt', 'no server offers it')
  }
}

/** The URI of a resource whose own URI another server has too. */
const ownUri = (server: string, uri: string) => `portolan://${encodeURIComponent(server)}/${encodeURIComponent(uri)}`

/** Adds marks of its origin to what a server says beside a result. */
export const marked = (server: string, meta: Params | undefined) => (
  { ...meta, 'portolan/server': server, 'portolan/untrusted': true }
)

/** A page of a list. Its cursor is the place of the next entry. */
function paged(member: string, { cursor = '0' }: { cursor?: string }, all: object[]): object {
  const from = Number(cursor)
  if (!Number.isInteger(from) || from < 0 || from > all.length)
    throw new RegistryError('invalid_arguments', 'the list has changed: list from the first page')
  let at = from
  for (let length = 0; at < all.length; at++) {
    length += JSON.stringify(all[at]).length
    if (length > pageLength && at > from) break
  }
  return { [member]: all.slice(from, at), ...(at < all.length && { nextCursor: String(at) }) }
}
