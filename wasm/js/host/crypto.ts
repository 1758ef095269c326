import { ignore } from '../shared/download.ts'
import { openVault, type Vault } from '../shared/vault.ts'

// Cryptography, locks and a store of secrets, for the sign-in of registry/oauth. Binary values are base64url texts.

const es256 = { name: 'ECDSA', namedCurve: 'P-256' }
const rs256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

/** The JavaScript side of registry/client/browser/crypto.go. */
export class CryptoStore {
  readonly #made = new Map<string, CryptoKeyPair>()
  readonly #locks = new Map<number, { held: Promise<unknown>; free(): void }>()
  /** Texts that could not be stored. They hold in this run. */
  readonly #unsaved = new Map<string, string>()
  #last = 0
  #vault: Promise<Vault> | undefined

  /** Runs a method by its name. `done` gets the resulting text and the error text. */
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

  /** Makes a key that no script can read. Returns its name and, on a second line, its public JWK. */
  async makeKey(): Promise<string> {
    const pair = await crypto.subtle.generateKey(es256, false, ['sign'])
    const name = `dpop ${this.random()}`
    this.#made.set(name, pair)
    await this.#vault?.then((v) => v.setKey(name, pair)).catch(ignore) // a key that is not stored holds in this run
    const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
    return `${name}\n${JSON.stringify({ kty, crv, x, y })}`
  }

  /** Signs with `key`: a name from makeKey, a PKCS#8 key in PEM, or a JWK. */
  async jwt(key: string, alg: string, header: string, claims: string): Promise<string> {
    const text = `${encode(bytes(header))}.${encode(bytes(claims))}`
    const pair = this.#made.get(key) ?? (key.startsWith('dpop ') ? await (await this.#vault)?.key(key) : undefined)
    const own = pair?.privateKey ?? await imported(key, alg === 'RS256' ? rs256 : es256)
    return `${text}.${
      encode(await crypto.subtle.sign(alg === 'RS256' ? rs256 : { name: 'ECDSA', hash: 'SHA-256' }, own, bytes(text)))
    }`
  }

  async load(key: string): Promise<string> {
    return this.#unsaved.get(key) ?? (await this.#open()).text(key)
  }

  async save(key: string, text: string): Promise<void> {
    this.#unsaved.set(key, text)
    await (await this.#open()).setText(key, text)
    if (this.#unsaved.get(key) === text) this.#unsaved.delete(key)
  }

  #open(): Promise<Vault> {
    const vault = this.#vault ??= openVault()
    vault.catch(() => this.#vault = undefined) // the next one tries again
    return vault
  }

  /** Requests a lock that all tabs share. `held` waits for it. `unlock` releases it or withdraws the request. */
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
    held.catch(() => {}) // `held` reports the error
    this.#locks.set(id, { held, free: () => free() })
    return id
  }

  /** Releases all locks: the module has ended, and may have crashed meanwhile. */
  end(): void {
    for (const id of [...this.#locks.keys()]) this.unlock(id)
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
