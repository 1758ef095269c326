// Which versions of apps a person has seen or approved, by the server's endpoint and the app's URI.

const key = 'portolan.apps'

/** Apps that are remembered. The oldest are forgotten, and count as new again. */
const most = 500

let memory: [name: string, digest: string][] = []

function read(): typeof memory {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    if (Array.isArray(stored)) memory = stored.filter((e) => Array.isArray(e) && e.length === 2) as typeof memory
  } catch { /* no storage, or a damaged one: this page's own memory counts */ }
  return memory
}

/** The digest of the version that was approved, or undefined for an app that is new. */
export const seen = (endpoint: string, uri: string): string | undefined =>
  read().find(([name]) => name === `${endpoint} ${uri}`)?.[1]

export function approve(endpoint: string, uri: string, digest: string): void {
  const name = `${endpoint} ${uri}`
  memory = [...read().filter(([other]) => other !== name), [name, digest] as [string, string]].slice(-most)
  try {
    localStorage.setItem(key, JSON.stringify(memory))
  } catch { /* as above */ }
}
