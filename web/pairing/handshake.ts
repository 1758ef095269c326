/** The browser's side of bridge/handshake/doc.go: pairing once, and the proof on every connection. */
import { digest, mac, macIs, macKey, utf8, type Bytes } from './crypto.ts'

const size = 32
const random = (): Bytes => crypto.getRandomValues(new Uint8Array(size))

/** Encodes as base64url without padding. */
export function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function decode(m: Message, field: string): Bytes {
  const text = m[field]
  try {
    if (typeof text !== 'string' || !/^[\w-]*$/.test(text)) throw new TypeError('not base64url')
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
  } catch {
    throw new Refusal('BAD_MESSAGE', `the bridge's ${field} cannot be read`)
  }
}

/** Joins a label and fields, each with its length (32 bits, big endian), so that no two lists look the same. */
export function joined(label: string, ...fields: (Uint8Array | string)[]): Bytes {
  const parts = [label, ...fields].map((f) => (typeof f === 'string' ? utf8(f) : f))
  const out = new Uint8Array(parts.reduce((n, p) => n + 4 + p.length, 0))
  const view = new DataView(out.buffer)
  let at = 0
  for (const part of parts) {
    view.setUint32(at, part.length)
    out.set(part, at + 4)
    at += 4 + part.length
  }
  return out
}

/** Carries the messages of one handshake. `receive` rejects when the bridge is gone. */
export interface Pipe {
  send(text: string): void
  receive(): Promise<string>
}

/** This browser profile, and the bridge's address. */
export interface Profile {
  installId: string
  label: string
  origin: string
  address: string
}

/** A handshake that failed. `remote`: the bridge refused. */
export class Refusal extends Error {
  readonly code: string
  readonly remote: boolean
  constructor(code: string, message: string, remote = false) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.remote = remote
  }
}

const longest = 4096

interface Message {
  type: string
  [field: string]: unknown
}

const send = (pipe: Pipe, message: Message) => pipe.send(JSON.stringify(message))

async function receive(pipe: Pipe, want: string): Promise<Message> {
  const text = await pipe.receive()
  let m: Message | undefined
  try {
    if (text.length <= longest) m = JSON.parse(text) as Message
  } catch { /* reported below, without the text */ }
  if (m?.type === 'refused') throw new Refusal(printable(m.code, 32), printable(m.message, 300), true)
  if (m?.type !== want) throw new Refusal('BAD_MESSAGE', 'the program there does not speak as a Portolan bridge does')
  return m
}

const printable = (text: unknown, limit: number) =>
  String(text).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '').slice(0, limit)

/** Runs a handshake, and tells the bridge when this side refuses. */
async function handshake<T>(pipe: Pipe, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (e) {
    if (e instanceof Refusal && !e.remote) send(pipe, { type: 'refused', code: e.code, message: e.message })
    throw e
  }
}

/** Proves the key both ways. The bridge proves it first. */
export function connect(pipe: Pipe, { installId, address, origin }: Profile, key: CryptoKey): Promise<void> {
  return handshake(pipe, async () => {
    const nonce = random()
    send(pipe, { type: 'hello', version: 1, role: 'extension', installId, address, nonce: encode(nonce) })
    const m = await receive(pipe, 'challenge')
    const theirs = decode(m, 'nonce')
    const proofOf = (side: string) =>
      joined(`portolan-connect-1 ${side}`, 'extension', origin, address, installId, nonce, theirs)
    if (
      theirs.length !== size || encode(theirs) === encode(nonce) ||
      !await macIs(key, proofOf('bridge'), decode(m, 'mac'))
    ) throw new Refusal('BAD_PROOF', `the program on ${address} does not hold the key: it is not the paired bridge`)
    send(pipe, { type: 'proof', mac: encode(await mac(key, proofOf('client'))) })
    await receive(pipe, 'ready')
  })
}

/** The user's part of a pairing. */
export interface PairingUser {
  /** Resolves to the six digits that the terminal shows. Rejects when the user gives up. */
  digits(): Promise<string>
  /** The digits were right. The bridge waits for a yes in the terminal. */
  confirmed(): void
}

const curve = { name: 'ECDH', namedCurve: 'P-256' }

/** Agrees on a key. Resolves to it once the user has confirmed on both sides. */
export function pair(pipe: Pipe, profile: Profile, user: PairingUser): Promise<Bytes> {
  return handshake(pipe, async () => {
    const { installId, label, address, origin } = profile
    const own = await crypto.subtle.generateKey(curve, false, ['deriveBits']) as CryptoKeyPair
    const ownKey = new Uint8Array(await crypto.subtle.exportKey('raw', own.publicKey))
    send(pipe, { type: 'pair', version: 1, installId, label, address, publicKey: encode(ownKey) })
    const commit = await receive(pipe, 'pair-commit')
    const bridgeKey = decode(commit, 'publicKey')
    const other = await crypto.subtle.importKey('raw', bridgeKey, curve, false, []).catch(() => {
      throw new Refusal('BAD_MESSAGE', "the bridge's public key is not valid")
    })
    const nonce = random()
    send(pipe, { type: 'pair-nonce', nonce: encode(nonce) })
    const theirs = decode(await receive(pipe, 'pair-reveal'), 'nonce')
    const promised = await digest(joined('portolan-pair-1 commitment', bridgeKey, ownKey, theirs))
    if (theirs.length !== size || encode(promised) !== encode(decode(commit, 'commitment')))
      throw new Refusal('BAD_PROOF', "the bridge's nonce is not the one it committed to")

    const fields = [ownKey, bridgeKey, nonce, theirs, origin, address, installId]
    const shared = await crypto.subtle.deriveBits({ name: 'ECDH', public: other }, own.privateKey, 256)
    const secret = await crypto.subtle.importKey('raw', shared, 'HKDF', false, ['deriveBits'])
    const salt = new Uint8Array([...nonce, ...theirs])
    const hkdf = { name: 'HKDF', hash: 'SHA-256', salt, info: joined('portolan-pair-1 key', ...fields) }
    const key = new Uint8Array(await crypto.subtle.deriveBits(hkdf, secret, 8 * size))
    const macs = await macKey(key)

    const first = new DataView((await digest(joined('portolan-pair-1 code', ...fields))).buffer).getBigUint64(0)
    const code = String(first % 1_000_000n).padStart(6, '0')
    const typed = await user.digits()
    if (typed.replace(/\s/g, '') !== code)
      throw new Refusal('DECLINED', 'the digits differ: this is not the bridge that shows them')
    const confirmation = await mac(macs, joined('portolan-pair-1 confirm extension', ...fields))
    send(pipe, { type: 'pair-confirm', mac: encode(confirmation) })
    user.confirmed()
    const done = await receive(pipe, 'pair-done')
    if (!await macIs(macs, joined('portolan-pair-1 confirm bridge', ...fields), decode(done, 'mac')))
      throw new Refusal('BAD_PROOF', "the bridge's confirmation is wrong")
    return key
  })
}
