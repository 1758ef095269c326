import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Completion, type Look } from './completion.ts'
import { timesFor } from './times.ts'

const times = timesFor('chatgpt')

/** Looks every 100 ms from `from`; a row holds until the next row. Text grows where it says so. */
interface Row {
  at: number
  answer?: boolean
  length?: number
  stop?: boolean
  thinking?: boolean
  skip?: boolean
  end?: boolean
  idle?: boolean
}

/** When the machine ends, and how; `until` is when we give up looking. */
function play(rows: Row[], until: number): string {
  const machine = new Completion(times, 0)
  const states: string[] = []
  let look: Look = {
    now: 0,
    answer: false,
    length: 0,
    version: 0,
    stop: false,
    thinking: false,
    skip: false,
    end: false,
    idle: true,
  }
  for (let now = 0; now <= until; now += 100) {
    for (const { at, ...row } of rows) {
      if (at !== now) continue
      const length = row.length ?? look.length
      look = {
        ...look,
        ...row,
        version: look.version + (length !== look.length ? 1 : 0),
        answer: row.answer ?? (look.answer || length > 0),
      }
    }
    const verdict = machine.see({ ...look, now })
    if (verdict.state === 'complete')
      return [...states, `${now} ${verdict.confidence}: ${verdict.evidence.join(', ')}`].join(' | ')
    if (verdict.state === 'no response') return [...states, `${now} no response`].join(' | ')
    if (states.at(-1) !== verdict.state) states.push(verdict.state)
  }
  return [...states, 'open'].join(' | ')
}

const table: [name: string, rows: Row[], until: number, outcome: string][] = [
  [
    'the stop button goes and the feedback buttons come',
    [{ at: 200, stop: true }, { at: 500, length: 10 }, { at: 1000, length: 20 }, { at: 1500, stop: false, end: true }],
    20_000,
    'waiting | answering | 1500 high: stop gone, feedback buttons',
  ],
  [
    'text that comes with the feedback buttons is waited for',
    [{ at: 200, stop: true, length: 10 }, { at: 1500, stop: false, end: true, length: 30 }],
    20_000,
    'waiting | answering | 1600 high: stop gone, feedback buttons',
  ],
  [
    'feedback buttons without a stop button that was seen',
    [{ at: 500, length: 10, end: true }],
    20_000,
    'waiting | answering | 700 high: feedback buttons, stop never seen',
  ],
  [
    'the stop button goes, no other marks',
    [{ at: 200, stop: true, length: 10 }, { at: 1500, stop: false }],
    20_000,
    'waiting | answering | 5400 medium: stop gone, field empty, text stable 5.2 s',
  ],
  [
    'the stop button flickers',
    [{ at: 200, stop: true, length: 10 }, { at: 1500, stop: false }, { at: 3000, stop: true }, {
      at: 3500,
      stop: false,
      end: true,
    }],
    20_000,
    'waiting | answering | 3500 high: stop gone, feedback buttons',
  ],
  [
    'no stop button, quiet text',
    [{ at: 500, length: 10 }, { at: 900, length: 12 }],
    20_000,
    'waiting | answering | 5900 low: stop never seen, field empty, text stable 5 s',
  ],
  [
    'somebody types into the field',
    [{ at: 200, stop: true, length: 10 }, { at: 500, stop: false, idle: false }],
    20_000,
    'waiting | answering | 10400 low: stop gone, text stable 10.2 s',
  ],
  [
    'an early outline that stays while the stop button does',
    [{ at: 200, stop: true, length: 40 }, { at: 25_000, length: 20 }, { at: 26_000, stop: false, end: true }],
    40_000,
    'waiting | answering | 26000 high: stop gone, feedback buttons',
  ],
  [
    'an early outline while the site thinks, without a stop button',
    [{ at: 200, thinking: true, length: 40 }, { at: 25_000, thinking: false, length: 80 }, { at: 25_500, end: true }],
    40_000,
    'waiting | thinking | answering | 25700 high: feedback buttons, stop never seen',
  ],
  [
    '"Skip thinking" is there although all else looks complete',
    [{ at: 200, stop: true, skip: true, length: 40 }, { at: 500, stop: false, end: true }, { at: 20_000, skip: false }],
    40_000,
    'waiting | thinking | 20000 high: stop gone, feedback buttons',
  ],
  [
    'the stop button never goes, with end marks',
    [{ at: 200, stop: true, length: 40 }, { at: 1000, end: true }],
    40_000,
    'waiting | answering | 16000 low: feedback buttons, stop button stays, text stable 15.8 s',
  ],
  [
    'the stop button never goes, without end marks',
    [{ at: 200, stop: true, length: 40 }],
    400_000,
    'waiting | answering | open',
  ],
  ['nothing begins', [], 60_000, 'waiting | 30000 no response'],
  ['the stop button alone, and nothing begins', [{ at: 200, stop: true }], 60_000, 'waiting | 30000 no response'],
  [
    'an empty answer and a stop button',
    [{ at: 200, stop: true, answer: true }],
    200_000,
    'waiting | 90000 no response',
  ],
  [
    'it thinks for two minutes',
    [{ at: 200, thinking: true }, { at: 120_000, thinking: false, stop: true, length: 5 }, {
      at: 121_000,
      stop: false,
      end: true,
    }],
    200_000,
    'waiting | thinking | answering | 121000 high: stop gone, feedback buttons',
  ],
  [
    'complete without any text',
    [{ at: 200, stop: true, answer: true }, { at: 900, stop: false, end: true }],
    60_000,
    'waiting | 3000 low: stop gone, feedback buttons, no text',
  ],
  [
    'our turn leaves the page while it streams',
    [{ at: 200, stop: true, length: 40 }, { at: 900, answer: false }, { at: 2000, stop: false }],
    60_000,
    'waiting | answering | 5900 medium: stop gone, field empty, text stable 5.7 s',
  ],
]
for (const [name, rows, until, outcome] of table)
  test(`completion: ${name}`, () => assert.equal(play(rows, until), outcome))

test('completion: an answer of a thousand changes is never complete in between', () => {
  const rows: Row[] = Array.from({ length: 1000 }, (_, i) => ({ at: 200 + i * 100, length: i + 1 }))
  assert.match(
    play([{ at: 100, stop: true }, ...rows, { at: 100_500, stop: false, end: true }], 200_000),
    /100500 high/,
  )
  assert.match(play([...rows], 200_000), /105100 low: stop never seen/)
})
