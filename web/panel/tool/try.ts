import { html, nothing, type TemplateResult } from 'lit'
import { PanelPart } from '../context.ts'
import { faultView } from '../../ui/fields.ts'
import { define, freshId, reactive, valueOf } from '../../ui/part.ts'
import { copy } from '../../ui/save.ts'
import type { RegistryError, ToolInfo, ToolProgress, ToolResult } from '../../../wasm/js/shared/types.ts'
import { asCurl, asTypeScript } from '../../config/write.ts'
import { toJSON, type Field, type State } from '../form/field.ts'
import { formOf } from '../form/form.ts'
import { problems } from '../form/problems.ts'
import { fromJSON, initial } from '../form/state.ts'
import { clean } from '../../ui/text.ts'
import { membersView, pathIds, saysUnfinished, wrongField } from './fields.ts'
import { answeredView, resultView } from './result.ts'

interface Draft {
  text: string
  state: State
  asText: boolean
  /** The tool's, as JSON. */
  schema: string
}

/** The typed arguments of a tool, as long as the page lives. */
const drafts = new Map<string, Draft>()

/** A form for a tool's arguments, and what the tool answers. */
class Try extends PanelPart {
  static override properties = reactive(
    'tool',
    'offered',
    'paused',
    'draft',
    'checked',
    'running',
    'progress',
    'result',
    'fault',
  )
  declare tool: ToolInfo
  declare offered: boolean
  /** Its server is. */
  declare paused: boolean
  declare private draft: Draft
  /** Problems are shown after the first attempt to send. */
  declare private checked: boolean
  declare private running: AbortController | undefined
  declare private progress: ToolProgress | undefined
  declare private result: ToolResult | undefined
  declare private fault: RegistryError | undefined
  /** The draft's. */
  private key = ''
  private readonly id_ = freshId()
  private readonly idOf = pathIds()
  private form: Field = { kind: 'json', required: true, nullable: false }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('tool')) return
    const { server, tool, definition: { inputSchema } } = this.tool
    this.key = JSON.stringify([server, tool])
    this.form = formOf(inputSchema)
    const schema = JSON.stringify(inputSchema)
    const typed = drafts.get(this.key)
    this.draft = typed?.schema === schema ? typed : { ...this.fresh(typed), schema }
  }

  /** A draft for a schema. It keeps what was typed before the tool got that schema. */
  private fresh(typed: Draft | undefined): Omit<Draft, 'schema'> {
    const { form } = this
    const held = typed ? fromJSON(form, typed.text) : { state: initial(form) }
    const state = 'state' in held ? held.state : initial(form)
    const isLost = form.kind !== 'object' || !('state' in held)
    return { text: typed?.text ?? toJSON(form, state) ?? '{}', state, asText: isLost || !!typed?.asText }
  }

  protected override render(): TemplateResult {
    const { draft, form, id_: id } = this
    const found = this.checked && !draft.asText ? problems(form, draft.state) : []
    const isCancelled = this.fault?.code === 'aborted'
    const text = html`<div class="field"><label for="${id}-json">${this.t('arguments')}</label>
      <textarea id="${id}-json" class="mono" rows="6" dir="ltr" spellcheck="false" .value=${draft.text} @input=${(
      e: Event,
    ) => this.typed(valueOf(e))}></textarea></div>`
    return html`<form novalidate @submit=${this.send}>
      ${
      form.kind === 'object' && form.fields.length
        ? html`<div class="row" role="group" aria-label=${this.t('edit_as')}>
        <button type="button" class="small" aria-pressed=${!draft.asText} @click=${() => this.show(false)}>${
          this.t('as_form')
        }</button>
        <button type="button" class="small" aria-pressed=${draft.asText} @click=${() => this.show(true)}>${
          this.t('as_json')
        }</button></div>`
        : nothing
    }
      ${
      draft.asText ? text : form.kind === 'object' && form.fields.length
        ? membersView(
          { panel: this.panel, idOf: this.idOf, problems: new Map(found.map((p) => [p.path, p])) },
          form,
          draft.state,
          '',
          (state) => this.put({ state, text: toJSON(form, state) ?? '{}' }),
        )
        : html`<p class="dim">${this.t('no_parameters')}</p>`
    }
      ${this.offered ? nothing : html`<p class="hint warn">${this.t(this.paused ? 'standing_paused' : 'off_try')}</p>`}
      <div class="row">
        ${
      this.running
        ? html`<button type="button" @click=${() => this.running?.abort()}>${this.t('cancel')}</button>`
        : html`<button class="primary" ?disabled=${!this.offered}>${this.t('call')}</button>`
    }
        <button type="button" class="small" @click=${() =>
      copy(this.panel, asTypeScript(this.tool, this.arguments, this.config))}>${this.t('copy_ts')}</button>
        ${
      this.curl
        ? html`<button type="button" class="small" @click=${() => copy(this.panel, this.curl!)}>${
          this.t('copy_curl')
        }</button>`
        : nothing
    }
      </div>
    </form>
    <div role="status">${
      this.running
        ? this.progressView()
        : isCancelled
        ? this.t('cancelled')
        : this.result && answeredView(this.panel, this.result)
    }</div>
    ${isCancelled ? nothing : faultView(this.fault, this.fault?.code)}
    ${this.result ? resultView(this.panel, this.result) : nothing}`
  }

  private get config() {
    return this.panel.snapshot.servers[this.tool.server]?.config ?? { url: '' }
  }
  private get arguments(): string {
    return this.draft.text.trim() || '{}'
  }
  private get curl(): string | undefined {
    return asCurl(this.tool.server, this.config, this.tool.tool, this.arguments)
  }

  private progressView(): TemplateResult {
    const { progress: p } = this
    return html`<p class="row"><progress aria-label=${this.t('progress')} max=${p?.total ?? 1} value=${
      p?.total ? p.progress : nothing
    }></progress>
      <span aria-live=${p ? 'off' : nothing}><bdi>${
      p?.message ? clean(p.message, 200) : !p ? this.t('calling') : p.total
        ? this.t('progress_of', { n: p.progress, total: p.total })
        : this.panel.words.number(p.progress)
    }</bdi></span></p>`
  }

  private put(patch: Partial<Draft>): void {
    this.draft = { ...this.draft, ...patch }
    drafts.set(this.key, this.draft)
  }

  /** The form follows the text for as long as it can show all of it. */
  private typed(text: string): void {
    const held = fromJSON(this.form, text)
    this.put({ text, ...('state' in held && { state: held.state }) })
  }

  private show(asText: boolean): void {
    if (asText) return this.put({ asText })
    const held = fromJSON(this.form, this.draft.text)
    if ('state' in held) return this.put({ asText, state: held.state })
    this.panel.tell(this.t(`no_form_${held.reason}`))
  }

  private readonly send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    this.checked = true
    this.result = this.fault = this.progress = undefined
    if (!this.draft.asText && problems(this.form, this.draft.state).length) {
      await this.updateComplete
      return this.querySelector<HTMLElement>(wrongField)?.focus()
    }
    if (saysUnfinished(this)) return
    const running = this.running = new AbortController()
    try {
      this.result = await this.panel.registry.call(this.tool.name, this.arguments, {
        signal: running.signal,
        onProgress: (p) => (this.progress = p),
      })
    } catch (e) {
      this.fault = e as RegistryError
    }
    this.running = undefined
    await this.updateComplete
    this.querySelector('.result, [role=alert]')?.scrollIntoView({ block: 'nearest' })
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.running?.abort()
  }
}

define('portolan-try', Try)
