/** The types of the Trusted Types API that the DOM's types lack. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown }
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined
let own = ''

/**
 * A trusted URL of this package's own scripts. The policy `portolan` trusts no other. Throws without that API.
 */
export function trustedUrl(url: string): unknown {
  own = url
  policy ??= (globalThis as never as { trustedTypes: TrustedTypes }).trustedTypes.createPolicy('portolan', {
    createScriptURL: () => own,
  })
  return policy.createScriptURL(url)
}
