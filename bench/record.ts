import { spawn, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'

/**
 * Runs a benchmark and writes its output into docs/measurements.md, with the date, the commit and the machine:
 *
 *   node bench/record.ts SCRIPT [ARGUMENTS...]
 */
const page = 'docs/measurements.md'
const [script, ...args] = process.argv.slice(2)
const child = spawn(process.execPath, [script!, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
let output = ''
child.stdout.setEncoding('utf8').on('data', (text: string) => {
  output += text
  process.stdout.write(text)
})
const [code] = await once(child, 'close') as [number]
if (code !== 0) process.exit(code)

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
const changed = git('status', '--porcelain') ? ' and uncommitted changes' : ''
const [{ model }, { length }] = [cpus()[0]!, cpus()]
const title = `## ${[script, ...args].join(' ')}`
const section = `${title}

${new Date().toISOString().slice(0, 10)}, commit ${
  git('rev-parse', '--short', 'HEAD')
}${changed}, ${length} cores (${model}).

\`\`\`text
${output.trim()}
\`\`\`
`
const sections = (await readFile(page, 'utf8')).trim().split(/\n\n(?=## )/)
const others = sections.slice(1).filter((text) => !text.startsWith(`${title}\n`))
await writeFile(page, [sections[0], ...[...others, section.trim()].sort()].join('\n\n') + '\n')
