import { asked, DriverFailure } from './failure.ts'
import { clear, fieldText, focus, insert, paste } from './field.ts'
import { fieldEmpty, fieldOf, holdsPrompt, type Set } from './stage.ts'
import { normalised } from './text.ts'

const long = 30_000

/**
 * Puts the prompt into the field by the first means after which the field holds all
 * of it. What the person had written there is kept, and put back when the run ends:
 * sites restore drafts into new chats, so refusing them would refuse most runs.
 */
export async function fill(set: Set): Promise<void> {
  const { order, pulse, person, signal, times } = set
  if (holdsPrompt(set)) return
  keepDraft(set)
  const means: ((field: HTMLElement) => void | Promise<unknown>)[] = [
    (field) => insert(field, order.prompt),
    (field) => paste(field, order.prompt),
  ]
  // A thousand lines inserted by command would hold the page for a minute.
  if (order.prompt.length > long) means.reverse()
  if (order.trustedInput) means.push((field) => { focus(field); return set.trusted(order.prompt) })
  // Editors take their time over long texts.
  const applied = times.applied + order.prompt.length / 50
  for (const put of means) {
    await person.hold(signal)
    if (!await emptied(set)) continue
    const field = fieldOf(set)
    if (!field) continue
    await put(field)
    if (await pulse.until(() => holdsPrompt(set), applied, signal)) {
      // An editor may take it back when it compares its own state.
      await pulse.rest(times.applied / 6, signal)
      if (holdsPrompt(set)) return
    }
  }
  throw new DriverFailure('INPUT_NOT_APPLIED', asked.input(set.profile.label))
}

/** After a pause the person's words may stand around our prompt. */
function keepDraft(set: Set): void {
  const field = fieldOf(set)
  const text = field ? fieldText(field) : ''
  const own = text.includes(set.order.prompt) ? text.replace(set.order.prompt, '').trim() : text
  if (normalised(own) !== '') set.draft = set.draft ? `${set.draft}\n${own}` : own
}

async function emptied(set: Set): Promise<boolean> {
  const field = fieldOf(set)
  if (!field) return false
  if (!fieldEmpty(set)) clear(field)
  return await set.pulse.until(() => fieldEmpty(set), set.times.applied, set.signal) ?? false
}

/** Leaves the field as the person had it, if only our prompt or nothing is in it. Makes no attempt while the person has the tab. */
export function restore(set: Set): void {
  if (set.person.paused) return
  const field = fieldOf(set)
  if (!field) return
  const text = normalised(fieldText(field))
  const prompt = normalised(set.order.prompt)
  if (text !== '' && !prompt.startsWith(text) && !flat(prompt).startsWith(flat(text))) return
  if (text !== '') clear(field)
  if (set.draft) insert(field, set.draft)
}

const flat = (text: string) => text.replace(/\s+/g, '')
