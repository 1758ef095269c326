import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../rig/harness.ts'
import { script } from './inpage.ts'
import { aistudio } from '../../extension/chats/sites/aistudio.ts'
import type { Markdown } from '../../extension/chats/driver/markdown/index.ts'

let browser: Browser
let page: Page
before(async () => {
  browser = await launchChromium()
  page = await browser.newPage()
  await page.setContent('<main></main>')
  await page.evaluate(await script('../../extension/chats/driver/markdown/index.ts', 'md'))
})
after(() => browser.close())

type Read = { markdown(els: Element[], o: { base: string; omit?: string[]; notes?: RegExp }): Markdown }

/** The longest reading time in the page so far. */
let longest = 0

/** Reads HTML from a page. `<template shadowrootmode>` makes shadow roots. */
async function read(html: string, omit: string[] = []): Promise<Markdown> {
  const [found, ms] = await page.evaluate(([html, omit]) => {
    const main = document.querySelector('main')!
    main.setHTMLUnsafe(html as string)
    const begun = performance.now()
    const found = (globalThis as unknown as { md: Read }).md.markdown([main], {
      base: 'https://chat.example/c/1',
      omit: omit as string[],
      notes: /^thought for \d+ seconds$/i,
    })
    return [found, performance.now() - begun] as const
  }, [html, omit])
  longest = Math.max(longest, ms)
  return found
}

