import type * as types from './types.ts'

/** The messages of one turn go through the port as one array. */
export const portChannel: typeof types.portChannel = (port) => {
  const listener = ({ data }: MessageEvent) => {
    for (const message of [data].flat()) channel.onmessage?.(message)
  }
  const batch: unknown[] = [], transfers: Transferable[] = []
  const flush = () => {
    if (batch.length) port.postMessage(batch.splice(0), transfers.splice(0))
  }
  const channel: types.Channel = {
    onmessage: null,
    post(message, transfer = []) {
      if (batch.push(message) === 1) queueMicrotask(flush)
      transfers.push(...transfer)
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

/** The two ends of a channel in one realm. Messages arrive in a later microtask, without a copy. */
export function channelPair(): [SharingChannel, SharingChannel] {
  const make = (other: () => types.Channel): SharingChannel => {
    let open = true
    return {
      shares: true,
      onmessage: null,
      post: (message) =>
        queueMicrotask(() => {
          if (open) other().onmessage?.(message)
        }),
      close: () => {
        open = false
      },
    }
  }
  const a = make(() => b)
  const b: SharingChannel = make(() => a)
  return [a, b]
}
