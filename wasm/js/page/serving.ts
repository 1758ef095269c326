import { checkChannel } from '../shared/channel.ts'
import { toWire } from '../shared/errors.ts'
import { part } from './parts.ts'
import type { ToHost } from '../shared/protocol.ts'
import type { RegistryImage } from './registry.ts'
import type * as types from '../shared/types.ts'

/** Loads the code that serves a registry. Messages that arrive meanwhile wait. */
export const serveRegistry: typeof types.serveRegistry = (registry, channel) => {
  checkChannel(channel)
  const early: ToHost[] = []
  let stop = () => {
    stopped = true
    channel.onmessage = null
  }
  let stopped = false
  channel.onmessage = (m) => {
    early.push(m as ToHost)
  }
  part('serve', (registry as typeof registry & Partial<Pick<RegistryImage, 'host'>>).host).then(({ serve }) => {
    if (stopped) return
    stop = serve(registry, channel)
    for (const m of early) channel.onmessage?.(m)
  }).catch((e: unknown) => {
    for (const m of early) if ('id' in m) channel.post({ id: m.id, error: toWire(e) })
  })
  return () => stop()
}
