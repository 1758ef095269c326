// The two programs around a model's code, as texts: a bundler that changes functions would break them.

/** The most characters of a text that the page gets of code. A longer one is cut, and is too long for its place. */
const mostText = (1 << 20) + 1

/**
 * The script of the frame. It starts a worker with the text that it receives. Each message of the worker passes
 * through the frame as a flat object of numbers and short texts, or else as 0. A large message would stop the page.
 * Errors of the worker go to the other port. docs/csp.md has the digest of this text.
 */
export const frameScript = `onmessage=({source,data,ports:[p,q]})=>{if(source!==parent)return;onmessage=null;try{` +
  `let u=URL.createObjectURL(new Blob([data],{type:"text/javascript"}));` +
  `try{u=trustedTypes.createPolicy("portolan",{createScriptURL:x=>x}).createScriptURL(u)}catch{}` +
  `const w=new Worker(u),{port1:c,port2:d}=new MessageChannel,s=x=>x.slice(0,${mostText});` +
  `c.onmessage=({data:x})=>{let m=0,n=0;if(x&&x.constructor===Object){m={};for(const k in x){if(++n>20)break;` +
  `const v=x[k];if(k.length<99)typeof v=="string"?m[k]=s(v):typeof v=="number"&&(m[k]=v)}}q.postMessage(m)};` +
  `c.onmessageerror=()=>q.postMessage(0);q.onmessage=e=>c.postMessage(e.data);` +
  `w.onerror=e=>{e.preventDefault();p.postMessage([s(e.message||""),e.lineno,e.colno])};` +
  `w.postMessage(0,[d]);p.postMessage([])}catch{p.postMessage([""])}}`

/** The digest of the script, as a policy has it. */
export const frameDigest = 'sha256-oe6O7jqwMwUp3dV/OCx0sVKuPDnHEzc0KNPNM+8t/uE='

/** The frame's document. Its policy allows the script and workers, and no address at all. */
export const frameDocument =
  `<!doctype html><meta http-equiv="content-security-policy" content="default-src 'none';script-src '${frameDigest}';` +
  `worker-src blob:"><script>${frameScript}</script>`

/** Names of the platform that the policy makes useless. Without them code fails with a clear error. */
const removed =
  'fetch XMLHttpRequest WebSocket WebSocketStream EventSource WebTransport importScripts Worker SharedWorker ' +
  'BroadcastChannel indexedDB caches close postMessage'

/** The characters of all logs, and of the returned text; the most messages of a log. */
export const mostLogged = 32 << 10, mostReturned = 64 << 10, mostLogs = 500

/** Stands before a model's code in its worker. `tail` stands after it. */
export const head = `((run) => {
const { JSON: { parse, stringify }, Map, Set, Error, TypeError, Promise, Proxy, String, Object } = self
for (const name of ${JSON.stringify(removed.split(' '))})
  for (let o = self; o; o = Object.getPrototypeOf(o)) delete o[name]
const post = MessagePort.prototype.postMessage
let port, last = 0, room = ${mostLogged}, lines = ${mostLogs}
const waiting = new Map
const send = (message) => post.call(port, message)
const call = (server, tool, args) => new Promise((resolve, reject) => {
  const error = new Error
  const text = stringify(args ?? {}) ?? 'null'
  waiting.set(++last, { resolve, reject, error })
  send({ call: last, server, tool, args: text })
})
const named = (member) => new Proxy(Object.freeze({}), {
  get: (_, name) => typeof name === 'string' && name !== 'then' && name !== 'toJSON' ? member(name) : undefined,
})
const tools = named((server) => named((tool) => (args) => call(server, tool, args)))
const plain = (_, value) => value instanceof Map ? Object.fromEntries(value) : value instanceof Set ? [...value] : value
const shown = (value) => {
  if (typeof value === 'string') return value
  try { return (value instanceof Error ? undefined : stringify(value, plain)) ?? String(value) } catch {}
  try { return String(value) } catch { return '[' + typeof value + ']' }
}
const log = (...values) => {
  const text = values.map(shown).join(' ').slice(0, room)
  if (lines-- <= 0 || room <= 0) return
  room -= text.length + 1
  send({ log: text })
}
const console = { log, info: log, warn: log, error: log, debug: log, dir: log, table: log }
const done = (value) => {
  const text = value === undefined || typeof value === 'string' ? value : stringify(value, plain)
  if (text === undefined && value !== undefined) throw new TypeError('a ' + typeof value + ' is no JSON')
  send(text === undefined ? { done: '', total: -1 } : { done: text.slice(0, ${mostReturned}), total: text.length })
}
const fail = (error, about = '') => {
  let text = 'the error has no text', stack = ''
  try {
    text = String(error) + (error?.code ? ' (' + error.code + ')' : '')
    stack = String(error?.stack ?? '')
  } catch {}
  send({ error: (about + text).slice(0, ${mostLogged}), stack: stack.slice(0, ${mostLogged}) })
}
self.onmessage = ({ ports }) => {
  self.onmessage = null
  port = ports[0]
  port.onmessage = ({ data: { id, value, error, code } }) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) return call.resolve(value)
    call.error.message = error
    if (code) call.error.code = code
    call.reject(call.error)
  }
  send({ begin: true })
  run(tools, console).then((value) => {
    try { done(value) } catch (e) { fail(e, 'The returned value cannot be written as JSON. ') }
  }, fail)
}
})(async (tools, console) => {
`

/** Stands after a model's code. */
export const tail = '\n})\n'
