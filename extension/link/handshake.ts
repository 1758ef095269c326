/**
 * The extension's side of what stands in bridge/handshake/doc.go: pairing once,
 * and the proof on every connection.
 */
import { decode, digest, encode, joined, mac, macIs, macKey, random, size, utf8, type Bytes } from './bytes.ts'

/** Carries one exchange. `receive` rejects when the other side is gone. */
export interface Pipe {
  send(text: string): void
  receive(): Promise<string>
}

export interface Profile {
  installId: string
  label: string
  origin: string
  address: string
}

/** Why an exchange ended without success. `remote`: the bridge refused. */
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

async function receive(pipe: Pipe, want: string): Promise<Message> {
  const text = await pipe.receive()
  let m: Message | undefined
  try {
    if (text.length <= longest) m = JSON.parse(text) as Message
  } catch { /* told below, without the text */ }
  if (m?.type === 'refused') throw new Refusal(printable(m.code, 32), printable(m.message, 300), true)
  if (m?.type !== want) throw new Refusal('BAD_MESSAGE', 'what answers there does not speak as a Portolan bridge does')
  return m
}

const printable = (text: unknown, limit: number) =>
  String(text).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '').slice(0, limit)

function bytes(m: Message, field: string): Bytes {
  try {
    return decode(m[field])
  } catch {
    throw new Refusal('BAD_MESSAGE', `the bridge's ${field} cannot be read`)
  }
}

/** Runs an exchange, and tells the bridge when this side refuses. */
async function exchange<T>(pipe: Pipe, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (e) {
    if (e instanceof Refusal && !e.remote)
      pipe.send(JSON.stringify({ type: 'refused', code: e.code, message: e.message }))
    throw e
  }
}

/** Proves the key both ways. It sends no proof to a bridge that gave none. */
export function connect(pipe: Pipe, who: Profile, key: CryptoKey): Promise<void> {
  return exchange(pipe, async () => {
    const { installId, address, origin } = who
    const nonce = random()
    pipe.send(
      JSON.stringify({ type: 'hello', version: 1, role: 'extension', installId, address, nonce: encode(nonce) }),
    )
    const m = await receive(pipe, 'challenge')
    const theirs = bytes(m, 'nonce')
    const said = (side: string) =>
      joined(`portolan-connect-1 ${side}`, 'extension', origin, address, installId, nonce, theirs)
    if (
      theirs.length !== size || encode(theirs) === encode(nonce) || !await macIs(key, said('bridge'), bytes(m, 'mac'))
    ) {
      throw new Refusal('BAD_PROOF', `what answers on ${address} does not hold the key: it is not the paired bridge`)
    }
    pipe.send(JSON.stringify({ type: 'proof', mac: encode(await mac(key, said('client'))) }))
    await receive(pipe, 'ready')
  })
}

/** What a person does meanwhile. */
export interface PairingPerson {
  /** The six digits that the terminal shows. Rejects when they give up. */
  digits(): Promise<string>
  /** They were right; the bridge waits for a yes in the terminal. */
  confirmed(): void
}

const curve = { name: 'ECDH', namedCurve: 'P-256' }

/** Agrees on a key, which is returned once both sides' persons have confirmed. */
export function pair(pipe: Pipe, who: Profile, person: PairingPerson): Promise<Bytes> {
  return exchange(pipe, async () => {
    const { installId, label, address, origin } = who
    const own = await crypto.subtle.generateKey(curve, false, ['deriveBits']) as CryptoKeyPair
    const ownKey = new Uint8Array(await crypto.subtle.exportKey('raw', own.publicKey))
    pipe.send(JSON.stringify({ type: 'pair', version: 1, installId, label, address, publicKey: encode(ownKey) }))
    const commit = await receive(pipe, 'pair-commit')
    const bridgeKey = bytes(commit, 'publicKey')
    const other = await crypto.subtle.importKey('raw', bridgeKey, curve, false, []).catch(() => {
      throw new Refusal('BAD_MESSAGE', 'the public key is not one')
    })
    const nonce = random()
    pipe.send(JSON.stringify({ type: 'pair-nonce', nonce: encode(nonce) }))
    const theirs = bytes(await receive(pipe, 'pair-reveal'), 'nonce')
    const promised = await digest(joined('portolan-pair-1 commitment', bridgeKey, ownKey, theirs))
    if (theirs.length !== size || encode(promised) !== encode(bytes(commit, 'commitment'))) {
      throw new Refusal('BAD_PROOF', "the bridge's nonce is not the one it committed to")
    }

    const fields = [ownKey, bridgeKey, nonce, theirs, origin, address, installId]
    const secret = await crypto.subtle.importKey(
      'raw',
      await crypto.subtle.deriveBits({ name: 'ECDH', public: other }, own.privateKey, 256),
      'HKDF',
      false,
      ['deriveBits'],
    )
    const salt = new Uint8Array([...nonce, ...theirs])
    const key = new Uint8Array(
      await crypto.subtle.deriveBits(
        { name: 'HKDF', hash: 'SHA-256', salt, info: joined('portolan-pair-1 key', ...fields) },
        secret,
        8 * size,
      ),
    )
    const macs = await macKey(key)

    const first = new DataView((await digest(joined('portolan-pair-1 code', ...fields))).buffer).getBigUint64(0)
    const code = String(first % 1_000_000n).padStart(6, '0')
    const typed = await person.digits()
    if (typed.replace(/\s/g, '') !== code)
      throw new Refusal('DECLINED', 'the digits differ: this is not the bridge that shows them')
    pipe.send(
      JSON.stringify({
        type: 'pair-confirm',
        mac: encode(await mac(macs, joined('portolan-pair-1 confirm extension', ...fields))),
      }),
    )
    person.confirmed()
    const done = await receive(pipe, 'pair-done')
    if (!await macIs(macs, joined('portolan-pair-1 confirm bridge', ...fields), bytes(done, 'mac'))) {
      throw new Refusal('BAD_PROOF', "the bridge's confirmation is wrong")
    }
    return key
  })
}

/** The key for a bridge that runs with --ephemeral, from the token that it shows. */
export const ephemeralKey = (token: string): Promise<Bytes> => digest(utf8(`portolan-ephemeral-1\0${token}`))
