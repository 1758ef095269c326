/**
 * Runs in the page's own world, in tabs that a run drives. A hidden page gets no
 * animation frames, so that sites which paint with them stay empty: while the
 * driver ticks, they get theirs from its ticks. Without ticks nothing is changed.
 */
;(() => {
  const mark = Symbol.for('portolan-shim')
  const page = window as unknown as Record<symbol, boolean>
  if (page[mark]) return
  page[mark] = true

  const lasts = 2000
  let ticked = -Infinity
  let number = -1
  const waiting = new Map<number, FrameRequestCallback>()
  const hidden = Object.getOwnPropertyDescriptor(Document.prototype, 'hidden')!.get!
  const state = Object.getOwnPropertyDescriptor(Document.prototype, 'visibilityState')!.get!
  const request = window.requestAnimationFrame.bind(window)
  const cancel = window.cancelAnimationFrame.bind(window)
  const helps = () => hidden.call(document) as boolean && performance.now() - ticked < lasts

  Object.defineProperty(Document.prototype, 'hidden', {
    configurable: true,
    get() {
      return helps() ? false : hidden.call(this) as boolean
    },
  })
  Object.defineProperty(Document.prototype, 'visibilityState', {
    configurable: true,
    get() {
      return helps() ? 'visible' : state.call(this) as string
    },
  })
  window.requestAnimationFrame = (callback) => {
    // Asked natively too: whichever comes first, once.
    const mine = number--
    waiting.set(mine, callback)
    request((time) => {
      if (waiting.delete(mine)) callback(time)
    })
    return mine
  }
  window.cancelAnimationFrame = (handle) => {
    if (!waiting.delete(handle)) cancel(handle)
  }
  document.addEventListener('portolan-tick', () => {
    ticked = performance.now()
    if (!helps()) return
    for (const [mine, callback] of [...waiting]) {
      waiting.delete(mine)
      try {
        callback(ticked)
      } catch (e) {
        reportError(e)
      }
    }
  })
})()
