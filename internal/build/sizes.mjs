/**
 * Prints sizes beside their budgets: `node internal/build/sizes.mjs [NAME...]`. Fails where one
 * is over its budget. Files of one line are measured as one text, as one after the other.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** Budgets are for the toolchain that go.mod pins. Another one makes other sizes. */
const pinned = /^toolchain (\S+)$/m.exec(readFileSync('go.mod', 'utf8'))[1]
const comparable = execFileSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' }).trim() === pinned
if (!comparable) console.error(`Go is not ${pinned}, which go.mod pins: sizes are not compared with budgets`)

/** The files of a pattern whose last part may have one `*`. */
function match(pattern) {
  const [start, end = ''] = pattern.split('*')
  if (!pattern.includes('*')) return existsSync(pattern) ? [pattern] : []
  const dir = dirname(start)
  const names = existsSync(dir) ? readdirSync(dir) : []
  return names.map((name) => join(dir, name)).filter((file) => file.startsWith(start) && file.endsWith(end)).sort()
}

const wanted = process.argv.slice(2)
let over = 0
for (
  const { name, files, gzip: budget } of JSON.parse(readFileSync(new URL('budgets.json', import.meta.url), 'utf8'))
) {
  if (wanted.length && !wanted.includes(name)) continue
  const found = files.map(match)
  if (found.some((list) => !list.length)) {
    console.error(`${name}: there is no ${files.join(' or no ')}`)
    over++
    continue
  }
  const text = Buffer.concat(found.flat().map((file) => readFileSync(file)))
  const size = gzipSync(text, { level: 9 }).length
  console.log(
    `${name.padEnd(26)} ${String(text.length).padStart(9)} bytes ${String(size).padStart(9)} gzip ${
      String(budget).padStart(9)
    } budget`,
  )
  if (size > budget && comparable) {
    console.error(`over budget: ${name}`)
    over++
  }
}
process.exitCode = over ? 1 : 0
