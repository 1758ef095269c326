import type { Registry } from 'portolan'
import { useCallback, useRef, useState } from 'react'
import { converse, type Entry, type Show } from './conversation'
import type { Message, Model } from './model'

export interface Chat {
  entries: Entry[]
  running: boolean
  send(text: string): Promise<void>
  cancel(): void
  clear(): void
}

/** A conversation of a model and a registry's tools. */
export function useChat(model: Model, registry: Registry | undefined): Chat {
  const [entries, setEntries] = useState<Entry[]>([])
  const [running, setRunning] = useState<AbortController>()
  const messages = useRef<Message[]>([])
  const last = useRef(0)

  const send = useCallback(async (text: string) => {
    if (!registry) return
    const put: Show['put'] = (entry) =>
      setEntries((all) =>
        all.some((e) => e.id === entry.id) ? all.map((e) => e.id === entry.id ? entry : e) : [...all, entry]
      )
    const nextId = () => ++last.current
    const controller = new AbortController()
    setRunning(controller)
    put({ kind: 'user', id: nextId(), text })
    messages.current.push({ role: 'user', content: text })
    try {
      await converse(model, registry, messages.current, { put, nextId }, controller.signal)
    } catch (e) {
      const { aborted } = controller.signal
      put({ kind: aborted ? 'notice' : 'fault', id: nextId(), text: aborted ? 'Cancelled.' : (e as Error).message })
    } finally {
      setRunning(undefined)
    }
  }, [model, registry])

  const clear = () => {
    messages.current = []
    setEntries([])
  }
  return { entries, running: !!running, send, cancel: () => running?.abort(), clear }
}
