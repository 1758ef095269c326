// The code that the adapters share.

import type { DispatchOptions, MediaOptions, ToolFilter, ToolResult, View } from '../../wasm/js/shared/types.ts'

/** A registry or a view of one. */
export type ToolSource = Pick<View, 'getTools' | 'call' | 'toMessage'>

/** The registry or the view that an adapter was given. Throws a TypeError for another thing, such as a promise. */
export function given<S>(source: S, method: 'getTools' | 'toolsFor' | 'call' = 'getTools'): S {
  if (typeof (source as Partial<View> | undefined)?.[method] === 'function') return source
  throw new TypeError('the first argument is no registry and no view: pass the one that createRegistry() resolved to')
}

/** Splits an adapter's options: which tools there are, and which parts of results a model gets. */
export function split(options: ToolFilter & MediaOptions = {}): [ToolFilter, MediaOptions] {
  const { modalities, maxImageBytes, ...filter } = options
  return [filter, { ...(modalities && { modalities }), ...(maxImageBytes !== undefined && { maxImageBytes }) }]
}

/** Calls a tool. A failure becomes a result with `isError`. Only the end of the signal rejects. */
export async function resultOf(
  source: Pick<ToolSource, 'call'>,
  name: string,
  args: Record<string, unknown> | string,
  options: Pick<DispatchOptions, 'signal' | 'callId'>,
): Promise<ToolResult> {
  const began = performance.now()
  try {
    return await source.call(name, args, options)
  } catch (e) {
    if (options.signal?.aborted) throw e
    const { code, message = String(e), hint = '' } = e as { code?: string; message?: string; hint?: string }
    const text = `Error: ${code ? `${code}: ` : ''}${message} ${hint}`.trim()
    const server = 'portolan'
    return {
      text,
      content: [{ type: 'text', text }],
      isError: true,
      server,
      tool: name,
      durationMs: performance.now() - began,
      provenance: { server, tool: name, origin: '', untrusted: true },
    }
  }
}

/** The arguments of a call as an object. The APIs refuse all others. */
export function argumentsOf(args: Record<string, unknown> | string): Record<string, unknown> {
  if (typeof args !== 'string') return args
  try {
    const value = JSON.parse(args) as unknown
    if (value && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  } catch { /* as below */ }
  return {} // the model's own mistake, which its tool has named
}

/** An id or a name in the characters that the APIs take: models make up names such as `multi_tool_use.parallel`. */
export const legal = (name: string): string => name.replace(/[^\w-]/g, (c) => `_${c.charCodeAt(0).toString(16)}`)
