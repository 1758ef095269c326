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
  /** What did not go as ordered, for the answer's evidence. */
  readonly notes: string[]
  /** What the person had written in the field before. */
  draft: string
}

/** A run once its layout is known. */
export interface Scene extends Stage {
  readonly layout: Layout
  readonly turns: Turns
}

export type Completed = Pick<Answer, 'answer' | 'confidence' | 'evidence' | 'truncated'>

export const fieldOf = (scene: Pick<Scene, 'deep' | 'layout'>) => field(scene.deep, scene.layout)

const composerOf = (scene: Pick<Scene, 'deep' | 'layout'>) => {
  const input = fieldOf(scene)
  return input ? composer(input, scene.deep) : null
}

export const stopButtons = (scene: Pick<Scene, 'deep' | 'layout'>) =>
  marked(scene.deep, scene.layout.stop, composerOf(scene))
export const sendButtons = (scene: Pick<Scene, 'deep' | 'layout'>) =>
  marked(scene.deep, scene.layout.send, composerOf(scene))

/** Whether the field holds the whole prompt and nothing else. */
export function holdsPrompt(scene: Scene): boolean {
  const input = fieldOf(scene)
  return input !== undefined && normalised(fieldText(input)) === normalised(scene.order.prompt)
}

export function fieldEmpty(scene: Scene): boolean {
  const input = fieldOf(scene)
  return input === undefined || normalised(fieldText(input)) === ''
}
