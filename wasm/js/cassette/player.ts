import { canonical, readArguments, shortHash } from './key.ts'
import type { Redaction } from '../shared/redaction.ts'
import type { Tape, TapedCall } from './tape.ts'
import { channelPair } from '../shared/channel.ts'
import { toWire } from '../shared/errors.ts'
import { untried } from '../shared/health.ts'
import { RegistryError } from '../shared/registry-error.ts'
import type { Attached, Begin, ListedTool, Request, StateEvent, ToHost, ToPage } from '../shared/protocol.ts'
import { toolParts, toolsEvents } from '../shared/toolparts.ts'
import type { Channel, ServerConfig, ServerHealth } from '../shared/types.ts'
import type { RedactContext } from './types.ts'
import { version } from '../shared/version.ts'
import { secretAuthFields, unknownServerError } from '../shared/wire.gen.ts'

const blank: ServerHealth = { ...untried, status: 'disconnected' }

/** A host that replies from a tape, without a module. */
export class Player {
  /** The page's end of the channel. */
  readonly channel: Channel
  readonly #end: Channel
  readonly #tape: Tape
  readonly #redaction: Redaction<RedactContext>
  readonly #configs = new Map<string, ServerConfig>()
  /** The recorded calls that are not used yet, by tool and arguments. */
  readonly #left = new Map<string, TapedCall[]>()
  #discovered: boolean

  constructor(tape: Tape, redaction: Redaction<RedactContext>, begin: Begin) {
    this.#tape = tape
    this.#redaction = redaction
    this.#discovered = !!begin.discovered
    for (const [name, config] of Object.entries(begin.servers)) this.#configure(name, config)
    for (const call of tape.calls) {
      const key = keyOf(call.tool, call.arguments)
      const same = this.#left.get(key)
      if (same) same.push(call)
      else this.#left.set(key, [call])
    }
    ;[this.channel, this.#end] = channelPair()
    this.#end.onmessage = (m) => this.#receive(m as ToHost)
  }

  #post(m: ToPage): void {
    this.#end.post(m)
  }

