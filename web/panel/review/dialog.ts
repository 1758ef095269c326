import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { PanelDialog } from '../context.ts'
import type { Key } from '../translations.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import type { HeldTool, ToolDefinition } from '../../../wasm/js/shared/types.ts'
import { clean } from '../../ui/text.ts'
import { flagList } from '../tools/flags-view.ts'
import { valueDiff, wordDiff, type Stretch } from './diff.ts'
import '../tool/json.ts'

const parts = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', '_meta'] as const
type Part = (typeof parts)[number]

/** The held tools of a server, each with its approved and its new definition. */
class Review extends PanelDialog {
  static override properties = reactive('server', 'held', 'busy')
  declare server: string
  declare held: readonly HeldTool[]
  declare private busy: boolean
  protected override wide = true

  protected heading(): TemplateResult {
    return html`${this.t('review_title')} <bdi>${clean(this.server, 80)}</bdi>`
  }

  protected body(): TemplateResult {
    const { held } = this
    return html`<div class="content">
      <p>${this.t(held.length ? 'review_why' : 'review_done')}</p>
      ${repeat(held, (t) => t.name, (t) => this.tool(t))}
      <footer><button type="button" @click=${() => this.close()}>${
      this.t(held.length ? 'review_later' : 'close')
    }</button>
        ${
      held.length > 1
        ? html`<button type="button" class="primary" ?disabled=${this.busy} @click=${() => this.approve()}>${
          this.t('approve_all', { n: held.length })
        }</button>`
        : nothing
    }</footer>
    </div>`
  }

  private tool(t: HeldTool): TemplateResult {
    const id = freshId()
    const why = t.reason === 'renamed'
      ? this.t('held_renamed', { from: clean(t.renamedFrom ?? '', 128) })
      : this.t(t.reason === 'changed' && !t.changes.length ? 'held_forgotten' : `held_${t.reason}`)
    const differing = parts.filter((p) => t.changes.includes(p))
    return html`<section class="held-tool" aria-labelledby=${id}>
      <h3 id=${id} class="mono"><bdi>${clean(t.tool, 128)}</bdi></h3>
      <p class="dim">${why}</p>
      ${flagList(this.panel.words, t.flags)}
      ${
      t.before ? differing.map((part) => this.difference(part, t.before!, t.definition)) : html`
        ${
        differing.some((p) => p !== 'name')
          ? html`<p class="hint">${
            this.t('held_before_unknown', { parts: differing.map((p) => this.t(`part_${p}` as Key)).join(', ') })
          }</p>`
          : nothing
      }
        <p class="description"><bdi>${
        clean(String(t.definition.description ?? this.t('no_description')), 4000)
      }</bdi></p>
        <portolan-json .panel=${this.panel} .label=${
        this.t('parameters')
      } .value=${t.definition.inputSchema} .levels=${1}></portolan-json>`
    }
      <div class="row"><button type="button" class=${
      this.held.length > 1 ? 'small' : 'primary'
    } ?disabled=${this.busy} aria-describedby=${id} @click=${() => this.approve(t)}>${this.t('approve')}</button></div>
    </section>`
  }

  private difference(part: Part, before: ToolDefinition, now: ToolDefinition): TemplateResult {
    const [a, b] = [before[part], now[part]]
    const texts = [a, b].every((v) => v === undefined || typeof v === 'string')
    const stretches = texts ? wordDiff(String(a ?? ''), String(b ?? '')) : valueDiff(a, b)
    return html`<div class="part"><h4>${this.t(`part_${part}` as Key)}</h4>
      <div class=${texts ? 'diff' : 'diff mono'} tabindex="0" role="group" aria-label=${
      this.t(`part_${part}` as Key)
    } dir=${texts ? 'auto' : 'ltr'}>${stretches.map(stretch)}</div></div>`
  }

  private async approve(tool?: HeldTool): Promise<void> {
    this.busy = true
    await this.panel.run(() => this.panel.registry.approveTools(this.server, tool && [tool.tool]))
    this.busy = false
  }
}

const stretch = ({ kind, text }: Stretch) => {
  const shown = clean(text, 20_000)
  return kind === 'gone' ? html`<del>${shown}</del>` : kind === 'come' ? html`<ins>${shown}</ins>` : shown
}

define('portolan-review', Review)
