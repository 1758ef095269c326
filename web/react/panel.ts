import { createElement, forwardRef, useEffect, useImperativeHandle, useRef, useState } from 'react'
import type { PanelMessages, PortolanPanel as PanelElement } from '../panel/types.ts'
import type * as types from './types.ts'

// React 18 gives a `ref` to no other function, and makes no `class` of an element's `className`.
export const PortolanPanel = forwardRef<PanelElement, Omit<types.PortolanPanelProps, 'ref'>>((
  { registry, locale, messages, view, catalogue, budget, onView, onBudget, onError, className, ...rest },
  ref,
) => {
  const element = useRef<PanelElement>(null)
  const [loaded, setLoaded] = useState(false)
  useImperativeHandle(ref, () => element.current!, [])

  // The latest handlers, so that new ones do not have to be registered.
  const handlers = useRef({ onView, onBudget, onError })
  useEffect(() => {
    handlers.current = { onView, onBudget, onError }
  })

  useEffect(() => {
    let gone = false
    import('../panel/index.ts').then(
      () => {
        if (!gone) setLoaded(true)
      },
      (e: Error) => {
        if (!gone) handlers.current.onError?.(e)
      },
    )
    const panel = element.current!
    const ends = new AbortController()
    const { signal } = ends
    panel.addEventListener('portolan-view', (e) => handlers.current.onView?.(e.detail.view), { signal })
    panel.addEventListener('portolan-budget', (e) => handlers.current.onBudget?.(e.detail.budget), { signal })
    panel.addEventListener('portolan-error', (e) => handlers.current.onError?.(e.detail.error), { signal })
    return () => {
      gone = true
      ends.abort()
    }
  }, [])

  // Properties are set when the element knows them; one that is not given stays as the panel has it.
  useEffect(() => {
    if (!loaded) return
    const given = {
      registry: registry ?? undefined,
      locale,
      messages: messages as PanelMessages | undefined,
      view,
      catalogue,
      budget,
    }
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined || name === 'registry') Object.assign(element.current!, { [name]: value })
    }
  }, [loaded, registry, locale, messages, view, catalogue, budget])

  return createElement('portolan-panel', {
    ...rest,
    ...(className && { class: className }),
    suppressHydrationWarning: true, // the panel may have set its attribute `view` already
    ref: element,
  })
}) as typeof types.PortolanPanel
