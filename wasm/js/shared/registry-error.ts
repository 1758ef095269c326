import type * as types from './types.ts'

/** The error of every failed operation. All files of the package import this one class. */
export class RegistryError extends Error implements types.RegistryError {
  override readonly name = 'RegistryError'
  readonly code: types.ErrorCode
  readonly server?: string
  readonly status?: number
  readonly hint?: string
  readonly retryable: boolean
  readonly rpc?: { code: number; data?: unknown }

  constructor(code: types.ErrorCode, message: string, details: types.RegistryErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    const { retryable = false, server, status, hint, rpc } = details
    this.code = code
    this.retryable = retryable
    Object.assign(this, { server, status, hint, rpc })
  }
}
