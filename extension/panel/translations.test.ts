import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { directionOf, type Message } from '../../web/ui/translations.ts'
import { en as settings } from '../../web/panel/translations.ts'
import ar from './locales/ar.ts'
import pseudo from './locales/pseudo.ts'
import { en, wordsOf } from './translations.ts'
import { languageOf } from './language.ts'

const english = en as Record<string, Message>
const placesIn = (m: Message) =>
  [
    ...new Set(
      (typeof m === 'string' ? [m] : Object.values(m)).flatMap((t) => [...t.matchAll(/\{(\w+)\}/g)].map((x) => x[1]!)),
    ),
  ].sort()

test('no message has the key of one of the settings panel', () => {
  assert.deepEqual(Object.keys(english).filter((key) => key in settings), [])
})

test('each locale has every message, and no place that English lacks', () => {
  for (const [name, messages] of Object.entries({ ar, pseudo }) as [string, Record<string, Message>][]) {
    assert.deepEqual(Object.keys(messages).sort(), Object.keys(english).sort(), name)
    for (const [key, message] of Object.entries(messages)) {
      for (const place of placesIn(message))
        assert.ok(placesIn(english[key]!).includes(place), `${name} ${key}: {${place}}`)
      if (typeof message === 'object') assert.ok('other' in message, `${name} ${key}`)
    }
  }
})

test('every message is said somewhere', () => {
  const sources = readdirSync(import.meta.dirname).filter((f) =>
    f.endsWith('.ts') && !/\.test\.ts$|^translations\.ts$/.test(f)
  ).map((f) => readFileSync(`${import.meta.dirname}/${f}`, 'utf8')).join('\n')
  const made = [...sources.matchAll(/`(\w+_)\$\{[^`]*?\}(\w*)`/g)].map((m) => [m[1]!, m[2]!] as const)
  assert.deepEqual(
    Object.keys(english).filter((key) =>
      !sources.includes(`'${key}'`) && !made.some(([a, b]) => key.startsWith(a) && key.endsWith(b))
    ),
    [],
  )
})

test('the first wanted language that there are words for is taken, with its direction', async () => {
  const nobody = await languageOf(['de-DE', 'fr'])
  assert.equal(nobody.tag, 'en')
  assert.equal((await languageOf(['de', 'en-GB', 'ar'])).tag, 'en-GB')
  const arabic = await languageOf(['ar-EG'])
  assert.equal(directionOf(arabic.tag), 'rtl')
  assert.notEqual(wordsOf(arabic.tag, arabic.own)('stop_all'), en.stop_all)
  assert.notEqual(wordsOf(arabic.tag, arabic.own)('cancel'), settings.cancel, "what both say is the settings panel's")
  assert.equal((await languageOf(['constructor'])).tag, 'en')
})
