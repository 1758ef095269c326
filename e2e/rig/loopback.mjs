// Loaded before servers that others wrote: where they name no address, they listen on loopback only.
import { Server } from 'node:net'

const { listen } = Server.prototype
Server.prototype.listen = function(...args) {
  const [first, second] = args
  if (typeof first === 'object' && first?.port !== undefined) args[0] = { host: '127.0.0.1', ...first }
  else if (/^\d+$/.test(String(first)) && typeof second !== 'string') args.splice(1, 0, '127.0.0.1')
  return listen.apply(this, args)
}
