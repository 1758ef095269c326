/**
 * Prints sizes beside their budgets: `node internal/build/sizes.mjs [--docs] [NAME...]`. Fails where one
 * is over its budget. Files of one line are measured as one text, as one after the other.
 *
 * A size in a document has a comment after it: `17 KB<!-- size: index.js -->`. Fails where it is another than the
 * measured one; `--docs` writes the measured one instead.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** Budgets are for the toolchain that go.mod pins. Another one makes other sizes. */
const pinned = /^toolchain (\S+)$/m.exec(readFileSync('go.mod', 'utf8'))[1]
const comparable = execFileSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' }).trim() === pinned
if (!comparable) console.error(`Go is not ${pinned}, which go.mod pins: sizes are not compared with budgets`)

/** The files of a pattern whose last part may have one `*`. Node 20 has no globSync. */
function match(pattern) {
  const [start, end = ''] = pattern.split('*')
  if (!pattern.includes('*')) return existsSync(pattern) ? [pattern] : []
  const dir = dirname(pattern)
  const names = existsSync(dir) ? readdirSync(dir) : []
  return names.map((name) => join(dir, name)).filter((file) => file.startsWith(start) && file.endsWith(end)).sort()
}

/** The files, and all files that they import statically, without those of `known`. */
function withImports(files, known = []) {
  const all = new Set(files)
  for (const file of all) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import)"(\.[^"]+)"/g)) {
      const imported = join(dirname(file), path)
      if (existsSync(imported) && !known.includes(imported)) all.add(imported)
    }
  }
  return [...all]
}

const writes = process.argv.includes('--docs')
const wanted = process.argv.slice(2).filter((name) => name !== '--docs')
const sizes = new Map()
/** The files of each entry, and of those that are loaded before it. */
const loaded = new Map()
let over = 0
for (
  const { name, files, gzip: budget, imports, after } of JSON.parse(
    readFileSync(new URL('budgets.json', import.meta.url), 'utf8'),
  )
) {
  if (wanted.length && !wanted.includes(name)) continue
  const found = files.map(match)
  if (found.some((list) => !list.length)) {
    console.error(`${name}: there is no ${files.join(' or no ')}`)
    over++
    continue
  }
  const measured = imports ? withImports(found.flat(), loaded.get(after)) : found.flat()
  loaded.set(name, [...loaded.get(after) ?? [], ...measured])
  const text = Buffer.concat(measured.map((file) => readFileSync(file)))
  const size = gzipSync(text, { level: 9 }).length
  sizes.set(name, size)
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
for (const file of ['*.md', 'docs/*.md', 'docs/design/*.md', 'proxy-worker/*.md'].flatMap(match)) {
  const before = readFileSync(file, 'utf8')
  const now = before.replace(/[\d.]+(\s)[KM]B(?=<!-- size: ([^>]+) -->)/g, (said, space, name) => {
    const size = sizes.get(name)
    if (size === undefined) return said
    const [n, unit] = size < 1e5 ? [Math.round(size / 1000), 'KB'] : [(size / 1e6).toFixed(size < 1e6 ? 2 : 1), 'MB']
    const text = n + space + unit // a line may end between them
    if (text !== said && comparable && !writes) {
      console.error(`${file} says ${said} for ${name}, which is ${text}: node internal/build/sizes.mjs --docs`)
      over++
    }
    return text
  })
  if (writes && now !== before) writeFileSync(file, now)
}
process.exitCode = over ? 1 : 0
