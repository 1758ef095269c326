// The policy, a Go program (main.go), as synchronous functions.

import { env as variables } from 'cloudflare:workers'
import './wasm_exec.js'
import module from './proxy.wasm'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Starts the program. A Worker's global scope has neither entropy nor a clock, and Go
 * cannot start without them. Shims replace both during the start. The random numbers of
 * that time only seed Go's hash tables. Secrets among the variables make them hard to
 * guess.
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
  /** Whether the Go program ended, usually because memory ran out. */
  ended = false
  #exports
  #memory = new Uint8Array(0)

  constructor() {
    const go = new Go()
    let ready = false
    globalThis.context = { env: variables, binding: {} } // syumai/workers reads them here
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
   * Returns an answer {status}, a request to send {id, maxRequest, firstByteMs, method,
   * url, rateKey}, or a diagnosis {id, firstByteMs, rateKey, probes}.
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

  /** Returns an answer, the next request, or a response to pass on {status, stream, prime, bind, maxBody}. */
  respond(id, response) {
    return this.#call('portolan_respond', lines(response.headers).join('\n'), [id, response.status])
  }

  /** Returns the response to pass on, after up to bind bytes of the body were read. */
  bind(id, body) {
    return this.#call('portolan_bind', body, [id])
  }

  /** Returns the answer to the findings of the probes, {status, headers} or {fault} each. */
  diagnosis(id, findings) {
    const text = findings.flatMap(({ status = 0, fault = '', headers = [] }) => {
      const fields = lines(headers)
      return [2 + fields.length, status, fault, ...fields]
    })
    return this.#call('portolan_diagnosis', text.join('\n'), [id])
  }

  /** Returns the answer for a code of proxy.Refuse. */
  refuse(id, code) {
    return this.#call('portolan_refuse', code, [id])
  }

  done(id) {
    this.#guarded(() => this.#exports.portolan_done(id))
  }

  // Writes a text for an export, and reads its result. crossing.go is the other side.
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

  // A view of memory is detached once the memory has grown.
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
