import type { Scenario } from './scenario.ts'
import type { Locale } from './state.ts'

/**
 * Returns a prompt's subject: each `token:…`, else a digest of the prompt. An answer
 * quotes it, so that a test can tell a stale or foreign answer.
 */
export function subject(prompt: string): string {
  const tokens = [...prompt.matchAll(/token:([\w-]+)/g)].map(([, token]) => token!)
  if (tokens.length) return tokens.join(', ')
  let digest = 2166136261
  for (const char of prompt) digest = Math.imul(digest ^ char.codePointAt(0)!, 16777619) >>> 0
  return `d${digest.toString(16)}`
}

const opening: Record<Locale, (about: string) => string> = {
  en: (about) => `Here is what I found about ${about}.`,
  ja: (about) => `${about}について調べた結果です。`,
  de: (about) => `Das habe ich über ${about} gefunden.`,
  fr: (about) => `Voici ce que j’ai trouvé sur ${about}.`,
  es: (about) => `Esto es lo que encontré sobre ${about}.`,
  zh: (about) => `以下是我找到的关于${about}的内容。`,
}

/** Returns the thoughts of the site's model. They must never become part of the answer. */
export const thought = 'Weighing the request first. UNSPOKEN THOUGHT: none of this belongs to the answer.'

export function outline(prompt: string): string {
  return `Outline for ${subject(prompt)}:\n\n- OUTLINE ONLY: introduction\n- OUTLINE ONLY: details\n`
}

/** Returns the whole answer as Markdown. `turn` counts the conversation's turns from 1. */
export function answer(prompt: string, scenario: Scenario, locale: Locale, turn: number): string {
  if (scenario.has('empty')) return ''
  const about = subject(prompt)
  const parts = [opening[locale](about)]
  if (scenario.has('markdown')) parts.push(everything(about))
  if (scenario.has('image')) parts.push(`![A drawing of ${about}](/images/${encodeURIComponent(about)}.svg)`)
  if (scenario.has('long')) parts.push(long(about, scenario.number('long', 'kb', 64)))
  parts.push(`This was answer ${turn} of this conversation, and it ends with **${about}**.`)
  return parts.join('\n\n')
}

function long(about: string, kilobytes: number): string {
  const paragraphs: string[] = []
  for (let n = 1, size = 0; size < kilobytes * 1024; n++) {
    const paragraph =
      `Paragraph ${n} on ${about}: the harbour lies north of the cape, and a pilot who knows the shoals keeps the light on the port bow until the depth is twelve fathoms.`
    paragraphs.push(paragraph)
    size += paragraph.length + 2
  }
  return paragraphs.join('\n\n')
}

function everything(about: string): string {
  return `# Findings on ${about}

A paragraph with **bold**, *italic*, \`inline code\`, a [link](https://example.com/a?b=1&c=2) and a citation.[^1]

## A list in a list

1. First
2. Second
   - inner *one*
   - inner two
     - innermost
3. Third

- [x] done
- [ ] open

### A table

| Name | Value | Unit |
|---|---:|---|
| ${about} | 12 | kn |
| depth | \`3.5\` | m |

\`\`\`python
def greet(name):
    # two levels, and a blank line

    if name:
        print(f"Hello, {name} <b>& co</b>")
\`\`\`

\`\`\`
no language
\`\`\`

> A quotation
> of two lines, with **weight**.

Inline math $e^{i\\pi} + 1 = 0$, and a display:

$$
\\int_0^1 x^2 \\, dx = \\frac{1}{3}
$$

---

![A chart of ${about}](/images/${encodeURIComponent(about)}.svg)`
}
