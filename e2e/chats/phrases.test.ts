import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aistudio, gemini, words as chatgpt } from '../sites/page/words.ts'
import { locales } from '../sites/state.ts'
import { spoken } from '../../extension/chats/driver/text.ts'
import * as phrases from '../../extension/chats/sites/phrases.ts'

for (const locale of locales)
  test(`phrases: what the sites say in ${locale} is known`, () => {
    for (
      const said of [chatgpt[locale], { ...chatgpt[locale], ...gemini[locale] }, {
        ...chatgpt[locale],
        ...aistudio[locale],
      }]
    ) {
      for (
        const [name, list] of [
          ['stop', phrases.stop],
          ['send', phrases.send],
          ['run', phrases.send],
          ['skip', phrases.skip],
          ['thinking', phrases.thinking],
          ['good', phrases.feedback],
          ['bad', phrases.feedback],
        ] as const
      ) {
        assert.ok(list.includes(spoken(said[name])), `${name}: ${spoken(said[name])}`)
      }
      for (
        const [name, list] of [['expired', phrases.expired], ['rateLimited', phrases.rateLimited], [
          'network',
          phrases.network,
        ]] as const
      ) {
        const found = Object.entries({
          expired: phrases.expired,
          rateLimited: phrases.rateLimited,
          network: phrases.network,
        })
          .filter(([, l]) => l.some((word) => spoken(said[name]).includes(word)))
        assert.deepEqual(found, [[name, list]])
      }
      for (const note of [said.thoughtFor.replace('{n}', '12'), said.showThinking]) assert.match(note, phrases.notes)
      for (const text of [said.copy, said.welcome, said.network]) assert.doesNotMatch(text, phrases.notes)
    }
  })

test('phrases: lists are as spoken, and a list of names has none of another', () => {
  const lists = Object.entries(phrases).filter((entry): entry is [string, string[]] =>
    Array.isArray(entry[1]) && typeof entry[1][0] === 'string'
  )
  for (const [name, list] of lists) for (const word of list) assert.equal(word, spoken(word), name)
  const names = [phrases.stop, phrases.send, phrases.skip, phrases.feedback, phrases.thinking].flat()
  assert.equal(new Set(names).size, names.length)
})

test('phrases: a note about the thinking is no part of an answer, and an answer that begins as one is none', () => {
  for (
    const note of [
      ...['Thinking', 'Thinking…', 'Thinking for 12 seconds', 'Thinking time: 5 s', '**Thinking**', 'Show thinking'],
      ...['12 seconds', '1m 3s', '5s', 'a second', 'a couple of seconds', 'a moment'].map((t) => `Thought for ${t}`),
    ]
  ) assert.match(note, phrases.notes)
  for (
    const answer of ['Thinking, Fast and Slow', '**Thinking in Systems**', 'Thinking is free.', 'Thought for the Day']
  ) assert.doesNotMatch(answer, phrases.notes)
})
