import { asked, DriverFailure } from './failure.ts'
import { clear, fieldText, focus, insert, paste } from './field.ts'
import { fieldEmpty, fieldOf, holdsPrompt, type Scene } from './stage.ts'
import { normalised } from './text.ts'

const long = 30_000

/**
 * Puts the prompt into the field by the first means after which the field holds all
 * of it. What the person had written there is kept, and put back when the run ends:
 * sites restore drafts into new chats, so refusing them would refuse most runs.
 */
export async function fill(scene: Scene): Promise<void> {
  const { order, pulse, person, signal, times } = scene
  if (holdsPrompt(scene)) return
  keepDraft(scene)
  const means: ((field: HTMLElement) => void | Promise<unknown>)[] = [
    (field) => insert(field, order.prompt),
    (field) => paste(field, order.prompt),
  ]
  // A thousand lines inserted by command would hold the page for a minute.
  if (order.prompt.length > long) means.reverse()
  if (order.trustedInput)
    means.push((field) => {
      focus(field)
      return scene.trusted(order.prompt)
    })
  // Editors take their time over long texts.
  const applied = times.applied + order.prompt.length / 50
  for (const put of means) {
    await person.hold(signal)
    if (!await emptied(scene)) continue
    const field = fieldOf(scene)
    if (!field) continue
    await put(field)
    if (await pulse.until(() => holdsPrompt(scene), applied, signal)) {
      // An editor may take it back when it compares its own state.
      await pulse.rest(times.applied / 6, signal)
      if (holdsPrompt(scene)) return
    }
  }
  throw new DriverFailure('INPUT_NOT_APPLIED', asked.input(scene.profile.label))
}

/** After a pause the person's words may stand around our prompt. */
function keepDraft(scene: Scene): void {
  const field = fieldOf(scene)
  const text = field ? fieldText(field) : ''
  const own = text.includes(scene.order.prompt) ? text.replace(scene.order.prompt, '').trim() : text
  if (normalised(own) !== '') scene.draft = scene.draft ? `${scene.draft}\n${own}` : own
}

async function emptied(scene: Scene): Promise<boolean> {
  const field = fieldOf(scene)
  if (!field) return false
  if (!fieldEmpty(scene)) clear(field)
  return await scene.pulse.until(() => fieldEmpty(scene), scene.times.applied, scene.signal) ?? false
}

/**
 * Leaves the field as the person had it, if only our prompt or nothing is in it. Makes no attempt while the person has
 * the tab.
 */
export function restore(scene: Scene): void {
  if (scene.person.paused) return
  const field = fieldOf(scene)
  if (!field) return
  const text = normalised(fieldText(field))
  const prompt = normalised(scene.order.prompt)
  if (text !== '' && !prompt.startsWith(text) && !flat(prompt).startsWith(flat(text))) return
  if (text !== '') clear(field)
  if (scene.draft) insert(field, scene.draft)
}

const flat = (text: string) => text.replace(/\s+/g, '')
