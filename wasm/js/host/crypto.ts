import { openVault, type Vault } from '../shared/vault.ts'

// What signing in needs of JavaScript: cryptography, locks
// and a memory for secrets. Binary values travel in base64url.

const es256 = { name: 'ECDSA', namedCurve: 'P-256' }
const rs256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

/** The other side of notary_js.go. */
export class CryptoStore {
  readonly #made = new Map<string, CryptoKeyPair>()
  readonly #locks = new Map<number, { held: Promise<unknown>; free(): void }>()
  #last = 0
  #vault: Promise<Vault> | undefined

  /** Calls what the last but one argument names, and tells the last how it ended: a text, and what went wrong. */
  run(...args: unknown[]): void {
    const [method, ended] = args.splice(-2) as [
      'hash' | 'makeKey' | 'jwt' | 'load' | 'save' | 'held',
      (text: string, wrong: string) => void,
    ]
    const work: (...args: never[]) => Promise<string | void> = this[method]
    work.apply(this, args as never[]).then((text) => ended(text ?? '', ''), (e: unknown) => ended('', String(e)))
  }

  async hash(text: string): Promise<string> {
    return encode(await crypto.subtle.digest('SHA-256', bytes(text)))
  }

  random(): string {
    return encode(crypto.getRandomValues(new Uint8Array(32)))
  }

  /** Makes a key that stays in the browser; the result is its name and, on another line, its public JWK. */
  async makeKey(): Promise<string> {
    const pair = await crypto.subtle.generateKey(es256, false, ['sign'])
    const name = `dpop ${this.random()}`
    this.#made.set(name, pair)
    await (await this.#vault)?.setKey(name, pair)
    const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
    return `${name}\n${JSON.stringify({ kty, crv, x, y })}`
  }

  /** `key` is a name of makeKey, or a PKCS#8 key in PEM, or a JWK. */
  async jwt(key: string, alg: string, header: string, claims: string): Promise<string> {
    const text = `${encode(bytes(header))}.${encode(bytes(claims))}`
    const pair = this.#made.get(key) ?? (key.startsWith('dpop ') ? await (await this.#vault)?.key(key) : undefined)
    const own = pair?.privateKey ?? await imported(key, alg === 'RS256' ? rs256 : es256)
    return `${text}.${
      encode(await crypto.subtle.sign(alg === 'RS256' ? rs256 : { name: 'ECDSA', hash: 'SHA-256' }, own, bytes(text)))
    }`
  }

  async load(key: string): Promise<string> {
    return (await (this.#vault ??= openVault())).text(key)
  }

  async save(key: string, text: string): Promise<void> {
    return (await (this.#vault ??= openVault())).setText(key, text)
  }

  /** Asks for a lock that all tabs share; `held` waits for it, `unlock` gives it back or up. */
  want(name: string): number {
    const id = ++this.#last
    const waits = new AbortController()
    let free = () => waits.abort()
    const held = new Promise<void>((resolve, reject) => {
      navigator.locks.request(`portolan ${name}`, { signal: waits.signal }, () =>
        new Promise<void>((release) => {
          free = release
          resolve()
        })).catch(reject)
    })
    held.catch(() => {}) // callers get the error
    this.#locks.set(id, { held, free: () => free() })
    return id
  }

  async held(id: number): Promise<void> {
    await this.#locks.get(id)?.held
  }

  unlock(id: number): void {
    this.#locks.get(id)?.free()
    this.#locks.delete(id)
  }
}

const bytes = (text: string) => new TextEncoder().encode(text)

const encode = (data: ArrayBuffer | Uint8Array): string =>
  btoa(String.fromCharCode(...new Uint8Array(data))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')

function imported(key: string, algorithm: EcKeyImportParams | RsaHashedImportParams): Promise<CryptoKey> {
  if (key.trim().startsWith('{'))
    return crypto.subtle.importKey(
      'jwk',
      { ...JSON.parse(key), key_ops: ['sign'], use: undefined, alg: undefined },
      algorithm,
      false,
      ['sign'],
    )
  const der = Uint8Array.from(atob(key.replace(/-----[^-]*-----|\s/g, '')), (c) => c.charCodeAt(0))
  return crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign'])
}
