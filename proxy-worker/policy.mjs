// The policy, a Go program (main.go), as synchronous functions.

import { env as variables } from 'cloudflare:workers'
import './wasm_exec.js'
import module from './proxy.wasm'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Starts the program. In a Worker's global scope there are neither entropy nor a
 * clock, and Go has no start without: shims stand in for the time of it. What Go
 * draws then seeds its hash tables only; the secrets among the variables make it
 * hard to guess.
 */
export function start(global) {
  if (!global) return new Policy()
  let clock = 0
  let state = 1
  for (const value of Object.values(variables)) {
    for (const c of typeof value === 'string' ? value : '') state = Math.imul(state ^ c.charCodeAt(0), 0x01000193)
  }
  const xorshift = () => {
    for (const by of [13, -17, 5]) state ^= by > 0 ? state << by : state >>> -by
    return state
  }
  const restore = [
    replace('performance', { now: () => ++clock }),
    replace('crypto', { getRandomValues: (array) => array.map((_, i) => (array[i] = xorshift())) }),
  ]
  try {
    const policy = new Policy()
    policy.decide(
      new Request('https://portolan.invalid/?url=https%3A%2F%2Fportolan.invalid%2Fmcp', {
        method: 'POST',
        headers: {
          origin: 'https://portolan.invalid',
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
      }),
    )
    return policy
  } finally {
    for (const undo of restore) undo()
  }
}

function replace(name, value) {
  const was = Object.getOwnPropertyDescriptor(globalThis, name)
  Object.defineProperty(globalThis, name, { value, configurable: true })
  return () => was ? Object.defineProperty(globalThis, name, was) : delete globalThis[name]
}

class Policy {
  /** Go ends by what it does not recover from: memory, mostly. */
  ended = false
  #exports
  #memory = new Uint8Array(0)

  constructor() {
    const go = new Go()
    let ready = false
    globalThis.context = { env: variables, binding: {} } // where syumai/workers looks for them
    const instance = new WebAssembly.Instance(module, {
      ...go.importObject,
      workers: {
        ready: () => {
          ready = true
        },
      },
    })
    void go.run(instance) // returns when main sleeps
    if (!ready) throw new Error('the policy did not start')
    this.#exports = instance.exports
  }

  /**
   * An answer {status}, what to send {id, maxRequest, firstByteMs, method, url,
   * rateKey}, or what to probe {id, firstByteMs, rateKey, probes}.
   */
  decide(request) {
    const client = request.headers.get('cf-connecting-ip') ?? ''
    return this.#call(
      'portolan_decide',
      [request.method, request.url, client, ...lines(request.headers)].join('\n'),
      [],
      Date.now(),
    )
  }

  /** An answer, what to send next, or what to pass on {status, stream, prime, bind, maxBody}. */
  respond(id, response) {
    return this.#call('portolan_respond', lines(response.headers).join('\n'), [id, response.status])
  }

  /** What to pass on, once up to bind bytes of a body were read. */
  bind(id, body) {
    return this.#call('portolan_bind', body, [id])
  }

  /** The answer to what came of the probes, {status, headers} or {fault} each. */
  diagnosis(id, findings) {
    const text = findings.flatMap(({ status = 0, fault = '', headers = [] }) => {
      const fields = lines(headers)
      return [2 + fields.length, status, fault, ...fields]
    })
    return this.#call('portolan_diagnosis', text.join('\n'), [id])
  }

  /** The answer for a code of proxy.Refuse. */
  refuse(id, code) {
    return this.#call('portolan_refuse', code, [id])
  }

  done(id) {
    this.#guarded(() => this.#exports.portolan_done(id))
  }

  // Leaves a text for an export, and reads what it returns; crossing.go is the other side.
  #call(name, text, numbers, ...more) {
    const at = this.#guarded(() => {
      const { portolan_room: room, [name]: ask } = this.#exports
      let size = text.length
      if (typeof text === 'string') size = encoder.encodeInto(text, this.#bytes(room(3 * size), 3 * size)).written
      else this.#bytes(room(size), size).set(text)
      return ask(...numbers, size, ...more)
    })
    const out = new DataView(this.#bytes(at, 16).buffer, at, 16)
    const [first, ...rest] = decoder.decode(this.#bytes(out.getUint32(0, true), out.getUint32(4, true))).split('\n')
    const [kind, ...n] = first.split(' ')
    let result
    if (kind === 'send') {
      const [method, url, rateKey] = rest.splice(0, 3)
      result = { kind, id: +n[0], maxRequest: +n[1], firstByteMs: +n[2], method, url, rateKey }
    } else if (kind === 'diagnose') {
      const probes = []
      const rateKey = rest.shift()
      while (rest.length > 0) {
        const [method, url, body, ...fields] = rest.splice(0, Number(rest.shift()))
        probes.push({ method, url, body: body || null, headers: fieldsOf(fields) })
      }
      return { kind, id: +n[0], firstByteMs: +n[1], rateKey, probes }
    } else if (kind === 'pass') {
      result = { kind, status: +n[0], stream: n[1] === '1', prime: n[2] === '1', bind: +n[3], maxBody: +n[4] }
    } else {
      result = { kind, status: +n[0], body: this.#bytes(out.getUint32(8, true), out.getUint32(12, true)).slice() }
    }
    result.headers = fieldsOf(rest)
    return result
  }

  #guarded(run) {
    try {
      return run()
    } catch (error) {
      this.ended = true
      throw error
    }
  }

  // A view of memory is void once the memory has grown.
  #bytes(at, n) {
    if (this.#memory.length === 0) this.#memory = new Uint8Array(this.#exports.mem.buffer)
    return this.#memory.subarray(at >>> 0, (at >>> 0) + n)
  }
}

function fieldsOf(lines) {
  const headers = new Headers()
  for (let i = 0; i + 1 < lines.length; i += 2) headers.append(lines[i], lines[i + 1])
  return headers
}

function lines(headers) {
  const out = []
  for (const [name, value] of headers) out.push(name, value)
  return out
}
