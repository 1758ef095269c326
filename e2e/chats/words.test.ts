import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aistudio, gemini, words as chatgpt } from '../sites/page/words.ts'
import { locales } from '../sites/state.ts'
import { spoken } from '../../extension/chats/driver/text.ts'
import * as words from '../../extension/chats/words.ts'

for (const locale of locales)
  test(`words: what the sites say in ${locale} is known`, () => {
    for (
      const said of [chatgpt[locale], { ...chatgpt[locale], ...gemini[locale] }, {
        ...chatgpt[locale],
        ...aistudio[locale],
      }]
    ) {
      for (
        const [name, list] of [
          ['stop', words.stop],
          ['send', words.send],
          ['run', words.send],
          ['skip', words.skip],
          ['thinking', words.thinking],
          ['good', words.good],
          ['bad', words.good],
        ] as const
      ) {
        assert.ok(list.includes(spoken(said[name])), `${name}: ${spoken(said[name])}`)
      }
      for (
        const [name, list] of [['expired', words.expired], ['rateLimited', words.rateLimited], [
          'network',
          words.network,
        ]] as const
      ) {
        const found = Object.entries({ expired: words.expired, rateLimited: words.rateLimited, network: words.network })
          .filter(([, l]) => l.some((word) => spoken(said[name]).includes(word)))
        assert.deepEqual(found, [[name, list]])
      }
      for (const note of [said.thoughtFor.replace('{n}', '12'), said.showThinking]) assert.match(note, words.notes)
      for (const text of [said.copy, said.welcome, said.network]) assert.doesNotMatch(text, words.notes)
    }
  })

test('words: lists are as spoken, and a list of names has none of another', () => {
  const lists = Object.entries(words).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]))
  for (const [name, list] of lists) for (const word of list) assert.equal(word, spoken(word), name)
  const names = [words.stop, words.send, words.skip, words.good, words.thinking].flat()
  assert.equal(new Set(names).size, names.length)
})
