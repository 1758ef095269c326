import type { ErrorCode, RegistryErrorDetails } from './types.ts'
import { RegistryError } from './registry-error.ts'

/** An error in a message of a channel. */
export interface WireError extends Omit<RegistryErrorDetails, 'cause'> {
  code: ErrorCode
  message: string
}

export const fromWire = (e: WireError) => new RegistryError(e.code, e.message, e)

export function toWire(e: unknown): WireError {
  if (e instanceof RegistryError) {
    const { code, message, server, status, hint, retryable, rpc } = e
    return { code, message, server, status, hint, retryable, rpc }
  }
  return { code: 'internal', message: e instanceof Error ? e.message : String(e) }
}
