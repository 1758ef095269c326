import { html, nothing, type TemplateResult } from 'lit'
import { PanelDialog } from '../context.ts'
import { define, reactive } from '../../ui/part.ts'
import { flag as flagIcon } from '../../ui/icons.ts'
import { copy } from '../../ui/save.ts'
import { clean, line } from '../../ui/text.ts'
import { blockView } from '../tool/result.ts'
import { flagList } from '../tools/flags-view.ts'
import type { PromptInfo, PromptResult, RegistryError } from '../../../wasm/js/shared/types.ts'
import { OfferList } from './list.ts'
import './combo.ts'

/** Prompts by server. */
class PromptsView extends OfferList<PromptInfo> {
  protected readonly counts = ['promptCount'] as const
  protected readonly words = { search: 'search_prompts', none: 'no_prompts' } as const

  protected load(): Promise<PromptInfo[]> {
    return this.panel.registry.prompts()
  }

  protected keyOf(prompt: PromptInfo): string {
    return prompt.name
  }

  protected row(prompt: PromptInfo): TemplateResult {
    return html`<button type="button" class="quiet about" @click=${() => this.panel.show({ kind: 'prompt', prompt })}>
        <span><bdi>${line(prompt.title || prompt.prompt, 128)}</bdi></span>
        <span class="dim clip"><bdi>${clean(prompt.description ?? prompt.prompt, 160)}</bdi></span>
      </button>
      ${
      prompt.flags?.length
        ? html`<span class="badge warn">${flagIcon}<span>${this.t('flags_title')}</span></span>`
        : nothing
    }`
  }
}

/** A prompt: a form for its arguments, and its messages. */
class PromptDialog extends PanelDialog {
  static override properties = reactive('prompt', 'values', 'result', 'checked', 'making', 'fault')
  static override initial = { values: {} }
  declare prompt: PromptInfo
  declare private values: Record<string, string>
  declare private result: PromptResult | undefined
  /** What is missing is shown after the first attempt. */
  declare private checked: boolean
  declare private making: boolean
  declare private fault: RegistryError | undefined
  protected override wide = true
  private readonly ends = new AbortController()

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.ends.abort()
  }

  protected heading(): TemplateResult {
    return html`<bdi>${line(this.prompt.title || this.prompt.prompt, 128)}</bdi>`
  }

  protected body(): TemplateResult {
    const { prompt: p, result } = this
    return html`<form class="content" novalidate @submit=${this.send}>
      <p class="dim"><bdi>${line(p.server, 80)}</bdi> · <bdi class="mono">${line(p.prompt, 128)}</bdi></p>
      ${flagList(this.panel.words, [...(p.flags ?? []), ...(result?.flags ?? [])])}
      ${p.description ? html`<p class="description"><bdi>${clean(p.description, 4000)}</bdi></p>` : nothing}
      ${p.arguments.map((argument) => this.field(argument))}
      <p class="row"><button class="primary" ?disabled=${this.making}>${this.t('make_messages')}</button>
        ${
      result
        ? html`<button type="button" @click=${() => copy(this.panel, textOf(result))}>${this.t('copy')}</button>`
        : nothing
    }</p>
      <div role="status">${this.making ? this.t('loading') : nothing}</div>
      ${
      this.fault
        ? html`<div class="hint bad" role="alert"><p>${clean(this.fault.message, 500)}</p>${
          this.fault.hint ? html`<p>${clean(this.fault.hint, 500)}</p>` : nothing
        }</div>`
        : nothing
    }
      ${
      result
        ? html`<section class="result" aria-label=${this.t('result')}>${
          result.messages.map(({ role, content }) =>
            html`<div class="block"><h3>${this.t(`role_${role}`)}</h3>${
              blockView(this.panel, content, undefined)
            }</div>`
          )
        }</section>`
        : nothing
    }
    </form>`
  }

  private field({ name, title, description, required }: PromptInfo['arguments'][number]): TemplateResult {
    const { server, prompt } = this.prompt
    return html`<portolan-combo .panel=${this.panel} .label=${line(title || name, 80)} .hint=${
      clean(description ?? '', 500)
    } .required=${required} .wrong=${
      this.checked && required && !this.values[name] ? this.t('argument_missing') : undefined
    }
      .value=${this.values[name] ?? ''} .ask=${(value: string) => ({
      server,
      prompt,
      argument: name,
      value,
      context: this.values,
    })} @typed=${(e: CustomEvent<string>) => (this.values = { ...this.values, [name]: e.detail })}></portolan-combo>`
  }

  private readonly send = (e: Event): void => {
    e.preventDefault()
    this.checked = true
    if (this.prompt.arguments.some((a) => a.required && !this.values[a.name])) {
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
      this.result = await this.panel.registry.getPrompt(this.prompt.name, filled, { signal: this.ends.signal })
    } catch (e) {
      this.result = undefined
      this.fault = e as RegistryError
    }
    this.making = false
  }
}

/** The messages as one text: that of their blocks, or JSON if there is another kind of block. */
function textOf({ messages }: PromptResult): string {
  return messages.every((m) => m.content.type === 'text')
    ? messages.map((m) => String(m.content['text'])).join('\n\n')
    : JSON.stringify(messages, null, 2)
}

define('portolan-prompt-list', PromptsView)
define('portolan-prompt', PromptDialog)
