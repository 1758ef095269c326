import type { OpenedRun } from './context.ts'
import { DriverFailure, reasons } from './failure.ts'
import { clear, fieldText, focus, insert, paste, placeCaret } from './field.ts'
import { normalised } from './text.ts'

/** From this length on, inserting by command would block the page for up to a minute. */
const longPrompt = 30_000
/** The longest time until an editor sees a selection, in ms. */
const selected = 50

/**
 * Puts the prompt into the field, by the first means that works. The user's draft in the field is kept and restored
 * when the run ends. Sites restore drafts into new chats, so most runs meet one.
 */
export async function fill(run: OpenedRun): Promise<void> {
  const { order: { prompt, trustedInput }, page, waiter, takeover, signal, times } = run
  if (page.holds(prompt)) return
  // Lexical takes no text that ends with a line feed.
  const end = prompt.trimEnd()
  const text = prompt.includes('\n', end.length) ? end : prompt
  const means: ((field: HTMLElement) => void | Promise<unknown>)[] = [
    (field) => insert(field, text),
    (field) => paste(field, text),
  ]
  if (prompt.length > longPrompt) means.reverse()
  // In a hidden tab of Firefox a field that gets the focus gets no caret.
  means.push(async (field) => {
    placeCaret(field)
    await waiter.rest(selected, signal)
    paste(field, text)
  })
  if (trustedInput)
    means.push((field) => {
      focus(field)
      return run.typeTrusted(prompt)
    })
  // Editors need more time for long texts.
  const applied = times.applied + prompt.length / 50
  let isNew = true
  for (const put of means) {
    do {
      // The field has the user's text at first, and after a pause. Else it has what the last means put there.
      const again = await takeover.ended(signal)
      if (again && run.turns.ours()) return // the user has sent it
      if (again || isNew) keepDraft(run)
      isNew = false
      if (page.field && !page.fieldEmpty) await clear(page.field, () => waiter.rest(selected, signal))
      await waiter.until(() => takeover.pending || page.fieldEmpty, times.applied, signal)
    } while (takeover.pending)
    if (!page.field || !page.fieldEmpty) continue
    run.typed = true
    await put(page.field)
    if (await waiter.until(() => page.holds(prompt), applied, signal)) {
      // An editor may revert the text when it compares its own state.
      await waiter.rest(times.applied / 6, signal)
      if (page.holds(prompt)) return
    }
  }
  throw new DriverFailure('INPUT_NOT_APPLIED', reasons.input(run.spec.label))
}

/** Keeps the user's text. After a pause it may surround the prompt, if that was typed. */
function keepDraft(run: OpenedRun): void {
  const { page: { field }, order } = run
  const prompt = order.prompt.trim()
  const text = field ? fieldText(field) : ''
  const own = run.typed && text.includes(prompt) ? text.replace(prompt, '').trim() : text
  if (normalised(own) !== '') run.draft = run.draft ? `${run.draft}\n${own}` : own
}

/** Restores the user's draft if the field is empty or holds only the prompt. Does nothing during a pause. */
export async function restore({ page, order, takeover, draft, waiter, times }: OpenedRun): Promise<void> {
  const { field } = page
  if (takeover.paused || !field) return
  const { signal } = new AbortController() // the run's own may be over
  const text = normalised(fieldText(field))
  const prompt = normalised(order.prompt)
  const flat = (s: string) => s.replace(/\s+/g, '')
  if (text !== '' && !prompt.startsWith(text) && !flat(prompt).startsWith(flat(text))) return
  const empty = () => clear(field, () => waiter.rest(selected, signal))
  if (text !== '') await empty()
  if (!draft) return
  insert(field, draft)
  if (await waiter.until(() => page.holds(draft), times.applied, signal)) return
  await empty() // Lexical joins the lines
  paste(field, draft)
}
