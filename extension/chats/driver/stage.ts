import type { Layout, SiteProfile } from '../profile.ts'
import type { Answer, FromDriver, Order, Phase } from '../wire.ts'
import type { Deep } from './deep.ts'
import { fieldText } from './field.ts'
import { field } from './layout.ts'
import { composer, marked } from './mark.ts'
import type { Person } from './person.ts'
import type { Pulse } from './pulse.ts'
import { normalised } from './text.ts'
import type { Times } from './times.ts'
import type { Turns } from './turns.ts'

/** What the steps of one run share. */
export interface Stage {
  readonly order: Order
  readonly profile: SiteProfile
  readonly times: Times
  readonly deep: Deep
  readonly pulse: Pulse
  readonly person: Person
  readonly signal: AbortSignal
  post(message: FromDriver): void
  phase(phase: Phase): void
  /** Trusted input into the focused field; false: it could not be given. */
  trusted(text: string): Promise<boolean>
  /** Assist: the person gave the answer over since the last look. */
  handed: boolean
  /** What the person had written in the field before. */
  draft: string
}

/** A run once its layout is known. */
export interface Set extends Stage {
  readonly layout: Layout
  readonly turns: Turns
}

export type Completed = Pick<Answer, 'answer' | 'confidence' | 'evidence' | 'truncated'>

export const fieldOf = (set: Pick<Set, 'deep' | 'layout'>) => field(set.deep, set.layout)

const composerOf = (set: Pick<Set, 'deep' | 'layout'>) => {
  const input = fieldOf(set)
  return input ? composer(input, set.deep) : null
}

export const stopButtons = (set: Pick<Set, 'deep' | 'layout'>) => marked(set.deep, set.layout.stop, composerOf(set))
export const sendButtons = (set: Pick<Set, 'deep' | 'layout'>) => marked(set.deep, set.layout.send, composerOf(set))

/** Whether the field holds the whole prompt and nothing else. */
export function holdsPrompt(set: Set): boolean {
  const input = fieldOf(set)
  return input !== undefined && normalised(fieldText(input)) === normalised(set.order.prompt)
}

export function fieldEmpty(set: Set): boolean {
  const input = fieldOf(set)
  return input === undefined || normalised(fieldText(input)) === ''
}