const table: [name: string, html: string, want: string, omit?: string[]][] = [
  ['paragraphs', '<p>One\n  two</p><p>three</p>text<div>four</div>', 'One two\n\nthree\n\ntext\n\nfour'],
  ['headings', '<h1>A</h1><h2>B <em>c</em></h2><h6>D #</h6>', '# A\n\n## B *c*\n\n###### D \\#'],
  [
    'lists',
    '<ul><li>a</li><li><p>b</p><ul><li>c<ol start="3"><li>d</li><li>e</li></ol></li></ul></li></ul>',
    '- a\n- b\n  - c\n    3. d\n    4. e',
  ],
  [
    'a list that starts elsewhere, and values',
    '<ol start="9"><li>a</li><li value="20">b</li><li>c</li></ol>',
    '9. a\n20. b\n21. c',
  ],
  ['loose items', '<ul><li><p>a</p><p>b</p></li><li>c</li></ul>', '- a\n\n  b\n\n- c'],
  [
    'code in an item',
    '<ol><li>a<pre><code class="language-js">x\n  y</code></pre></li></ol>',
    '1. a\n\n   ```js\n   x\n     y\n   ```',
  ],
  ['a list right in a list', '<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>', '- a\n  - b\n- c'],
  ['lists in a row', '<ul><li>a</li></ul><ul><li>b</li></ul><ul><li>c</li></ul>', '- a\n\n* b\n\n- c'],
  [
    'tasks',
    '<ul><li><input type="checkbox" checked disabled> a</li><li><input type="checkbox"> b</li></ul>',
    '- [x] a\n- [ ] b',
  ],
  [
    'a table',
    '<table><thead><tr><th>a</th><th align="right">b|c</th></tr></thead><tbody><tr><td><p>1</p><p>2</p></td><td><code>x|y</code></td></tr><tr><td colspan="2">z<br>w</td></tr></tbody></table>',
    '| a | b\\|c |\n| --- | ---: |\n| 1<br>2 | `x\\|y` |\n| z<br>w |  |',
  ],
  [
    'code of several lines in a cell',
    '<table><tr><th>a</th></tr><tr><td><pre><code>x|y\n\nz\n</code></pre></td></tr><tr><td><pre>v\nw</pre></td></tr><tr><td><code>s<br>t</code></td></tr></table><p><code>q<br>r</code></p>',
    '| a |\n| --- |\n| `x\\|y`<br>`z` |\n| `v`<br>`w` |\n| `s`<br>`t` |\n\n`q r`',
  ],
  [
    'a cell over several rows',
    '<table><tr><th>a</th><th>b</th><th>c</th></tr><tr><td rowspan="2" colspan="2">x</td><td>1</td></tr><tr><td>2</td></tr><tr><td>y</td><td rowspan="0">z</td></tr><tr><td>w</td></tr></table>',
    '| a | b | c |\n| --- | --- | --- |\n| x |  | 1 |\n|  |  | 2 |\n| y | z |  |\n| w |  |  |',
  ],
  [
    'a fenced block with a toolbar',
    '<pre><div class="bar"><span>python</span><button>Copy code</button></div><div><code class="hljs language-python"><span>def</span> f():\n    return "a  b"\n</code></div></pre>',
    '```python\ndef f():\n    return "a  b"\n```',
  ],
  [
    'code under the name of its language',
    '<div><div aria-label="Code"><div><button>Copy</button></div><div>Python</div><div><pre><code class="language-python">x = 1</code></pre></div></div></div><div><div><span>C++</span><div role="button">Copy</div></div><pre><span>int</span> x;</pre></div><div>text<pre>y</pre></div>',
    '```python\nx = 1\n```\n\n```c++\nint x;\n```\n\n```\ny\n```',
  ],
  [
    'a word of the answer above code',
    '<div><p>Bash</p><pre>ls</pre></div><div>Run it:<pre>ls</pre></div>',
    'Bash\n\n```\nls\n```\n\nRun it:\n\n```\nls\n```',
  ],
  [
    'a block with notes around it',
    '<ms-code-block><div><pre>   <code>a = 1</code>\n </pre></div><div aria-hidden="true" class="ignore-when-copying">IGNORE_WHEN_COPYING_START</div><footer><button>copy</button><span><bdo>Use code <a href="/legal">with caution</a>.</bdo></span><span class="language">Python</span></footer><div aria-hidden="true" class="ignore-when-copying">IGNORE_WHEN_COPYING_END</div></ms-code-block><p>b</p>',
    '```\na = 1\n```\n\nb',
    aistudio.layouts[0]!.omit,
  ],
  ['backticks in a block', '<pre><code>```\nx\n```</code></pre>', '````\n```\nx\n```\n````'],
  [
    'a block of lines that are elements',
    '<pre data-language="go"><div>a</div><div>  b</div><br>c</pre>',
    '```go\na\n  b\n\nc\n```',
  ],
  ['inline code', '<p><code>a</code> <code>b`c</code> <code>`d</code> <code>*</code></p>', '`a` ``b`c`` `` `d `` `*`'],
  [
    'links',
    '<p><a href="/x?a=1">rel</a> <a href="https://e.example/a_(b)">abs</a> <a href="mailto:a@e.example">post</a> <a href="javascript:alert(1)">bad</a> <a href="data:text/html,x">bad</a> <a href="https://e.example/">a [b] c]</a></p>',
    '[rel](https://chat.example/x?a=1) [abs](https://e.example/a_%28b%29) [post](mailto:a@e.example) bad bad [a \\[b\\] c\\]](https://e.example/)',
  ],
  [
    'links around blocks',
    '<a href="https://e.example/"><div>Harbour</div><p>of <b>Hull</b></p></a><a href="/b"><h3>1. Tide</h3></a><a href="#x"><p>c</p><p>d</p></a><a href="/e"><ul><li>e</li></ul></a>',
    '[Harbour of **Hull**](https://e.example/)\n\n[1. Tide](https://chat.example/b)\n\nc\n\nd\n\n- e',
  ],
  [
    'a link after an exclamation mark',
    '<p>Look!<a href="https://e.example/">here</a></p>',
    'Look\\![here](https://e.example/)',
  ],
  [
    'images',
    '<p><img src="https://e.example/a.png" alt="a [chart]"><img src="data:image/png;base64,AA" alt="own"><img src="javascript:x" alt=""></p>',
    '![a \\[chart\\]](https://e.example/a.png)![own]()',
  ],
  [
    'emphasis',
    '<p><strong>a <b>b</b></strong> <em>c </em>d <del>e</del> <i><strong>f</strong></i> <b> </b></p>',
    '**a b** *c* d ~~e~~ ***f***',
  ],
  [
    'quotes',
    '<blockquote><p>a</p><blockquote>b</blockquote><p>c<br>d</p></blockquote>',
    '> a\n>\n> > b\n>\n> c  \n> d',
  ],
  ['breaks and lines', '<p>a<br>b</p><hr><p><br></p><p>c<br></p>', 'a  \nb\n\n---\n\nc'],
  [
    'mathematics',
    '<p>If <span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x^2_1</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x21</span></span> then</p><span class="katex-display"><span class="katex"><math display="block"><semantics><mi>y</mi><annotation encoding="application/x-tex">\\frac{a}{b}\n+ c</annotation></semantics></math><span>y</span></span></span>',
    'If $x^2_1$ then\n\n$$\n\\frac{a}{b} + c\n$$',
  ],
  [
    'mathematics in a cell',
    '<table><tr><td><span class="katex-display"><math><semantics><mi>y</mi><annotation encoding="application/x-tex">y</annotation></semantics></math></span></td></tr></table>',
    '| $y$ |\n| --- |',
  ],
  [
    'mathematics whose TeX is an attribute',
    '<p>If <span class="math-inline" data-math="\\mu^2"><span class="katex"><span class="katex-html" aria-hidden="true">μ2</span></span></span> then</p><div class="math-block" data-math="\\frac{a}{b}"><span class="katex-display"><span class="katex"><span class="katex-html">ab</span></span></span></div>',
    'If $\\mu^2$ then\n\n$$\n\\frac{a}{b}\n$$',
  ],
  [
    'mathematics that looks like code',
    '<div><ms-cmark-node><span>Each is </span></ms-cmark-node><ms-cmark-node><ms-katex class="inline"><pre><code class="rendered"><span class="katex"><span class="katex-mathml"><math><semantics><mrow><mn>16</mn><mo>×</mo><mn>9</mn></mrow><annotation encoding="application/x-tex">16 \\times 9</annotation></semantics></math></span></span></code></pre></ms-katex></ms-cmark-node><ms-cmark-node><strong> wide</strong></ms-cmark-node></div><ms-katex class="display"><pre><code class="rendered"><span class="katex"><math><semantics><mi>y</mi><annotation encoding="application/x-tex">y</annotation></semantics></math></span></code></pre></ms-katex>',
    'Each is $16 \\times 9$ **wide**\n\n$$\ny\n$$',
  ],
  [
    'raised and lowered numbers',
    '<p>10<sup>-6</sup> m, 2<sup>n</sup>, log<sub>2</sub>8, H<sub>2</sub>O, 1<sup>st</sup>, <sup><b>3</b></sup></p>',
    '10⁻⁶ m, 2ⁿ, log₂8, H₂O, 1st, **3**',
  ],
  [
    'citations',
    '<p>Fact<sup><a href="#fn1">1</a></sup> and more<a href="#cite-2">[2]</a><span class="cite"><a href="https://e.example/">e.example</a></span>; 10<sup>2</sup></p>',
    'Fact and more; 10²',
    ['.cite'],
  ],
  [
    'buttons and thoughts',
    '<div>Thought for 12 seconds</div><button>Copy</button><p>Answer<span role="button">Edit</span></p><p>Thought for 12 seconds</p>',
    'Answer\n\nThought for 12 seconds',
  ],
  [
    'what is not text',
    '<style>a{}</style><script>1</script><template>t</template><svg><text>s</text></svg><p hidden>h</p><h4 class="sr-only">Said:</h4><p>a<!-- c --></p>',
    'a',
  ],
  [
    'shadow trees and slots',
    '<x-a><template shadowrootmode="open"><p>in</p><slot></slot><slot name="n">else</slot></template><p>light</p></x-a>',
    'in\n\nlight\n\nelse',
  ],
  [
    'elements of unknown names',
    '<response-element><p>a <link-block><a href="https://e.example/">l</a></link-block> b</p></response-element><x-b>c</x-b>',
    'a [l](https://e.example/) b\n\nc',
  ],
  ['definitions', '<dl><dt>Ebb</dt><dd>Falling</dd></dl>', '**Ebb**\n\nFalling'],
  ['other scripts', '<p>思考時間は<strong>長い</strong>です。</p>', '思考時間は**長い**です。'],

  ['stars and underscores', '<p>2 * 3 *a* snake_case _b_ **c</p>', '2 * 3 \\*a\\* snake_case \\_b\\_ \\*\\*c'],
  [
    'what begins a line',
    '<p># a</p><p>- b</p><p>1. c</p><p>&gt; d</p><p>+ e<br>===</p><p>---</p><p>| f</p><p>2) g</p><p>#h -i 1.5</p><p>[x]: y</p>',
    '\\# a\n\n\\- b\n\n1\\. c\n\n\\> d\n\n\\+ e  \n\\===\n\n\\---\n\n\\| f\n\n2\\) g\n\n#h -i 1.5\n\n\\[x]: y',
  ],
  ['what looks like HTML', '<p>&lt;b&gt; a &lt; b &amp;amp; &amp; &lt;!-- x</p>', '\\<b> a < b \\&amp; & \\<!-- x'],
  ['what looks like links', '<p>[a](b) [c] d[0] !x</p>', '[a\\](b) [c] d[0] !x'],
  ['backslashes, backticks and tildes', '<p>C:\\dir \\* `a` ~5 ~~x~~</p>', 'C:\\dir \\\\\\* \\`a\\` ~5 \\~\\~x\\~\\~'],
  ['dollars', '<p>$5 and $6</p><p>$x$ here</p><p>\\$x$</p>', '$5 and $6\n\n\\$x\\$ here\n\n\\\\\\$x\\$'],
]
for (const [name, html, want, omit] of table)
  test(`Markdown: ${name}`, async () => assert.deepEqual(await read(html, omit), { text: want, truncated: false }))

