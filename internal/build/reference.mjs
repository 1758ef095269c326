/**
 * Makes docs/reference/README.md from the declarations that the package publishes. With `--check` it fails where the
 * file is another one.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entries } from './entries.mjs'
import { root } from './modules.mjs'

/** The exported declarations of a file: the words above each, and its code. */
function declarations(file) {
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  const found = []
  let words = []
  for (let i = 0; i < lines.length; i++) {
    if (lines[i].startsWith('/**')) {
      const from = i
      while (!lines[i].includes('*/')) i++
      words = lines.slice(from, i + 1)
    }
    const name = /^export (?:declare )?(?:class|const|function|interface|type) (\w+)/.exec(lines[i])?.[1]
    if (!name) continue
    const from = i
    while (/^[\s})]/.test(lines[i + 1] ?? '') && lines[i + 1]) i++ // what belongs to it is indented, or closes it
    found.push({
      name,
      words: prose(words),
      code: lines.slice(from, i + 1).join('\n').replace(/^export (declare )?/, ''),
    })
    words = []
  }
  return found
}

/** The text of a comment as Markdown. */
const prose = (lines) =>
  lines.join('\n').replace(/^\/\*\*|\*\/$/g, '').replace(/^ \* ?/gm, '').replace(/\{@link (?:\w+\.)?(\w+)\}/g, '`$1`')
    .trim()

const parts = Object.entries(entries).map(([name, file]) => {
  const said = declarations(file).map(({ name, words, code }, i, all) => {
    const heading = name === all[i - 1]?.name ? '' : `### ${name}\n\n`
    return `${heading}${words ? `${words}\n\n` : ''}\`\`\`ts\n${code}\n\`\`\`\n`
  })
  return `## ${name}\n\nFrom [\`${file}\`](../../${file}).\n\n${said.join('\n')}`
})
const text = execFileSync('dprint', ['fmt', '--stdin', 'reference.md'], {
  cwd: root,
  input:
    `# Reference\n\n\`node internal/build/reference.mjs\` makes this page. The declarations have the same words.\n\n${
      parts.join('\n')
    }`,
  encoding: 'utf8',
  stdio: ['pipe', 'pipe', 'inherit'],
})
const file = join(root, 'docs/reference/README.md')
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (text !== readFileSync(file, 'utf8')) {
  console.error('docs/reference/README.md is stale: node internal/build/reference.mjs')
  process.exitCode = 1
}
