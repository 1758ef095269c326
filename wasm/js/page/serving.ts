import { invalidOption } from '../shared/fields.ts'
import { checkChannel } from '../shared/channel.ts'
import { toWire } from '../shared/errors.ts'
import { part } from './parts.ts'
import type { Request, ToHost } from '../shared/protocol.ts'
import type { RegistryImage } from './registry.ts'
import type * as types from '../shared/types.ts'

/** Loads the code that serves a registry. Messages that arrive meanwhile wait. */
export const serveRegistry: typeof types.serveRegistry = (registry, channel) => {
  checkChannel(channel)
  if (!registry?.getTools) throw invalidOption('no registry')
  const early: ToHost[] = []
  let stop = () => {
    channel.onmessage = null
  }
  channel.onmessage = (m) => {
    early.push(m as ToHost)
  }
  part('serve', (registry as typeof registry & Partial<Pick<RegistryImage, 'host'>>).host).then(({ serve }) => {
    if (channel.onmessage) stop = serve(registry, channel)
  }, (e: unknown) => {
    if (channel.onmessage) channel.onmessage = (m) => channel.post({ id: (m as Request).id, error: toWire(e) })
  }).then(() => {
    for (const m of early) channel.onmessage?.(m)
  })
  return () => stop()
}
