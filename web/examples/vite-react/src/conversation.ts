import type { Registry } from 'portolan'
import { complete, type Message, type Model, type ToolCall } from './model'

/** A tool call as it is shown. */
export interface Call {
  id: string
  tool: string
  args: string
  state: 'running' | 'ok' | 'error' | 'cancelled'
  progress?: string
  result?: string
  durationMs?: number
}

/** The visible part of a conversation, in order. */
export type Entry =
  | { kind: 'user' | 'assistant' | 'notice' | 'fault'; id: number; text: string }
  | { kind: 'calls'; id: number; calls: Call[] }

export interface Show {
  /** Adds an entry, or puts it in the place of the one with its id. */
  put(entry: Entry): void
  nextId(): number
}

/** The number of times that a model may ask for tools before it has to be asked again. */
export const maxRounds = 8

/**
 * Lets the model answer, calling the tools that it asks for, and adds to `messages`
 * what was said. They can be sent again afterwards, however it has ended.
 */
export async function converse(
  model: Model,
  registry: Registry,
  messages: Message[],
  show: Show,
  signal: AbortSignal,
): Promise<void> {
  for (let round = 0; round < maxRounds; round++) {
    const id = show.nextId()
    const answer = await complete(model, {
      messages,
      signal,
      tools: registry.getTools(), // those of this moment: servers come and go
      onText: (text) => {
        if (text) show.put({ kind: 'assistant', id, text })
      },
    })
    messages.push(answer)
    if (!answer.tool_calls) return
    messages.push(...await callAll(registry, answer.tool_calls, show, signal))
    signal.throwIfAborted()
  }
  show.put({
    kind: 'notice',
    id: show.nextId(),
    text: `Stopped after ${maxRounds} rounds of tool calls. Send another message to go on.`,
  })
}

/** Calls the tools side by side; each has an answer for the model, if only what went wrong. */
function callAll(registry: Registry, toolCalls: ToolCall[], show: Show, signal: AbortSignal): Promise<Message[]> {
  const calls: Call[] = toolCalls.map(({ id, function: { name, arguments: args } }) => ({
    id,
    tool: name,
    args,
    state: 'running',
  }))
  const id = show.nextId()
  const update = (i: number, change: Partial<Call>) => {
    calls[i] = { ...calls[i]!, ...change }
    show.put({ kind: 'calls', id, calls: [...calls] })
  }
  show.put({ kind: 'calls', id, calls: [...calls] })
  return Promise.all(
    toolCalls.map(async ({ id: tool_call_id, function: { name, arguments: args } }, i): Promise<Message> => {
      const begun = performance.now()
      let content: string
      try {
        const { text, isError, durationMs } = await registry.call(name, args || '{}', {
          signal,
          onProgress: ({ progress, total, message }) =>
            update(i, { progress: message ?? (total ? `${progress} of ${total}` : String(progress)) }),
        })
        update(i, { state: isError ? 'error' : 'ok', result: text, durationMs })
        content = text
      } catch (e) {
        const { message } = e as Error
        content = `Error: ${message}`
        update(i, {
          state: signal.aborted ? 'cancelled' : 'error',
          result: signal.aborted ? 'Cancelled' : message,
          durationMs: performance.now() - begun,
        })
      }
      return { role: 'tool', tool_call_id, content }
    }),
  )
}
