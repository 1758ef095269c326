import { isSecretName } from './headers.ts'

/** A URL in which each value of a parameter that looks secret is replaced. */
export function withoutSecrets(url: string, placeholder: (parameter: string) => string): string {
  const [before, ...hash] = url.split('#')
  const shown = before!.replace(
    /([?&])([^=&]{1,100})=([^&]+)/g,
    (whole, mark: string, name: string) => (isSecretName(name) ? `${mark}${name}=${placeholder(name)}` : whole),
  )
  return [shown, ...hash].join('#')
}

/** Names of variables for a server's secrets: GITHUB_AUTHORIZATION; each is given once. */
export function variables(): (server: string, secret: string) => string {
  const taken = new Set<string>()
  return (server, secret) => {
    const words =
      `${server}_${secret}`.normalize('NFKD').toUpperCase().replace(/[^A-Z0-9]+/g, '_').replace(/^_+|_+$/g, '').slice(
        0,
        60,
      ) || 'SECRET'
    const base = /^\d/.test(words) ? '_' + words : words
    let name = base
    for (let n = 2; taken.has(name); n++) name = base + '_' + n
    taken.add(name)
    return name
  }
}