test('hostile pages end soon, and are marked as cut', async () => {
  const deep = await read('<div>'.repeat(5000) + 'bottom')
  assert.deepEqual(deep, { text: '', truncated: true })
  const spans = await read('<p>top</p>' + '<b><i>'.repeat(400) + 'bottom')
  assert.equal(spans.truncated, true)
  const wide = await read('<p>a</p>'.repeat(120_000))
  assert.equal(wide.truncated, true)
  assert.ok(wide.text.length > 100_000 && wide.text.length < 200_000)
  const long = await read(`<p>${'€'.repeat(3_000_000)}</p><p>more</p>`)
  assert.equal(long.truncated, true)
  assert.ok(Buffer.byteLength(long.text) <= 1 << 20 && long.text.length > 300_000)
  const pre = await read(`<pre>${'x`'.repeat(2_000_000)}</pre>`)
  assert.ok(Buffer.byteLength(pre.text) <= 1 << 20 && pre.truncated)
  assert.match((await read(`<pre><code>${'\n'.repeat(200_000)}end\n\n</code></pre>`)).text, /end\n```$/)
  const cells = await read(`<table><tr>${'<td colspan=1000>x'.repeat(500)}</table>`)
  assert.ok(cells.text.length < 2000)
  const lists = await read('<ul><li>a'.repeat(2000))
  assert.ok(lists.text.length < 20_000 && lists.truncated)
  assert.ok((await read(`<p>${'*_`[]()$<&~ \\'.repeat(20_000)}</p>`)).text.length > 200_000)
  assert.ok((await read(`<p>${'$a '.repeat(100_000)}${'['.repeat(100_000)}</p>`)).text.length > 300_000)
  assert.ok(
    (await read(`<p><a href="https://e.example/">${'['.repeat(100_000)}</a>${'1'.repeat(100_000)}</p>`)).text.length >
      100_000,
  )
  const gap = ' '.repeat(1_000_000)
  for (
    const [html, least] of [
      [`<code> ${'a'.repeat(1_000_000)}</code>`, 1_000_000],
      [`<code>a${gap}b</code>`, 4],
      [`<a href="#x">${gap}b</a>`, 1],
      [`<span class="math-inline" data-math="a${gap}b"></span>`, 4],
    ] as const
  ) assert.ok((await read(`<p>${html}</p>`)).text.length >= least, html.slice(0, 30))
  console.log(`# the longest of them took ${longest.toFixed(0)} ms`)
  assert.ok(longest < 30_000, 'none takes time that grows with its square')
})

test('prefixes of nested quotes and lists count towards the bound', async () => {
  await page.evaluate(() => {
    const texts = String.prototype as { replace(...args: unknown[]): string }, { replace } = texts
    const longest = { text: 0, restore: () => texts.replace = replace }
    texts.replace = function(this: string, ...args) {
      longest.text = Math.max(longest.text, this.length)
      return replace.apply(this, args)
    }
    Object.assign(globalThis, { longest })
  })
  for (const around of ['<blockquote>', '<ul><li>', '<ul>', '<ol><li>a']) {
    const { text, truncated } = await read(around.repeat(40) + `<li><pre>${'a\n'.repeat(1 << 18)}</pre>`)
    assert.ok(text.length === 1 << 20 && truncated, around)
  }
  const longest = await page.evaluate(() => {
    const { longest } = globalThis as unknown as { longest: { text: number; restore(): void } }
    longest.restore()
    return longest.text
  })
  assert.ok(longest < 4 << 20, `a text of ${longest} characters was made`)
  assert.equal((await read('<blockquote><ul><li>a<br>b</ul></blockquote><p>c')).text, '> - a  \n>   b\n\nc')
})
