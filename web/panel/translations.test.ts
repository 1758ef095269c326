import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { directionOf, type Message } from '../ui/translations.ts'
import { appWords } from './app-words.ts'
import ar from './locales/ar.ts'
import pseudo from './locales/pseudo.ts'
import { runWords } from './run-words.ts'
import { en, wordsOf } from './translations.ts'

const english: Record<string, Message> = { ...en, ...runWords, ...appWords }
const placesIn = (m: Message) =>
  [
    ...new Set(
      (typeof m === 'string' ? [m] : Object.values(m)).flatMap((t) => [...t.matchAll(/\{(\w+)\}/g)].map((x) => x[1]!)),
    ),
  ].sort()

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

test('every message is said somewhere, and every code has its words', () => {
  const sources = ['.', '../ui', '../prompts', '../run/element', '../apps'].map((folder) =>
    `${import.meta.dirname}/${folder}`
  )
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((f) => f.endsWith('.ts') && !f.includes('.test.') && !/^locales|translations\.ts$|-words\.ts$/.test(f))
        .map((f) => readFileSync(`${folder}/${f}`, 'utf8'))
    ).join('\n')
  const made = [...sources.matchAll(/`(\w*)\$\{[^`]*?\}(\w*)`/g)].map((m) => [m[1]!, m[2]!] as const).filter(([a, b]) =>
    a || b
  )
  const unsaid = Object.keys(english).filter((key) =>
    !sources.includes(`'${key}'`) && !/Hint_(true|false)$/.test(key) &&
    !made.some(([a, b]) => key.startsWith(a) && key.endsWith(b))
  )
  assert.deepEqual(unsaid, [])
  const codes: [prefix: string, pattern: RegExp][] = [
    ['lint', /say\('(\w+)'/g],
    ['lint', /lints\.push\(\{ code: '(\w+)'/g],
    ['problem', /(?:fail|nothing)\('(\w+)'/g],
    ['problem', /problem: \{ code: '(\w+)'/g],
    ['field', /add\(path, '(\w+)'/g],
    ['no_form', /reason: '(json|big_number|type|unknown_member|no_option)'/g],
  ]
  for (const [prefix, pattern] of codes)
    for (const [, code] of sources.matchAll(pattern)) assert.ok(`${prefix}_${code}` in english, `${prefix}_${code}`)
})

test('a message that counts things has a form for one', () => {
  const counting = Object.entries(english).filter(([, m]) => typeof m === 'string' && /\{n\} [a-z]+s\b/.test(m))
  assert.deepEqual(counting.map(([key]) => key), ['problem_too_many']) // a limit of 500
})

test('plurals, numbers and times follow the locale', () => {
  const t = wordsOf('en')
  assert.equal(t('tokens', { n: 1 }), '≈ 1 token')
  assert.equal(t('tokens', { n: 1234.56 }), '≈ 1,234.6 tokens')
  assert.equal(wordsOf('ar', ar)('tokens', { n: 2 }), '≈ رمزان')
  assert.deepEqual([0.234, 31.4, 1400, 65_000, 200_000].map(t.duration), [
    '0.2 ms',
    '31 ms',
    '1.4 sec',
    '1 min',
    '3 min',
  ])
  assert.equal(wordsOf('de', {})('tokens', { n: 1234.5 }), '≈ 1.234,5 tokens')
  assert.deepEqual([t.ago(0, 0), t.ago(0, 3 * 60_000), t.ago(0, 5 * 3_600_000)], [
    'now',
    '3 minutes ago',
    '5 hours ago',
  ])
})

test('the script of a locale has its direction', () => {
  const directions = ['ar', 'he', 'fa', 'ckb', 'sd', 'ug', 'pa-Arab', 'dv', 'yi', 'en', 'de-CH', 'pa', 'ku', 'ar-Latn']
    .map((tag) => `${tag} ${directionOf(wordsOf(tag).locale)}`)
  const rtl = ['ar', 'he', 'fa', 'ckb', 'sd', 'ug', 'pa-Arab', 'dv', 'yi']
  assert.deepEqual(directions.filter((d) => d.endsWith('rtl')), rtl.map((tag) => `${tag} rtl`))
})

test('a locale that is none is English; a message that is none is its code', () => {
  for (const tag of ['', 'en_US', 'not a locale', '💥']) assert.match(wordsOf(tag).locale, /^en/)
  assert.equal(wordsOf('en')('no_such_code' as never), 'no_such_code')
})
