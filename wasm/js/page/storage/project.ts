// The servers of a project, beside those of the user (the option `project`).

import { checkFields } from '../../shared/fields.ts'
import { isObject } from '../../shared/object.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import type { Scope, ScopeOptions, ServerConfig } from '../../shared/types.ts'
import { mend, type Shape, type Texts } from './repair.ts'
import type { ConfigStore } from './storage.ts'

type Entry = Record<string, unknown>
type Entries = Record<string, Entry>

/**
 * A storage whose servers are those of the user and of a project. Each entry of the project has its `scope`. `project`
 * is for a server of its own, which hides the user's of the same name. `override` is for a server of the user whose
 * `enabled` and `tools` differ in this project. The other keys are those of `under`.
 */
export function projectStorage(
  under: Texts,
  project: string,
  users: Shape,
  warn: (warning: string) => void,
): Texts {
  const own: Shape = {
    ...users,
    key: `portolan.project.${project}`,
    isSound: (entry) => users.isSound(entry) || isObject(entry) && entry['scope'] === 'override',
  }
  /** The project's names that were read. Only those can be removed. */
  let read = new Set<string>()

  const entriesOf = async (shape: Shape): Promise<Entries> => {
    const text = await under.get(shape.key)
    if (!text) return {}
    try {
      const { version = 1, servers } = JSON.parse(String(text)) as { version?: number; servers: Entries }
      if (!(version > 1) && isObject(servers) && Object.values(servers).every(shape.isSound)) return servers as Entries
    } catch { /* damaged */ }
    const { entries, warning } = await mend(under, shape, text)
    warn(warning)
    return entries as Entries
  }
  const textOf = (servers: Entries) => JSON.stringify({ version: 1, servers })

  return {
    async get(key) {
      if (key !== users.key) return under.get(key)
      const servers = await entriesOf(users)
      const project = await entriesOf(own)
      read = new Set(Object.keys(project))
      for (const [name, entry] of Object.entries(project)) {
        const { enabled, tools, scope, url } = entry
        // The server of an override may have been renamed in another project.
        const now = servers[name] ? name : Object.keys(servers).find((n) => !project[n] && servers[n]!['url'] === url)
        if (scope === 'project') servers[name] = entry
        else if (now) servers[now] = { ...servers[now], enabled, tools: tools ?? undefined, scope }
      }
      return textOf(servers)
    },
    async set(key, text) {
      if (key !== users.key) return under.set(key, text)
      const { servers } = JSON.parse(text) as { servers: Entries }
      const user = await entriesOf(users)
      const project = await entriesOf(own)
      let gone: Entry = {}
      for (const name of new Set([...Object.keys(user), ...read])) {
        if (servers[name]) continue
        if (project[name]?.['scope'] !== 'project') {
          gone = user[name] ?? gone
          delete user[name]
        }
        delete project[name]
      }
      for (const [name, entry] of Object.entries(servers)) {
        const { scope, ...config } = entry
        if (scope === 'project') {
          project[name] = entry
          continue
        }
        if (scope === 'override') {
          const { url } = config
          project[name] = { scope, url, enabled: config['enabled'] ?? true, tools: config['tools'] ?? null }
          // A renamed server keeps what it has in other projects.
          const { enabled, tools } = user[name] ?? (gone['url'] === url ? gone : {})
          Object.assign(config, { enabled, tools })
        } else delete project[name]
        user[name] = config
      }
      await under.set(own.key, textOf(project))
      await under.set(key, textOf(user))
    },
  }
}

/**
 * Throws a RegistryError if a server that is at `now`, or a change of these fields, cannot have the scope. Returns
 * whether a new server of the project takes the place of the user's, which stays stored.
 */
export function checkScope(
  server: string,
  options: ScopeOptions,
  fields: string[] | undefined,
  now: Scope | '' | undefined,
): boolean | undefined {
  checkFields('the options', options, 'scope')
  const { scope } = options
  const fail = (message: string, hint: string): never => {
    throw new RegistryError('invalid_config', message, { server, hint })
  }
  if (scope && !now) fail('the registry has no project', 'Create it with the option project.')
  const comes = scope === 'project' && now !== scope
  if (!fields) return comes
  if (scope === 'user' && now === 'project')
    fail(`${server} is a server of the project`, 'Add it with the scope user.')
  const other = comes && fields.find((field) => field !== 'enabled' && field !== 'tools')
  if (other)
    fail(`the ${other} of ${server} is the user's`, 'Change enabled or tools.')
}

/**
 * Notes where a server belongs that is about to be stored. Without a scope, an added server is the user's. A changed
 * or removed one stays where it is. A renamed one brings its scope.
 */
export function place(
  { scopes, servers }: ConfigStore,
  name: string,
  fields: string[] | undefined,
  scope: Scope | undefined,
): void {
  if (scope === 'project' && fields && scopes.get(name) !== scope) scope = 'override'
  if (scope === 'user' || !scope && !fields && servers.has(name)) scopes.delete(name)
  else if (scope) scopes.set(name, scope)
}

/** The user's server that a removed server of the project has hidden. */
export async function uncovered(store: ConfigStore, name: string): Promise<ServerConfig | undefined> {
  const stored = store.servers.has(name) ? undefined : (await store.stored())[name]
  return stored && store.revived(name, stored)
}
