/** Runs Go tests, and says which failed. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { root } from './modules.mjs'

const packagesOf = (patterns) =>
  execFileSync('go', ['list', ...patterns], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)

/** Prints the output of `go test`, and resolves with the failed tests: `{ name, args }` of each for another run. */
export async function goTest({ packages, except, flags = [], environment = {} }, only) {
  const left = except ? packagesOf(except) : []
  const chosen = except ? packagesOf(packages).filter((name) => !left.includes(name)) : packages
  const args = ['test', '-json', '-timeout=10m', ...flags, ...(only ? ['-count=1', ...only] : chosen)]
  const child = spawn('go', args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output = new Map() // of tests and packages, until they end
  const failed = new Map() // packages with their failed tests
  for await (const line of createInterface(child.stdout)) {
    let event
    try {
      event = JSON.parse(line)
    } catch {
      console.log(line)
      continue
    }
    const { Action, Package = event.ImportPath, Test = '', Output } = event
    const top = Test.split('/')[0]
    const key = `${Package} ${top}`
    if (Action === 'output' || Action === 'build-output') {
      if (Test) output.set(key, (output.get(key) ?? '') + Output)
      else if (!/^(PASS|coverage:|\?\s)/.test(Output)) process.stdout.write(Output)
    } else if (Action === 'fail' && (!Test || top === Test)) {
      const tests = failed.get(Package) ?? failed.set(Package, []).get(Package)
      if (Test) tests.push(Test)
      process.stdout.write(output.get(key) ?? '')
    }
    if (Test === top && /^(pass|fail|skip)$/.test(Action)) output.delete(key)
  }
  const code = child.exitCode ?? (await once(child, 'exit'))[0]
  const list = [...failed].map(([name, tests]) => ({
    name: tests.length ? `${name}: ${tests.join(', ')}` : name,
    args: tests.length ? ['-run', `^(${tests.join('|')})$`, name] : [name],
  }))
  return list.length || code === 0 ? list : [{ name: `go ${args.join(' ')}`, args: chosen }]
}
