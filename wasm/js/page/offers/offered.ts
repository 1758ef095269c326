import { opened } from '../../shared/answer.ts'
import { isObject } from '../../shared/object.ts'
import { originOf } from '../../shared/origin.ts'
import type { Called } from '../../shared/protocol.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import type * as types from '../../shared/types.ts'

// The code that the parts for resources, prompts and skills share.

export function checkText(what: string, value: unknown): void {
  if (typeof value !== 'string') throw new RegistryError('invalid_option', `${what} is not a text`)
}

export const arrayOf = (v: unknown): unknown[] => Array.isArray(v) ? v : []

/** The origin of a server in a registry. */
export const originAt = ({ snapshot }: { snapshot(): types.Snapshot }, server: string): string =>
  originOf(snapshot().servers[server]?.config.url ?? '')

export function valueOf(answer: Called): Record<string, unknown> {
  try {
    const { value } = opened(answer)
    return isObject(value) ? value : {}
  } catch (cause) {
    throw new RegistryError('protocol', 'the response is not JSON', { server: answer.server, cause })
  }
}

export const isContents = (c: unknown): c is types.ResourceContents =>
  isObject(c) && typeof c['uri'] === 'string' && (typeof c['text'] === 'string' || typeof c['blob'] === 'string')
