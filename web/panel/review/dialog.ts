import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { PanelDialog } from '../context.ts'
import type { Key } from '../translations.ts'
import { firstClick } from '../../ui/dialog.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import type { Flag, HeldTool, ServerHealth, ToolDefinition } from '../../../wasm/js/shared/types.ts'
import { clean } from '../../ui/text.ts'
import { flagList } from '../tools/flags-view.ts'
import { chosen } from '../tools/ledger.ts'
import { valueDiff, wordDiff } from './diff.ts'
import { stretch } from './stretch.ts'
import '../tool/json.ts'

const parts = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', '_meta'] as const
type Part = (typeof parts)[number]

/** The held tools of a server, each with its approved and its new definition. */
class Review extends PanelDialog {
  static override properties = reactive('server', 'health', 'held', 'busy')
  declare server: string
  declare health: ServerHealth | undefined
  declare held: readonly HeldTool[]
  declare private busy: boolean
  protected override wide = true
  /** Near what was removed there are buttons that approve more. */
  protected override readonly leavesFocus = true
  /** The versions that are shown, by name. Later ones wait until a person has decided, or an approval has failed. */
  private readonly shown = new Map<string, HeldTool>()
  private shownInstructions: string | undefined

  protected override willUpdate(): void {
    for (const t of this.held) {
      const before = this.shown.get(t.name)
      if (!before || before.pin === t.pin) this.shown.set(t.name, t)
    }
    this.shownInstructions ??= this.health?.heldInstructions
  }

  protected override updated(): void {
    if (document.activeElement === document.body) this.querySelector('h2')!.focus()
  }

  protected heading(): TemplateResult {
    return html`${this.t('review_title')} <bdi>${clean(this.server, 80)}</bdi>`
  }

  protected body(): TemplateResult {
    const held = this.held.map((t) => this.shown.get(t.name)!)
    const instructions = this.health?.heldInstructions && this.shownInstructions
    return html`<div class="content" @click=${firstClick}>
      ${held.length || !instructions ? html`<p>${this.t(held.length ? 'review_why' : 'review_done')}</p>` : nothing}
      ${instructions ? this.instructions(this.health?.instructions ?? '', instructions) : nothing}
      ${repeat(held, (t) => t.name, (t) => this.tool(t))}
      <footer><button type="button" @click=${() => this.close()}>${
      this.t(held.length || instructions ? 'review_later' : 'close')
    }</button>
        ${
      held.length > 1
        ? html`<button type="button" class="primary" aria-disabled=${!!this.busy} @click=${() =>
          this.approve(...held)}>${this.t('approve_all', { n: held.length })}</button>`
        : nothing
    }</footer>
    </div>`
  }

  private instructions(before: string, now: string): TemplateResult {
    const id = freshId()
    return html`<section class="entry" aria-labelledby=${id}>
      <h3 id=${id}>${this.t('instructions')}</h3>
      <p class="dim">${this.t('instructions_held_why')}</p>
      <div class="diff" tabindex="0" role="group" aria-label=${this.t('instructions')} dir="auto">${
      wordDiff(before, now).map(stretch)
    }</div>
      <div class="row"><button type="button" class="primary" aria-disabled=${!!this
      .busy} aria-describedby=${id} @click=${() =>
      this.change(() => this.panel.registry.approveInstructions(this.server, now))}>${this.t('approve')}</button></div>
    </section>`
  }

  private tool(t: HeldTool): TemplateResult {
    const id = freshId()
    const why = t.reason === 'renamed'
      ? this.t('held_renamed', { from: clean(t.renamedFrom ?? '', 128) })
      : this.t(t.reason === 'changed' && !t.changes.length ? 'held_forgotten' : `held_${t.reason}`)
    const differing = parts.filter((p) => t.changes.includes(p))
    const beside = t.before ? differing : []
    const flagsOf = (part: Part) => (t.flags ?? []).filter((f) => f.where.split('/')[1] === part)
    return html`<section class="entry" aria-labelledby=${id}>
      <h3 id=${id} class="mono"><bdi>${clean(t.tool, 128)}</bdi></h3>
      <p class="dim">${why}</p>
      ${flagList(this.panel.words, t.flags?.filter((f) => !beside.some((part) => flagsOf(part).includes(f))))}
      ${
      t.before ? differing.map((part) => this.difference(part, t.before!, t.definition, flagsOf(part))) : html`
        ${
        differing.some((p) => p !== 'name')
          ? html`<p class="hint">${
            this.t('held_before_unknown', {
              parts: differing.map((p) => this.t(`part_${p}` as Key)).join(this.t('comma')),
            })
          }</p>`
          : nothing
      }
        <p class="description" tabindex="0"><bdi>${
        clean(String(t.definition.description ?? this.t('no_description')), 4000)
      }</bdi></p>
        <portolan-json .panel=${this.panel} .label=${
        this.t('parameters')
      } .value=${t.definition.inputSchema} .levels=${1}></portolan-json>`
    }
      <div class="row"><button type="button" class=${this.held.length > 1 ? 'small' : 'primary'} aria-disabled=${!!this
      .busy} aria-describedby=${id} @click=${() => this.approve(t)}>${this.t('approve')}</button>
        <button type="button" class=${this.held.length > 1 ? 'small' : ''} aria-disabled=${!!this
      .busy} aria-describedby=${id} @click=${() => this.keepOff(t)}>${this.t('keep_off')}</button></div>
    </section>`
  }

  private difference(
    part: Part,
    before: ToolDefinition,
    now: ToolDefinition,
    flags: readonly Flag[],
  ): TemplateResult {
    const [a, b] = [before[part], now[part]]
    const texts = [a, b].every((v) => v === undefined || typeof v === 'string')
    const stretches = texts ? wordDiff(String(a ?? ''), String(b ?? '')) : valueDiff(a, b)
    return html`<div class="part"><h4>${this.t(`part_${part}` as Key)}</h4>
      <div class=${texts ? 'diff' : 'diff mono'} tabindex="0" role="group" aria-label=${
      this.t(`part_${part}` as Key)
    } dir=${texts ? 'auto' : 'ltr'}>${stretches.map(stretch)}</div>${flagList(this.panel.words, flags)}</div>`
  }

  private approve(...tools: HeldTool[]): Promise<void> {
    return this.change(() => this.panel.registry.approveTools(this.server, tools.map(({ pin }) => `pin:${pin}`)))
  }

  /** Switches a tool off. It stays unapproved. */
  private keepOff({ tool }: HeldTool): Promise<void> {
    const { registry, snapshot } = this.panel
    const all = [...snapshot.tools, ...snapshot.withheld, ...snapshot.held].filter((t) => t.server === this.server)
    const tools = chosen(snapshot.servers[this.server]?.config.tools, all.map((t) => t.tool), [tool], false)
    return this.change(() => registry.updateServer(this.server, { tools }))
  }

  private async change(work: () => Promise<void>): Promise<void> {
    if (this.busy) return
    this.busy = true
    await this.panel.run(work)
    this.shown.clear()
    this.shownInstructions = undefined
    this.busy = false
  }
}

define('portolan-review', Review)
