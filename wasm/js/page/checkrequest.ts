import { RegistryError } from '../shared/registry-error.ts'
import type * as types from '../shared/types.ts'

/** The JSON text of a call's arguments. A text stays as it is, so that big integers keep their digits. */
export function argumentText(args: unknown): string {
  if (typeof args === 'string') {
    if (args.trim() === '') return '{}'
    try {
      if (isObject(JSON.parse(args))) return args
    } catch { /* told below */ }
    throw new RegistryError('invalid_arguments', 'the arguments are not the JSON text of an object')
  }
  if (args === undefined || args === null) return '{}'
  if (!isObject(args)) throw new RegistryError('invalid_arguments', 'the arguments are not an object')
  try {
    return JSON.stringify(args)
  } catch (e) {
    throw new RegistryError('invalid_arguments', `the arguments cannot be written as JSON: ${(e as Error).message}`, {
      cause: e,
    })
  }
}

function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === 'object' && v !== null && !Array.isArray(v)
}

export function checkName(name: unknown): void {
  if (typeof name !== 'string') throw new RegistryError('invalid_config', "the server's name is not a string")
}

/** Checks that the URL parses. The module has no URL parser; it checks everything else. */
export function checkConfig(config: Partial<types.ServerConfig>, server: string): void {
  if (!isObject(config)) throw new RegistryError('invalid_config', 'the configuration is not an object', { server })
  const { url } = config
  if (url === undefined) return
  if (typeof url !== 'string' || !URL.canParse(url)) {
    throw new RegistryError('invalid_config', `the url ${JSON.stringify(url)} is not valid`, {
      server,
      hint: 'Give the whole URL of the MCP endpoint, such as https://example.com/mcp.',
    })
  }
}
