// Requests to IndexedDB as promises.

/** The name of an error that a database gives whose connection ended before, or while, it was used. */
const endOfConnection = /^(InvalidState|Abort|Unknown)Error$/

/**
 * Does work with a database. Work whose connection has ended is done again, after `forget`: a browser that deletes the
 * database may close the next connection too.
 */
export const retried = <T>(work: () => Promise<T>, forget: () => void, tries = 3): Promise<T> =>
  work().catch((e: Error) => {
    if (!endOfConnection.test(e.name)) throw e
    forget()
    if (tries === 1) throw e
    return retried(work, forget, tries - 1)
  })

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
    transaction.onabort = () => reject(transaction.error ?? r.error)
  })
}
