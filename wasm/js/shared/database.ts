// How requests to IndexedDB end.

/** The name of an error that a database gives whose connection ended before, or while, it was used. */
export const endOfConnection = /^(InvalidState|Abort|Unknown)Error$/

export function request<T>(r: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    r.onsuccess = () => resolve(r.result)
    r.onerror = () => reject(r.error)
  })
}

/**
 * Resolves once a write is stored. A browser without room ends the transaction after the request has succeeded. A
 * browser that deletes the database may report the request's error only.
 */
export function written(r: IDBRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = r.transaction!
    transaction.oncomplete = () => resolve()
    r.onerror = () => reject(r.error)
    transaction.onabort = () => reject(transaction.error ?? new DOMException('the write was aborted', 'AbortError'))
  })
}
