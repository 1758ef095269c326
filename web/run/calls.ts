import type { RegistryError, ToolProgress, ToolResult } from '../../wasm/js/shared/types.ts'
import type { RoleTool } from './tools.ts'
import type { RunMetrics, RunOptions } from './types.ts'

/** Further tries of a call that changes nothing. */
const retries = 2
/** The pause before the first of them, in ms; each further one is four times as long. */
const pause = 250

/** The caller of the tools of one run. */
export type Calls = ReturnType<typeof callsOf>

export function callsOf({ registry, view }: RunOptions, metrics: RunMetrics, signal: AbortSignal) {
  return {
    /** Calls a tool with the arguments that it has parameters for. A failure that may pass is tried again. */
    async call(
      tool: RoleTool,
      args: Record<string, unknown>,
      onProgress?: (progress: ToolProgress) => void,
    ): Promise<ToolResult> {
      const { name, parameters, readOnly } = tool
      const known = Object.entries(args).filter(([key]) => !parameters.length || parameters.includes(key))
      const given = Object.fromEntries(known)
      const options = {
        signal,
        onProgress: onProgress && ((p: ToolProgress) => !p.retry && onProgress(p)),
        attempts: 1,
      }
      for (let tried = 0;; tried++) {
        signal.throwIfAborted()
        metrics.toolCalls++
        try {
          return await (view ?? registry!).call(name, given, options)
        } catch (e) {
          if (signal.aborted || tried >= retries || !readOnly || !(e as RegistryError).retryable) throw e
          metrics.retries++
          const ms = pause * 4 ** tried * (0.75 + Math.random() / 2)
          await new Promise((resolve) => setTimeout(resolve, ms))
        }
      }
    },

    /** Calls the first of the tools that the server knows. */
    async search(
      [tool, ...others]: readonly RoleTool[],
      args: Record<string, unknown>,
      onProgress: (progress: ToolProgress) => void,
    ): Promise<ToolResult> {
      try {
        const result = await this.call(tool!, args, onProgress)
        if (!others.length || !result.isError || !isUnknown(result.text)) return result
      } catch (e) {
        const { code, rpc, message } = e as RegistryError
        if (!others.length || !(code === 'unknown_tool' || (rpc && (rpc.code === -32601 || isUnknown(message)))))
          throw e
      }
      return this.search(others, args, onProgress)
    },
  }
}

/** Whether a server says that it lacks a tool. SDKs differ in how they say it. */
const isUnknown = (text: string) => /\b(?:unknown tool|(?:tool|method)\b.{0,100}\bnot found)/is.test(text.slice(0, 500))
