interface Rules {
  createHTML(html: string): unknown
  createScriptURL(url: string): unknown
}

let policy: Rules | undefined
let own = ''

/**
 * A trusted text of this package's own: the URL of one of its scripts, or the document of a frame. The policy
 * `portolan` trusts no other. Throws without the API of Trusted Types, which the DOM's types lack.
 */
export function trusted(kind: keyof Rules, text: string): string {
  own = text
  policy ??= (globalThis as never as { trustedTypes: { createPolicy(name: string, rules: Rules): Rules } })
    .trustedTypes.createPolicy('portolan', { createHTML: () => own, createScriptURL: () => own })
  return policy[kind](text) as string
}
