// Runs a stdio server as one of 2025-11-25: `node olderera.mjs PROGRAM`. It refuses server/discover, so that clients
// initialize. All other messages pass.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const child = spawn(process.argv[2], { stdio: ['pipe', 'inherit', 'inherit'] })
child.on('exit', (code) => process.exit(code ?? 1))
createInterface(process.stdin)
  .on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (method !== 'server/discover') return child.stdin.write(`${line}\n`)
    const error = { code: -32601, message: 'method not found' }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`)
  })
  .on('close', () => child.stdin.end())
