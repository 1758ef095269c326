/** What the DOM's types lack of Trusted Types. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown }
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined
let own = ''

/**
 * A URL of the package's own, where scripts demand Trusted Types; the policy `portolan` trusts no other. Throws where
 * there are none.
 */
export function trustedUrl(url: string): unknown {
  own = url
  policy ??= (globalThis as never as { trustedTypes: TrustedTypes }).trustedTypes.createPolicy('portolan', {
    createScriptURL: () => own,
  })
  return policy.createScriptURL(url)
}
