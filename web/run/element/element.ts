import { html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { runWords, type RunKey } from '../../panel/run-words.ts'
import { standingIcon, type Standing } from '../../ui/icons.ts'
import { composes, define, valueOf } from '../../ui/part.ts'
import { copy } from '../../ui/save.ts'
import { Shell } from '../../ui/shell.ts'
import { styles } from '../../ui/style.ts'
import { clean, line } from '../../ui/text.ts'
import { directionOf, wordsFrom, type Messages, type Words } from '../../ui/translations.ts'
import type { Notice } from '../../ui/notices.ts'
import { linksOf } from '../answer.ts'
import { address } from '../results.ts'
import type { Run, RunEvent, RunItem, RunStage } from '../types.ts'
import { runStyles } from './style.ts'
import type * as types from './types.ts'
import { link, markdownView } from './words.ts'

const stages: readonly RunStage[] = ['health', 'plan', 'search', 'summarise']

/** The words of a locale. What `messages` lacks is English. */
const wordsOf = (tag: string, messages?: Messages<RunKey> | null): Words<RunKey> =>
  wordsFrom<RunKey>(tag, messages ?? {}, runWords)

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>

/** A run as the person sees it. */
interface Shown {
  run: Run
  progress?: Of<'progress'>
  clarify?: Of<'clarify'>
  preview?: Of<'results_preview'>
  /** The last event. */
  end?: Of<'answer'> | Of<'error'>
}

/** A search for a person; see types.ts. */
export class PortolanRun extends Shell implements types.PortolanRun {
  static override styles = [styles, runStyles]
  static override properties = {
    start: { attribute: false },
    messages: { attribute: false },
    prompt: {},
    locale: {},
    shown: { state: true },
  }
  declare start: types.PortolanRun['start']
  declare messages: Messages<RunKey> | undefined
  declare prompt: string
  declare locale: string
  declare private shown: Shown | undefined

  words: Words<RunKey> = wordsOf('en')
  private ends: AbortController | undefined
  private seconds = 60
  private most = 10

  constructor() {
    super()
    this.prompt = ''
    this.locale = ''
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    queueMicrotask(() => this.isConnected || this.cancel()) // it may only have been moved
  }

  cancel(): void {
    this.ends?.abort()
  }

  protected override willUpdate(changed: PropertyValues): void {
    this.prompt ??= '' // an attribute that was removed, or a prop without a value
    if (changed.has('locale') || changed.has('messages') || !this.hasUpdated)
      this.words = wordsOf(this.locale || this.closest('[lang]')?.getAttribute('lang') || 'en', this.messages)
  }

  protected override describe(fault: unknown): Notice {
    return { text: clean((fault as Error).message, 500) }
  }

  private get isRunning(): boolean {
    return !!this.shown && !this.shown.end
  }

  protected override render(): TemplateResult {
    const { words: t, shown } = this
    return html`<div class="panel" part="panel" lang=${t.locale} dir=${directionOf(t.locale)}>
      ${this.form()}
      <div class="spoken" role="status">${this.spoken()}</div>
      ${shown ? this.stagesView(shown) : nothing}
      ${shown?.clarify && !shown.end ? this.question(shown.clarify.question) : nothing}
      ${shown?.end?.type === 'error' ? this.fault(shown.end) : nothing}
      ${shown?.end?.type === 'answer' ? this.answer(shown.end, shown.preview?.items ?? []) : nothing}
      ${shown?.preview ? this.results(shown.preview) : nothing}
      ${this.notices.view(t)}
    </div>`
  }

  // The field.

  private form(): TemplateResult {
    const { words: t, isRunning } = this
    return html`<form class="ask" @submit=${this.submit}>
      <div class="field"><label for="prompt">${t('run_prompt')}</label>
        <textarea id="prompt" dir="auto" maxlength="4000" .value=${this.prompt} @input=${(e: Event) => {
      this.prompt = valueOf(e)
    }} @keydown=${this.press}></textarea></div>
      <div class="foot">
        <details><summary>${t('advanced')}</summary><div class="limits">
          ${this.limit('seconds', t('run_time'), 5, 600, this.seconds, (n) => (this.seconds = n))}
          ${this.limit('most', t('run_most'), 1, 50, this.most, (n) => (this.most = n))}
        </div></details>
        <button class=${isRunning ? '' : 'primary'} type=${isRunning ? 'button' : 'submit'} ?disabled=${
      !isRunning && (!this.start || !this.prompt.trim())
    }
          @click=${this.stop}>${t(isRunning ? 'cancel' : 'run_start')}</button>
      </div>
    </form>`
  }

  private limit(id: string, label: string, min: number, max: number, n: number, set: (n: number) => void) {
    return html`<div class="field"><label for=${id}>${label}</label>
      <input id=${id} type="number" inputmode="numeric" min=${min} max=${max} required .value=${String(n)}
        @invalid=${(e: Event) => ((e.target as Element).closest('details')!.open = true)} @input=${(
      e: Event,
    ) => {
      const input = e.target as HTMLInputElement
      if (input.validity.valid) set(input.valueAsNumber)
    }}></div>`
  }

  /**
   * A click while a run goes on, or the second click of a double click, which neither begins nor cancels. By the end of
   * the click the button may be one that begins a run.
   */
  private stop(e: MouseEvent): void {
    if (!this.isRunning && e.detail < 2) return
    e.preventDefault()
    if (e.detail < 2) this.cancel()
  }

  /** Enter begins, and Shift with Enter makes a new line. */
  private press(e: KeyboardEvent): void {
    if (e.key !== 'Enter' || e.shiftKey || composes(e)) return
    e.preventDefault()
    if (!this.isRunning) (e.target as HTMLTextAreaElement).form!.requestSubmit()
  }

  private submit(e: Event): void {
    e.preventDefault()
    if (this.start && this.prompt.trim() && !this.isRunning) void this.run(() => this.follow())
  }

  private async follow(): Promise<void> {
    const ends = this.ends = new AbortController()
    const run = this.start!({
      prompt: this.prompt.trim(),
      timeoutMs: this.seconds * 1000,
      preview: this.most,
      signal: ends.signal,
    })
    this.shown = { run }
    try {
      for await (const event of run) {
        if (this.shown?.run !== run) return
        this.take(event)
      }
    } finally {
      // A run that fails by itself has no last event.
      if (this.shown?.run === run && !this.shown.end) this.shown = undefined
    }
  }

  private take(taken: RunEvent): void {
    const event = shownOf(taken)
    const shown = { ...this.shown! }
    if (event.type === 'progress') {
      delete shown.clarify
      shown.progress = event
    } else if (event.type === 'clarify') shown.clarify = event
    else if (event.type === 'results_preview') shown.preview = event
    else shown.end = event
    this.shown = shown
    this.dispatchEvent(new CustomEvent('run-event', { detail: event, bubbles: true, composed: true }))
    if (event.type !== 'clarify' || !this.shadowRoot!.activeElement) return
    void this.updateComplete.then(() => this.shadowRoot!.querySelector<HTMLElement>('#reply')?.focus())
  }

  // The stages.

  private spoken(): string {
    const { words: t, shown } = this
    if (!shown) return ''
    if (shown.end?.type === 'answer') return t('run_answered')
    if (shown.end) return '' // the fault is an alert
    if (shown.clarify) return `${t('run_question')} ${clean(shown.clarify.question, 500)}`
    return shown.progress ? t(`run_stage_${shown.progress.stage}`) : ''
  }

  private stagesView({ progress, end }: Shown): TemplateResult {
    const { words: t } = this
    const at = progress ? stages.indexOf(progress.stage) : 0
    const state = (i: number) =>
      end?.type === 'answer' || i < at ? 'done' : i > at ? 'waiting' : end ? 'failed' : 'running'
    const icons: Record<ReturnType<typeof state>, Standing> = {
      done: 'connected',
      waiting: 'idle',
      failed: 'failed',
      running: 'connecting',
    }
    return html`<section class="box" part="stages" aria-label=${t('progress')}><ol class="stages">${
      stages.map((stage, i) => {
        const is = state(i)
        const { pct, message } = is === 'running' ? progress ?? {} as Partial<Of<'progress'>> : {}
        return html`<li data-state=${is} aria-current=${is === 'running' ? 'step' : nothing}>${
          standingIcon[icons[is]]
        }<span>${t(`run_stage_${stage}`)}${
          is === 'done' || is === 'failed' ? html`<span class="spoken">: ${t(`run_is_${is}`)}</span>` : nothing
        }</span>
          <span>${pct === undefined ? nothing : t('run_percent', { n: pct })}</span>
          ${
          pct === undefined ? nothing : html`<progress max="100" value=${pct} aria-label=${t('progress')}></progress>`
        }
          ${message ? html`<bdi class="said">${line(message)}</bdi>` : nothing}</li>`
      })
    }</ol></section>`
  }

  private question(question: string): TemplateResult {
    const { words: t } = this
    const reply = (e: Event) => {
      e.preventDefault()
      const { value } = this.shadowRoot!.querySelector<HTMLInputElement>('#reply')!
      if (value.trim()) this.shown?.run.reply(value.trim())
    }
    return html`<form class="box question" part="question" @submit=${reply}>
      <p class="dim">${t('run_question')}</p>
      <label for="reply"><bdi>${clean(question, 500)}</bdi></label>
      <div class="reply"><input id="reply" dir="auto" maxlength="4000" required autocomplete="off">
        <button class="primary">${t('run_reply')}</button></div>
    </form>`
  }

  private fault({ code, detail, hint, resetsAt }: Of<'error'>): TemplateResult {
    const { words: t } = this
    if (code === 'aborted') return html`<p class="box" role="status">${t('cancelled')}</p>`
    return html`<div class="box fault" role="alert">
      <p><strong>${t(`run_error_${code}`)}</strong></p>
      ${detail ? html`<p><bdi>${clean(detail, 500)}</bdi></p>` : nothing}
      ${hint ? html`<p class="dim"><bdi>${clean(hint, 500)}</bdi></p>` : nothing}
      ${resetsAt ? html`<p class="dim">${t('run_resets', { time: t.time(resetsAt) })}</p>` : nothing}
    </div>`
  }

  // The content of a finding.

  private results({ items, total }: Of<'results_preview'>): TemplateResult {
    const { words: t } = this
    const count = items.length < total ? t('run_results_of', { n: items.length, total }) : t('matches', { n: total })
    return html`<section class="box" part="results" aria-labelledby="results">
      <div class="head"><h2 id="results">${t('run_results')}</h2><span class="dim">${count}</span></div>
      ${
      items.length
        ? html`<ol class="items">${items.map((item) => this.item(item))}</ol>`
        : html`<p class="dim">${t('no_match')}</p>`
    }
    </section>`
  }

  private item({ title, url, metadata }: RunItem): TemplateResult {
    const facts = [new URL(url).host, ...Object.values(metadata ?? {}).map((v) => line(v, 120))].slice(0, 5)
    return html`<li>${link(url, html`<bdi>${line(title, 300)}</bdi>`)}
      <p class="dim"><bdi>${facts.join(' · ')}</bdi></p></li>`
  }

  private answer(answer: Of<'answer'>, items: readonly RunItem[]): TemplateResult {
    const { words: t } = this
    const { url, removedLinks, remaining } = answer
    const headings: Record<string, string> = {
      Summary: t('run_summary'),
      'Key Cases': t('run_cases'),
      Notes: t('run_notes'),
    }
    // The address has its own place below, and so have the results, which are all of an answer without a summary.
    const text = url && answer.markdown.endsWith(`<${url}>`)
      ? answer.markdown.slice(0, -url.length - 2)
      : answer.markdown
    return html`<section class="box" part="answer" aria-labelledby="answer">
      <div class="head"><h2 id="answer">${t('run_answer')}</h2>${
      answer.partial ? html`<span class="badge warn">${t('run_partial')}</span>` : nothing
    }</div>
      ${
      answer.partial
        ? nothing
        : html`<div class="words">${markdownView(text, linksOf(items, url), (words) => headings[words] ?? words)}</div>`
    }
      ${removedLinks ? html`<p class="hint warn">${t('run_removed', { n: removedLinks })}</p>` : nothing}
      ${url ? this.share(url) : nothing}
      ${remaining === undefined ? nothing : html`<p class="dim">${t('run_remaining', { n: remaining })}</p>`}
    </section>`
  }

  private share(url: string): TemplateResult {
    const { words: t } = this
    const share = () =>
      this.run(() =>
        navigator.share({ url, title: this.prompt.slice(0, 200) }).catch((e: unknown) => {
          if ((e as Error).name !== 'AbortError') throw e // the person has closed the dialog
        })
      )
    return html`<div class="share row">${link(url, html`<bdi>${url}</bdi>`)}
      <button type="button" class="small" @click=${() => copy(this, url)}>${t('run_copy')}</button>
      ${
      'share' in navigator
        ? html`<button type="button" class="small" @click=${share}>${t('run_share')}</button>`
        : nothing
    }</div>`
  }
}

/** An event as it can be shown: that of an endpoint may lack members, and have addresses that are no links. */
function shownOf(event: RunEvent): RunEvent {
  if (event.type === 'results_preview')
    return { ...event, items: [event.items].flat().filter((item) => address(Object(item).url)) }
  if (event.type !== 'answer') return event
  return { ...event, markdown: String(event.markdown), url: address(event.url) ?? '' }
}

define('portolan-run', PortolanRun)
