// The policy, a Go program (main.go), as synchronous functions.

import { env as variables } from 'cloudflare:workers'
import './wasm_exec.js'
import module from './proxy.wasm'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The kinds of results, in the order of crossing.go. */
const kinds = ['answer', 'send', 'diagnose', 'pass']

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
    const now = Date.now()
    const text = `${request.method}\n${request.url}\n${fieldsText(request.headers)}`
    return this.#call(text, (go, size) => go.portolan_decide(size, now))
  }

  /** Returns an answer, the next request, or a response to pass on {status, stream, prime, bind, maxBody}. */
  respond(id, { status, headers }) {
    return this.#call(fieldsText(headers), (go, size) => go.portolan_respond(id, status, size, Date.now()))
  }

  /** Returns the response to pass on, after up to bind bytes of the body were read. */
  bind(id, body) {
    return this.#call(body, (go, size) => go.portolan_bind(id, size))
  }

  /** Returns the answer to the findings of the probes, {status, headers} or {fault} each. */
  diagnosis(id, findings) {
    const text = findings.map(({ status = 0, fault = '', headers = [] }) =>
      `${2 + 2 * [...headers].length}\n${status}\n${fault}\n${fieldsText(headers)}`
    )
    return this.#call(text.join(''), (go, size) => go.portolan_diagnosis(id, size, Date.now()))
  }

  /** Returns the answer for a code of proxy.Refuse. */
  refuse(id, code) {
    return this.#call(code, (go, size) => go.portolan_refuse(id, size, Date.now()))
  }

  done(id) {
    this.#guarded((go) => go.portolan_done(id))
  }

  // Writes a text for an export, and reads its result. crossing.go is the other side.
  #call(text, ask) {
    const at = this.#guarded((go) => {
      const most = typeof text === 'string' ? 3 * text.length : text.length
      const room = this.#bytes(go.portolan_room(most), most)
      if (typeof text === 'string') return ask(go, encoder.encodeInto(text, room).written)
      room.set(text)
      return ask(go, most)
    })
    const out = new Float64Array(this.#exports.mem.buffer, at >>> 0, 10)
    const lines = decoder.decode(this.#bytes(out[1], out[2])).split('\n')
    switch (kinds[out[0]]) {
      case 'answer':
        return {
          kind: 'answer',
          status: out[5],
          body: this.#bytes(out[3], out[4]).slice(),
          headers: fieldsOf(lines, 0),
        }
      case 'send': {
        const [method, url, rateKey] = lines
        const headers = fieldsOf(lines, 3)
        return { kind: 'send', id: out[5], maxRequest: out[6], firstByteMs: out[7], method, url, rateKey, headers }
      }
      case 'pass': {
        const headers = fieldsOf(lines, 0)
        return {
          kind: 'pass',
          status: out[5],
          stream: out[6] === 1,
          prime: out[7] === 1,
          bind: out[8],
          maxBody: out[9],
          headers,
        }
      }
    }
    const probes = []
    for (let i = 1; i + 1 < lines.length; i += 1 + Number(lines[i])) {
      const [method, url, body, ...fields] = lines.slice(i + 1, i + 1 + Number(lines[i]))
      probes.push({ method, url, body: body || null, headers: fieldsOf(fields, 0) })
    }
    return { kind: 'diagnose', id: out[5], firstByteMs: out[6], rateKey: lines[0], probes }
  }

  #guarded(run) {
    try {
      return run(this.#exports)
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

/** Returns the header fields in the lines of a result, from the line at i. */
function fieldsOf(lines, i) {
  const headers = new Headers()
  for (; i + 1 < lines.length; i += 2) headers.append(lines[i], lines[i + 1])
  return headers
}

/** Returns header fields as lines for an export. */
function fieldsText(headers) {
  let text = ''
  for (const [name, value] of headers) text += `${name}\n${value}\n`
  return text
}
