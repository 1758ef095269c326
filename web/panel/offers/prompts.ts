import { html, nothing, type TemplateResult } from 'lit'
import type { PanelContext } from '../context.ts'
import { define, reactive } from '../../ui/part.ts'
import { copy } from '../../ui/save.ts'
import { clean, line } from '../../ui/text.ts'
import { wordDiff } from '../review/diff.ts'
import { stretch } from '../review/stretch.ts'
import { blockView } from '../tool/result.ts'
import { flagList } from '../tools/flags-view.ts'
import type { Flag, PromptInfo, PromptResult } from '../../../wasm/js/shared/types.ts'
import { OfferList } from './list.ts'
import { PromptForm } from './prompt-form.ts'

/** Prompts by server. */
class PromptsView extends OfferList<PromptInfo> {
  protected readonly counts = ['promptCount'] as const
  protected readonly kind = 'prompts'

  protected async load(): Promise<PromptInfo[]> {
    const { registry } = this.panel
    const prompts = await registry.prompts()
    return [...await registry.prompts({ held: true }), ...prompts]
  }

  protected keyOf(prompt: PromptInfo): string {
    return prompt.name
  }

  protected row(prompt: PromptInfo): TemplateResult {
    return html`<button type="button" class="quiet about" @click=${() => this.panel.show({ kind: 'prompt', prompt })}>
        <span><bdi>${line(prompt.title || prompt.prompt, 128)}</bdi></span>
        <span class="dim clip" dir="auto">${clean(prompt.description ?? prompt.prompt, 160)}</span>
      </button>
      ${prompt.held ? html`<span class="badge warn">${this.t(`prompt_${prompt.held}`)}</span>` : nothing}`
  }
}

/** A prompt: a form for its arguments, and its messages. */
class PromptDialog extends PromptForm<PanelContext> {
  static override properties = reactive('result')
  declare private result: PromptResult | undefined
  protected override wide = true

  protected get submitWord(): string {
    return this.t('make_messages')
  }

  protected override body(): TemplateResult {
    const { held, pin, before, server, name } = this.prompt
    if (!held) return super.body()
    const approve = async () => {
      const { registry } = this.panel
      const isOver = await this.panel.run(async () => {
        // Its server may have changed it since: the person approves what is shown.
        const now = (await registry.prompts({ held: true })).find((p) => p.server === server && p.name === name)
        if (now && now.pin !== pin) {
          this.panel.show({ kind: 'prompt', prompt: now })
          return false
        }
        await registry.approvePrompts(server, [`pin:${pin}`])
        return true
      })
      if (isOver) this.close()
    }
    return html`<div class="content">
      <p>${this.t(`held_${held}`)} ${this.t('prompt_held_why')}</p>
      ${flagList(this.panel.words, this.flags)}
      <div class="diff" tabindex="0" role="group" aria-label=${this.t('view_prompts')} dir="auto">${
      wordDiff(before ? wordsOf(before) : '', wordsOf(this.prompt)).map(stretch)
    }</div>
      <footer><button type="button" @click=${() => this.close()}>${this.t('review_later')}</button>
        <button type="button" class="primary" @click=${approve}>${this.t('approve')}</button></footer>
    </div>`
  }

  protected override get flags(): readonly Flag[] {
    return [...super.flags, ...(this.result?.flags ?? [])]
  }

  protected override actions(): unknown {
    const { result } = this
    return result
      ? html`<button type="button" @click=${() => copy(this.panel, textOf(result))}>${this.t('copy')}</button>`
      : nothing
  }

  protected override outcome(): unknown {
    return this.result &&
      html`<section class="result" aria-label=${this.t('result')}>${
        this.result.messages.map(({ role, content }) =>
          html`<div class="block"><h3>${this.t(`role_${role}`)}</h3>${blockView(this.panel, content)}</div>`
        )
      }</section>`
  }

  protected async submit(args: Record<string, string>, signal: AbortSignal): Promise<void> {
    this.result = undefined
    this.result = await this.panel.registry.getPrompt(this.prompt.name, args, { signal })
  }

  protected override closed(): void {
    this.panel.show(undefined)
  }
}

/** The text of a prompt for people, as lines. */
function wordsOf({ title, description, arguments: list }: NonNullable<PromptInfo['before']>): string {
  const about = list.map((a) => [a.name + (a.required ? ' *' : ''), a.title, a.description].filter(Boolean).join(': '))
  return [title, description, ...about].filter(Boolean).join('\n')
}

/** The messages as one text: that of their blocks, or JSON if there is another kind of block. */
function textOf({ messages }: PromptResult): string {
  return messages.every((m) => m.content.type === 'text')
    ? messages.map((m) => String(m.content['text'])).join('\n\n')
    : JSON.stringify(messages, null, 2)
}

define('portolan-prompt-list', PromptsView)
define('portolan-prompt', PromptDialog)
