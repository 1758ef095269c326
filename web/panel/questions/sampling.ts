import { html, nothing, type TemplateResult } from 'lit'
import { firstClick } from '../../ui/dialog.ts'
import { blockView } from '../tool/result.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import { clean } from '../../ui/text.ts'
import type { ContentBlock, SamplingRequest, SamplingResult } from '../../../wasm/js/shared/types.ts'
import { QuestionDialog } from './dialog.ts'
import { originView } from './origin.ts'

/** A server's request for a message, and the function that has the app's model write it. */
export interface Sampling {
  request: SamplingRequest
  generate: (request: SamplingRequest, context: { signal: AbortSignal }) => Promise<SamplingResult> | SamplingResult
  signal: AbortSignal
}

const isText = (b: ContentBlock): b is Extract<ContentBlock, { type: 'text' }> => b?.type === 'text'
const listOf = (content: unknown) => (Array.isArray(content) ? content : [content]) as ContentBlock[]

/** Shows what a server asks the model, has the model answer, and shows the answer. The person may edit both. */
class SamplingQuestion extends QuestionDialog<SamplingResult | undefined> {
  static override properties = reactive('sampling', 'answer', 'fault', 'asking')
  declare sampling: Sampling
  declare private request: SamplingRequest
  declare private answer: SamplingResult | undefined
  declare private fault: string | undefined
  declare private asking: boolean
  protected override said: SamplingResult | undefined
  protected override wide = true

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('sampling')) this.request = structuredClone(this.sampling.request)
  }

  protected heading(): string {
    return this.t('sample_title')
  }

  protected body(): TemplateResult {
    const { request: r, answer } = this
    return html`<form class="content" @submit=${this.forth}>
      ${originView(this.panel, r)}
      <p>${this.t('sample_why')}</p>
      ${
      answer
        ? html`<section class="entry" aria-label=${this.t('sample_answer')}>${
          this.blocks(this.t('sample_answer'), answer.content, (content) => (this.answer = { ...answer, content }))
        }</section>`
        : html`${
          r.systemPrompt === undefined
            ? nothing
            : this.field(this.t('sample_system'), r.systemPrompt, (systemPrompt) => this.change({ systemPrompt }))
        }${
          (r.messages ?? []).map((m, i) =>
            this.blocks(
              this.t(m.role === 'assistant' ? 'sample_assistant' : 'sample_user'),
              m.content,
              (content) => this.change({ messages: r.messages.map((old, j) => (i === j ? { ...old, content } : old)) }),
            )
          )
        }<p class="dim">${this.t('sample_limit', { n: Number(r.maxTokens) || 0 })}</p>`
    }
      <div role="status">${this.asking ? this.t('sample_asking') : nothing}</div>
      ${this.fault ? html`<p class="hint bad" role="alert">${clean(this.fault, 500)}</p>` : nothing}
      ${this.behind()}
      <footer @click=${firstClick}><button type="button" @click=${() => this.close()}>${this.t('decline')}</button>
        <span class="apart"></span>
        ${
      answer
        ? html`<button type="button" @click=${() => (this.answer = undefined)}>${this.t('back')}</button>`
        : nothing
    }
        <button class="primary" aria-disabled=${!!this.asking}>${
      this.t(answer ? 'question_send' : 'sample_ask')
    }</button>
      </footer>
    </form>`
  }

  /** The blocks of a message: texts to edit, and the others to see. */
  private blocks(
    label: string,
    content: unknown,
    change: (c: ContentBlock | ContentBlock[]) => void,
  ): TemplateResult[] {
    const blocks = listOf(content)
    return blocks.map((block, i) =>
      isText(block)
        ? this.field(label, block.text, (text) => {
          const now = blocks.map((b, j) => (i === j ? { ...block, text } : b))
          change(Array.isArray(content) ? now : now[0]!)
        })
        : html`<div class="block"><p class="dim">${label}</p>${blockView(this.panel, block)}</div>`
    )
  }

  private field(label: string, value: string, typed: (value: string) => void): TemplateResult {
    const id = freshId()
    return html`<div class="field"><label for=${id}>${label}</label><textarea id=${id} rows="4" dir="auto" .value=${
      clean(value, Infinity)
    } @change=${(e: Event) => typed((e.target as HTMLTextAreaElement).value)}></textarea></div>`
  }

  private change(part: Partial<SamplingRequest>): void {
    this.request = { ...this.request, ...part }
  }

  /** Asks the model, or gives the server the answer. */
  private readonly forth = async (e: Event): Promise<void> => {
    e.preventDefault()
    if (this.asking) return
    if (this.answer) return this.reply(this.answer)
    this.asking = true
    this.fault = undefined
    try {
      const signal = AbortSignal.any([this.ends.signal, this.sampling.signal])
      this.answer = await this.sampling.generate(this.request, { signal })
    } catch (e) {
      this.fault = String((e as Error | undefined)?.message ?? e)
    }
    this.asking = false
  }

  protected override closed(): void {
    this.ends.abort()
    super.closed()
  }
}

define('portolan-sampling-question', SamplingQuestion)
