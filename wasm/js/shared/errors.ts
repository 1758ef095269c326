import type * as types from './types.ts'

export class RegistryError extends Error implements types.RegistryError {
  override readonly name = 'RegistryError'
  readonly code: string
  readonly server?: string
  readonly status?: number
  readonly hint?: string
  readonly retryable: boolean

  constructor(code: string, message: string, details: types.RegistryErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    this.retryable = details.retryable ?? false
    if (details.server !== undefined) this.server = details.server
    if (details.status !== undefined) this.status = details.status
    if (details.hint !== undefined) this.hint = details.hint
  }
}

/** An error as it travels through a channel. */
export interface WireError {
  code: string
  message: string
  server?: string
  status?: number
  hint?: string
  retryable?: boolean
}

export const fromWire = (e: WireError) => new RegistryError(e.code, e.message, e)

export function toWire(e: unknown): WireError {
  if (e instanceof RegistryError) {
    const { code, message, server, status, hint, retryable } = e
    return { code, message, server, status, hint, retryable }
  }
  return { code: 'internal', message: e instanceof Error ? e.message : String(e) }
}
