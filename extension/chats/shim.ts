/**
 * Runs in the page's own world, in tabs that a run drives. A hidden page gets no animation frames, so sites that paint
 * with them stay empty. This script gives frames at the driver's ticks. Without ticks it changes nothing.
 */
;(() => {
  const loaded = Symbol.for('portolan-shim')
  const page = window as unknown as Record<symbol, boolean>
  if (page[loaded]) return
  page[loaded] = true

  const lasts = 2000
  let ticked = -Infinity
  let number = -1
  const waiting = new Map<number, FrameRequestCallback>()
  const native = (name: 'hidden' | 'visibilityState') => Object.getOwnPropertyDescriptor(Document.prototype, name)!.get!
  const hidden = native('hidden')
  const request = window.requestAnimationFrame.bind(window)
  const cancel = window.cancelAnimationFrame.bind(window)
  const helps = () => hidden.call(document) as boolean && performance.now() - ticked < lasts

  for (const [name, shown] of [['hidden', false], ['visibilityState', 'visible']] as const) {
    const get = native(name)
    Object.defineProperty(Document.prototype, name, {
      configurable: true,
      get() {
        return helps() ? shown : get.call(this) as unknown
      },
    })
  }
  window.requestAnimationFrame = (callback) => {
    // The browser gets the request too. The first of the two calls the callback, once.
    const own = number--
    waiting.set(own, callback)
    request((time) => {
      if (waiting.delete(own)) callback(time)
    })
    return own
  }
  window.cancelAnimationFrame = (handle) => {
    if (!waiting.delete(handle)) cancel(handle)
  }
  document.addEventListener('portolan-tick', () => {
    ticked = performance.now()
    if (!helps()) return
    for (const [own, callback] of [...waiting]) {
      waiting.delete(own)
      try {
        callback(ticked)
      } catch (e) {
        reportError(e)
      }
    }
  })
})()
