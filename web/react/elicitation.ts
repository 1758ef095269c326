import { createElement, useEffect, useReducer, useRef, useState, type ReactElement } from 'react'
import type { ElicitationAnswer, ElicitationRequest, ElicitationUrlRequest } from '../../wasm/js/shared/types.ts'
import { Queue } from '../panel/questions/queue.ts'
import type { QuestionsElement } from '../panel/questions/element.ts'
import type * as types from './types.ts'

/** The questions of a component while it is mounted, oldest first. */
class MountedQuestions {
  changed = () => {}
  private mounts = 0
  private readonly queue = new Queue<ElicitationRequest | ElicitationUrlRequest, ElicitationAnswer>(
    { action: 'cancel' },
    () => this.changed(),
  )

  /** Somebody can be asked until the returned function is called. */
  begin(): () => void {
    this.mounts++
    return () => {
      this.mounts--
      this.queue.end()
    }
  }

  readonly end = (): void => this.queue.end()

  readonly onElicitation = (request: ElicitationRequest): Promise<ElicitationAnswer> => this.ask(request)

  readonly onElicitationUrl = async (request: ElicitationUrlRequest): Promise<ElicitationAnswer['action']> =>
    /^https?:/i.test(request.url) ? (await this.ask(request)).action : 'decline'

  view(): types.Questions {
    const { first, more } = this.queue
    return {
      onElicitation: this.onElicitation,
      onElicitationUrl: this.onElicitationUrl,
      cancel: this.end,
      current: first,
      more,
    }
  }

  private async ask(request: ElicitationRequest | ElicitationUrlRequest): Promise<ElicitationAnswer> {
    return this.mounts ? this.queue.add(request) : this.queue.none
  }
}

export const useQuestions: typeof types.useQuestions = () => {
  const [waiting] = useState(() => new MountedQuestions())
  const [, render] = useReducer((n: number) => n + 1, 0)
  useEffect(() => {
    waiting.changed = render
    return waiting.begin()
  }, [waiting])
  return waiting.view()
}

export const Elicitation: typeof types.Elicitation = ({ questions, children, ...rest }) => {
  const { current, cancel } = questions
  const mounts = useRef(0)
  useEffect(() => {
    const mount = ++mounts.current
    // StrictMode mounts again at once.
    return () => queueMicrotask(() => mounts.current === mount && cancel())
  }, [cancel])
  if (!children) return createElement(Dialogs, { questions, ...rest })
  return (current ? children(current.request, current.answer) : null) as ReactElement | null
}

/** The panel's dialogs. They are loaded with the first question. */
function Dialogs({ questions, locale, messages, onError }: types.ElicitationProps): ReactElement {
  const { current, more, cancel } = questions
  const element = useRef<QuestionsElement>(null)
  const fails = useRef(onError)
  useEffect(() => {
    fails.current = onError
  })

  useEffect(() => {
    if (!element.current) return
    Object.assign(element.current, { behind: more, messages, ...(locale !== undefined && { locale }) })
  }, [more, messages, locale])

  useEffect(() => {
    if (!current) return
    const { request, answer } = current
    const ends = new AbortController()
    const asked = { ...request, signal: AbortSignal.any([request.signal, ends.signal]) }
    void (async () => {
      await import('../panel/questions/element.ts')
      const dialogs = element.current
      if (!dialogs || ends.signal.aborted) return
      const said = asked.mode === 'url'
        ? { action: await dialogs.elicitUrl(asked as ElicitationUrlRequest) }
        : await dialogs.elicit(asked as ElicitationRequest)
      if (!ends.signal.aborted) answer(said)
    })().catch((e: Error) => {
      if (ends.signal.aborted) return
      cancel()
      fails.current?.(e)
    })
    return () => ends.abort()
  }, [current, cancel])

  return createElement('portolan-questions', { ref: element })
}
