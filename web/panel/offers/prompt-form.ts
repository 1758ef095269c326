import { html, nothing, type TemplateResult } from 'lit'
import type { RegistryContext } from '../context.ts'
import { DialogPart } from '../../ui/dialog.ts'
import { faultView } from '../../ui/fields.ts'
import { reactive } from '../../ui/part.ts'
import { clean, line } from '../../ui/text.ts'
import { flagList } from '../tools/flags-view.ts'
import type { Flag, PromptInfo, RegistryError } from '../../../wasm/js/shared/types.ts'
import './combo.ts'

/** Arguments that are shown. */
const most = 100

/** A dialog with a form for a prompt's arguments, required ones first. */
export abstract class PromptForm<Context extends RegistryContext = RegistryContext> extends DialogPart<Context> {
  static override properties = reactive('prompt', 'values', 'checked', 'making', 'fault')
  static override initial = { values: {} }
  declare prompt: PromptInfo
  /** The reason why the last attempt failed. */
  declare fault: RegistryError | undefined
  declare private values: Record<string, string>
  /** Missing values are shown after the first attempt. */
  declare private checked: boolean
  declare private making: boolean

  protected abstract get submitWord(): string
  /** Uses the prompt with the arguments that are filled in. A rejection is shown. */
  protected abstract submit(args: Record<string, string>, signal: AbortSignal): Promise<void>

  /** Buttons beside the one that submits. */
  protected actions?(): unknown

  /** The content below the form. */
  protected outcome?(): unknown

  protected get flags(): readonly Flag[] {
    return this.prompt.flags ?? []
  }

  protected heading(): TemplateResult {
    return html`<bdi>${line(this.prompt.title || this.prompt.prompt, 128)}</bdi>`
  }

  protected body(): TemplateResult {
    const { prompt: p } = this
    const outcome = this.outcome?.()
    const sorted = [...p.arguments].sort((a, b) => Number(b.required) - Number(a.required)).slice(0, most)
    return html`<form class="content" novalidate @submit=${this.send}>
      <p class="dim"><bdi>${line(p.server, 80)}</bdi> · <bdi class="mono">${line(p.prompt, 128)}</bdi></p>
      ${flagList(this.panel.words, this.flags)}
      ${
      p.description ? html`<p class="description" tabindex="0"><bdi>${clean(p.description, 4000)}</bdi></p>` : nothing
    }
      ${sorted.map((argument) => this.field(argument))}
      <p class="row"><button class="primary" aria-disabled=${!!this
      .making}>${this.submitWord}</button>${this.actions?.()}</p>
      <div role="status">${this.making ? this.panel.words('loading') : outcome && this.panel.words('answered')}</div>
      ${faultView(this.fault, this.fault?.code)}
      ${outcome}
    </form>`
  }

  private field({ name, title, description, required }: PromptInfo['arguments'][number]): TemplateResult {
    const { server, prompt } = this.prompt
    return html`<portolan-combo .panel=${this.panel} .label=${line(title || name, 80)} .hint=${
      clean(description ?? '', 500)
    } .required=${required} .wrong=${
      this.checked && required && !this.typedFor(name) ? this.panel.words('argument_missing') : undefined
    }
      .value=${this.typedFor(name)} .ask=${(value: string) => ({
      server,
      prompt,
      argument: name,
      value,
      context: this.values,
    })} @typed=${(e: CustomEvent<string>) => (this.values = { ...this.values, [name]: e.detail })}></portolan-combo>`
  }

  /** The typed text for an argument. Its name may be one that every object has. */
  private typedFor(name: string): string {
    return Object.hasOwn(this.values, name) ? this.values[name]! : ''
  }

  private readonly send = (e: Event): void => {
    e.preventDefault()
    if (this.making) return
    this.checked = true
    if (this.prompt.arguments.some((a) => a.required && !this.typedFor(a.name))) {
      void this.updateComplete.then(() => this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
      return
    }
    void this.make()
  }

  private async make(): Promise<void> {
    this.making = true
    this.fault = undefined
    try {
      const filled = Object.fromEntries(Object.entries(this.values).filter(([, value]) => value))
      await this.submit(filled, this.ends.signal)
    } catch (e) {
      this.fault = e as RegistryError
    }
    this.making = false
    await this.updateComplete
    this.querySelector('.result')?.scrollIntoView({ block: 'nearest' })
  }
}
