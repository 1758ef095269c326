type Tell = (m: { method: 'online'; online: boolean } | { method: 'wake' }) => void

/**
 * Tells when the network goes and comes and when the user returns to the page,
 * so that paused servers are tried then. Returns the function that ends it.
 */
export function watchPage(tell: Tell): () => void {
  if (typeof addEventListener !== 'function') return () => {}
  const ends = new AbortController()
  const { signal } = ends
  addEventListener('online', () => tell({ method: 'online', online: true }), { signal })
  addEventListener('offline', () => tell({ method: 'online', online: false }), { signal })
  if (typeof document !== 'undefined') {
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) tell({ method: 'wake' })
    }, { signal })
  }
  return () => ends.abort()
}
