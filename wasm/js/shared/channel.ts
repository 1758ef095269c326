import { invalidOption } from './fields.ts'
import type * as types from './types.ts'
import { worked } from './yield.ts'

/** A longer part of a list is a task of its own for the page, in characters. */
const longPart = 64 << 10

/** Refuses what is no channel, such as a port that was not wrapped. */
export function checkChannel(channel: types.Channel): void {
  if (!channel?.post) throw invalidOption('use portChannel()')
}

/** The messages of one turn go through the port as one array. */
export const portChannel: typeof types.portChannel = (port) => {
  if (!port?.postMessage) throw invalidOption('use a MessagePort or Worker')
  const listener = ({ data }: MessageEvent) => {
    for (const message of [data].flat()) channel.onmessage?.(message)
  }
  const batch: unknown[] = []
  const flush = () => {
    if (batch.length) port.postMessage(batch.splice(0))
  }
  const channel: types.Channel = {
    onmessage: null,
    post(message) {
      if (batch.push(message) === 1) queueMicrotask(flush)
      if (((message as { text?: string } | null)?.text ?? '').length > longPart) flush()
    },
    close() {
      flush()
      port.removeEventListener('message', listener)
      if (port.terminate) port.terminate()
      else port.close?.()
    },
  }
  port.addEventListener('message', listener)
  port.start?.()
  return channel
}

/** A channel. With `shares`, messages arrive as the posted objects, without a copy. */
export interface SharingChannel extends types.Channel {
  shares?: boolean
}

/**
 * The two ends of a channel in one realm. Messages arrive in later microtasks, without a copy. After a few ms of their
 * work, other tasks run first.
 */
export function channelPair(): [SharingChannel, SharingChannel] {
  const make = (other: () => types.Channel): SharingChannel => {
    let open = true
    const queue: unknown[] = []
    const next = () => {
      const began = performance.now()
      try {
        if (open) other().onmessage?.(queue[0])
      } finally {
        queue.shift()
        if (queue.length) (worked(began) ?? Promise.resolve()).then(next)
      }
    }
    return {
      shares: true,
      onmessage: null,
      post: (message) => {
        if (queue.push(message) === 1) queueMicrotask(next)
      },
      close: () => {
        open = false
      },
    }
  }
  const a = make(() => b)
  const b: SharingChannel = make(() => a)
  return [a, b]
}
