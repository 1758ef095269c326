import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchChromium } from '../rig/harness.ts'
import { script } from './inpage.ts'

const rounds = Number(process.env.FUZZ_ROUNDS ?? 1500)

test('any elements in any order: no throw, no HTML, no scripts, fences that close', async () => {
  const browser = await launchChromium()
  const page = await browser.newPage()
  await page.evaluate(await script('../../extension/chats/driver/markdown/index.ts', 'md'))
  const faults = await page.evaluate((rounds) => {
    const read =
      (globalThis as unknown as { md: { markdown(els: Element[], o: object): { text: string } } }).md.markdown
    const tags =
      'p div span a b strong em i del code pre ul ol li table thead tbody tr th td h1 h3 blockquote br hr img input sup button math details summary dl dt dd x-a section svg'
        .split(' ')
    const texts = [
      'word',
      ' ',
      '\n',
      '*',
      '_x_',
      '`',
      '```',
      '~~~',
      '$a$',
      '# ',
      '- ',
      '1. ',
      '> ',
      '|',
      '[x](javascript:alert(1))',
      '<script>alert(1)</script>',
      '&lt;',
      '\\',
      '\u0001',
      '---',
      '!',
      'ü漢😀',
    ]
    let seed = 12345
    const pick = <T>(list: T[]): T => list[(seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % list.length]!
    const make = (depth: number): Node => {
      if (depth > 7 || pick([0, 1, 2]) === 0) return document.createTextNode(pick(texts) + pick(texts))
      const el = document.createElement(pick(tags))
      for (const name of ['href', 'src'])
        el.setAttribute(
          name,
          pick([
            'javascript:alert(1)',
            'https://e.example/a b(c)',
            'data:text/html,x',
            '#n',
            '//e.example',
            'http://[',
            'mailto:a@e.example',
          ]),
        )
      el.setAttribute('alt', pick(texts))
      el.setAttribute('start', pick(['1', '-5', '99999999999', 'x']))
      el.setAttribute('colspan', pick(['1', '3', '1000']))
      const parent = el.localName === 'x-a' && pick([0, 1]) ? el.attachShadow({ mode: 'open' }) : el
      for (let n = pick([0, 1, 2, 3, 4]); n > 0; n--) parent.append(make(depth + 1))
      return el
    }
    const faults: string[] = []
    for (let n = 0; n < rounds && faults.length < 5; n++) {
      const root = document.createElement('div')
      for (let i = 0; i < 4; i++) root.append(make(0))
      const { text } = read([root], { base: 'https://chat.example/' })
      const blocks = text.replace(/(^|\n)((?:[>\s]|[-*] |\d+\. )*)(`{3,})[^`\n]*\n[\s\S]*?\n[>\s]*\3(?=\n|$)/g, '$1')
      // Removes code spans and escaped characters, as CommonMark reads them.
      let outside = ''
      for (const block of blocks.split(/\n[>\s]*\n/)) {
        for (let i = 0; i < block.length;) {
          const ticks = /^`+/.exec(block.slice(i))?.[0]
          const end = ticks ? new RegExp(`(?<!\`)${ticks}(?!\`)`).exec(block.slice(i + ticks.length)) : null
          if (block[i] === '\\') i += 2
          else if (ticks && end) i += ticks.length + end.index + ticks.length
          else {
            outside += ticks ?? block[i]
            i += ticks?.length ?? 1
          }
        }
        outside += '\n'
      }
      const bad = /\]\((?:javascript|data):/i.exec(outside) ?? /<(?!br>)[a-z/!]/i.exec(outside) ?? /\u0001/.exec(text)
      if (bad) faults.push(`${root.outerHTML}\n=> ${text}\n${bad[0]}`)
    }
    return faults
  }, rounds)
  await browser.close()
  assert.deepEqual(faults, [])
})