  #receive(m: ToHost): void {
    if (!('method' in m)) return
    const { id } = m
    try {
      this.#post({ id, result: this.#perform(m) ?? null })
    } catch (e) {
      this.#post({ id, error: toWire(e) })
    }
  }

  #perform(m: Request): unknown {
    switch (m.method) {
      case 'attach':
        for (const name of this.#configs.keys()) this.#list(name)
        this.#state([...this.#configs.keys()])
        return { version, callTimeoutMs: 120_000 } satisfies Attached
      case 'addServer':
        if (this.#configs.has(m.name))
          throw new RegistryError(
            'invalid_config',
            `server ${m.name}: add: a server of that name exists; remove or update it`,
            { server: m.name },
          )
        return this.#changed(m.name, m.config)
      case 'updateServer':
        return this.#changed(m.name, withoutNulls({ ...this.#known(m.name), ...m.config }))
      case 'setEnabled':
        return this.#changed(m.name, { ...this.#known(m.name), enabled: m.enabled })
      case 'removeServer':
        this.#known(m.name)
        this.#configs.delete(m.name)
        this.#list(m.name)
        return this.#state([m.name])
      case 'renameServer': {
        const config = this.#known(m.name)
        this.#configs.delete(m.name)
        this.#list(m.name)
        this.#state([m.name])
        return this.#changed(m.to, config)
      }
      case 'retry':
      case 'discover': {
        const names = 'name' in m ? [m.name] : m.names ?? [...this.#configs.keys()]
        for (const name of names) this.#known(name)
        this.#discovered = true
        for (const name of names) this.#list(name)
        return this.#state(names)
      }
      case 'call':
        return this.#call(m)
      case 'resources':
      case 'resourceTemplates':
      case 'readResource':
      case 'subscribeResource':
      case 'prompts':
      case 'heldPrompts':
      case 'getPrompt':
      case 'skills':
      case 'askSkill':
      case 'instructions':
      case 'complete':
      case 'logs':
      case 'followLogs':
      case 'readResult':
      case 'waitTask':
        throw new RegistryError('cassette_miss', `${m.method} is not on the cassette`, {
          hint: 'A cassette has lists of tools, and calls.',
        })
    }
  }

  #call({ id, name, args, progress }: Request & { method: 'call' }): unknown {
    const asked = this.#redaction.value(readArguments(args), { tool: name, part: 'arguments' })
    const key = keyOf(name, asked)
    const same = this.#left.get(key)
    const call = same?.shift()
    if (!call) {
      const more = this.#tape.full ? ' The recording ran out of room: raise maxBytes.' : ''
      throw new RegistryError(
        'cassette_miss',
        `${name} with arguments ${shortHash(key)} is ${same ? 'not on the cassette so often' : 'not on the cassette'}`,
        {
          hint: `Record the cassette again, or make the call as it was recorded.${more}`,
        },
      )
    }
    if (progress) { for (const p of call.progress ?? []) this.#post({ id, progress: p }) }
    if (call.error) throw new RegistryError(call.error.code, call.error.message, call.error)
    return call.result
  }

  #known(name: string): ServerConfig {
    const config = this.#configs.get(name)
    if (!config)
      throw new RegistryError(unknownServerError.code, `server ${name}: unknown server`, {
        ...unknownServerError,
        server: name,
      })
    return config
  }

  #configure(name: string, config: ServerConfig): void {
    this.#redaction.learn(config)
    this.#configs.set(name, config)
  }

  #changed(name: string, config: ServerConfig): void {
    this.#configure(name, config)
    this.#list(name)
    this.#state([name])
  }

  #on(name: string): boolean {
    const config = this.#configs.get(name)
    return this.#discovered && !!config && config.enabled !== false
  }

  #tools(name: string): ListedTool[] {
    const { allow, deny } = this.#configs.get(name)?.tools ?? {}
    return (this.#on(name) && this.#tape.servers[name]?.tools || []).map((
      t,
    ) => ((allow && !allow.includes(t.tool)) || deny?.includes(t.tool) ? { ...t, withheld: true } : t))
  }

  #list(name: string): void {
    for (const event of toolsEvents(name, toolParts(this.#tools(name)))) this.#post(event)
  }

  #state(names: string[]): void {
    const servers: StateEvent['servers'] = {}
    for (const name of names)
      servers[name] = this.#configs.has(name)
        ? { ...this.#health(name), config: redacted(this.#configs.get(name)!) }
        : null
    this.#post({ event: 'state', status: this.#discovered ? 'ready' : 'idle', servers })
  }

  #health(name: string): ServerHealth {
    if (this.#configs.get(name)?.enabled === false) return { ...blank, status: 'disabled' }
    if (!this.#on(name)) return blank
    const taped = this.#tape.servers[name]
    if (!taped) {
      return {
        ...blank,
        status: 'error',
        errorCode: 'cassette_miss',
        lastError: `server ${name} is not on the cassette`,
        hint: 'Record the cassette again.',
      }
    }
    const tools = this.#tools(name)
    return { ...blank, ...taped.health, toolTotal: tools.length, toolCount: tools.filter((t) => !t.withheld).length }
  }
}

const keyOf = (tool: string, args: unknown) => `${tool} ${canonical(JSON.stringify(args) ?? 'null')}`

/** A patch sets a field to its default by null. */
const withoutNulls = (config: ServerConfig): ServerConfig =>
  Object.fromEntries(Object.entries(config).filter(([, v]) => v !== null)) as unknown as ServerConfig

const redacted = ({ headers, auth, ...config }: ServerConfig): ServerConfig => ({
  proxy: false,
  enabled: true,
  ...config,
  ...(auth && {
    auth: Object.fromEntries(
      Object.entries(auth).map(([name, v]) => [name, secretAuthFields.includes(name) ? '[redacted]' : v]),
    ),
  }),
  ...(headers && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, '[redacted]'])) }),
})
