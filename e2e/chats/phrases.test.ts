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
