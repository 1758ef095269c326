import type { ModelPicker } from '../sites/site.ts'
import type { OpenedRun } from './context.ts'
import { DriverFailure, reasons } from './failure.ts'
import { enabled, pressable, visible } from './matcher.ts'
import { spoken } from './text.ts'

const mostModels = 50
const longestName = 80

interface Offered {
  id?: string
  name: string
  element: Element
}

/** Chooses a model by the name or the id that the page's picker gives it. Fails with the list of what it offers. */
export async function chooseModel(run: OpenedRun, model: string): Promise<void> {
  const { spec: { label }, page: { layout: { model: picker } }, waiter, signal, times } = run
  const wanted = spoken(model)
  const fail = (models: string[]) =>
    new DriverFailure('MODEL_UNAVAILABLE', reasons.model(label, model.slice(0, 100), models), { models })
  if (!picker) throw fail([])
  const offered = await open(run, picker)
  const names = offered.map(shown)
  if (names.length) run.post({ type: 'models', models: names })
  const found = offered.find((o) => [o.id, o.name, shown(o)].some((name) => name && spoken(name) === wanted))
  if (!found || !enabled(found.element)) {
    await close(run, picker)
    throw fail(names)
  }
  pressable(found.element).click()
  const taken = () => {
    const text = spoken(opener(run, picker)?.textContent ?? '')
    return text.includes(spoken(found.name)) || (found.id !== undefined && text.includes(spoken(found.id)))
  }
  if (!await waiter.until(taken, 5 * times.applied, signal)) throw fail(names)
  if (options(run, picker).length) await close(run, picker)
}

/** Reads the models that the page offers, for the tool's description. */
export async function readModels(run: OpenedRun): Promise<void> {
  const { model: picker } = run.page.layout
  if (!picker) return
  const offered = await open(run, picker)
  await close(run, picker)
  if (offered.length) run.post({ type: 'models', models: offered.map(shown) })
}

/** Returns the model that answered: by the answer itself, else by the picker. */
export function answeredBy(run: OpenedRun, answers: Element[]): string | null {
  const { dom, page: { layout } } = run
  const { answeredBy: mark, model: picker } = layout
  const marked = mark && answers.flatMap((el) => [
    ...(el.matches(mark.selector.join(',')) ? [el] : []),
    ...dom.first(mark.selector, undefined, el),
  ])
  const name = marked?.at(-1)?.getAttribute(mark!.attribute) ?? (picker && line(opener(run, picker)))
  return name?.slice(0, longestName) || null
}

const shown = ({ id, name }: Offered) => (id && id !== name ? `${id} (${name})` : name)

const opener = ({ dom }: OpenedRun, { open }: ModelPicker) => dom.first(open, visible)[0] as HTMLElement | undefined

const options = ({ dom }: OpenedRun, { option }: ModelPicker) => dom.first(option, visible)

/** Opens the picker, and returns what it offers. Without a picker on the page the list is empty. */
async function open(run: OpenedRun, picker: ModelPicker): Promise<Offered[]> {
  const { waiter, signal, times } = run
  const button = opener(run, picker)
  if (!button) return []
  const there = () => options(run, picker).length > 0
  if (!there()) {
    // Menus of Radix open when the pointer goes down, others with the click.
    const at = { bubbles: true, composed: true, cancelable: true, button: 0, pointerType: 'mouse' }
    button.dispatchEvent(new PointerEvent('pointerdown', at))
    button.dispatchEvent(new PointerEvent('pointerup', at))
    if (!there()) await waiter.rest(times.applied / 6, signal)
    if (!there()) button.click()
    await waiter.until(there, 5 * times.applied, signal)
  }
  return options(run, picker).slice(0, mostModels).map((element) => {
    const named = picker.name && run.dom.first(picker.name, undefined, element)[0]
    const id = picker.id && new RegExp(picker.id.pattern).exec(element.getAttribute(picker.id.attribute) ?? '')?.[1]
    return { element, name: line(named ?? element) ?? '', ...(id && { id: id.slice(0, longestName) }) }
  })
}

/** Closes the picker by Escape, else by its button. */
async function close(run: OpenedRun, picker: ModelPicker): Promise<void> {
  const { dom, waiter, signal, times } = run
  const gone = () => options(run, picker).length === 0
  if (gone()) return
  const target = dom.document.activeElement ?? dom.document.body
  const key = { key: 'Escape', code: 'Escape', bubbles: true, composed: true, cancelable: true }
  target.dispatchEvent(new KeyboardEvent('keydown', key))
  if (await waiter.until(gone, times.applied, signal)) return
  opener(run, picker)?.click()
  await waiter.until(gone, times.applied, signal)
}

/** Returns the first text in an element, in one line. Names stand above their descriptions. */
function line(el: Element | undefined): string | undefined {
  if (!el) return undefined
  const texts = el.ownerDocument.createTreeWalker(el, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const text = (node.nodeValue ?? '').replace(/\s+/g, ' ').trim()
    if (text) return text.slice(0, longestName)
  }
  return undefined
}
