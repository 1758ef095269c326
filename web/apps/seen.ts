// Which versions of apps a person has seen or approved. The name of an app is its server's endpoint, and its URI.

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
export const seen = (app: string): string | undefined => read().find(([name]) => name === app)?.[1]

export function approve(name: string, digest: string): void {
  memory = [...read().filter(([other]) => other !== name), [name, digest] as [string, string]].slice(-most)
  try {
    localStorage.setItem(key, JSON.stringify(memory))
  } catch { /* as above */ }
}
