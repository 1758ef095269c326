import { html, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { freshId, reactive } from '../../web/ui/part.ts'
import { originOf, type OriginProblem } from './permissions.ts'

/** A part with a form for the origin of a page. */
export abstract class OriginPart extends AppPart {
  static override properties = reactive('problem')
  declare private problem: OriginProblem | undefined
  protected readonly id_ = freshId()

  /** Uses an origin, in the click's own handler. Returns whether it succeeded. */
  protected abstract take(origin: string): Promise<boolean>

  protected form(label: string, button: string): TemplateResult {
    const id = this.id_
    return html`<form class="row" novalidate @submit=${this.add}>
        <div class="field grow"><label for="${id}-add">${label}</label>
          <input id="${id}-add" name="origin" dir="ltr" inputmode="url" spellcheck="false" autocomplete="off"
            placeholder="https://app.example" aria-invalid=${!!this
      .problem} aria-describedby="${id}-fault" @input=${() => (this.problem = undefined)}></div>
        <button class="end">${button}</button>
      </form>
      <div id="${id}-fault" role="alert">${
      this.problem ? html`<p class="hint bad">${this.t(`origin_${this.problem}`)}</p>` : ''
    }</div>`
  }

  private async add(event: Event): Promise<void> {
    event.preventDefault()
    const input = this.querySelector<HTMLInputElement>('[name=origin]')!
    const read = originOf(input.value)
    if ('problem' in read) {
      this.problem = read.problem
      if (read.origin) input.value = read.origin // what would be used, to be looked at
      return input.focus()
    }
    if (await this.take(read.origin)) input.value = ''
  }
}
