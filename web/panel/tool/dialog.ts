import { html, nothing, type TemplateResult } from 'lit'
import { PanelDialog } from '../context.ts'
import { define, reactive } from '../../ui/part.ts'
import { tabStrip } from '../../ui/shell.ts'
import { selectField } from '../../ui/fields.ts'
import type { Dialect, JSONSchema, Snapshot, ToolInfo } from '../../../wasm/js/shared/types.ts'
import { clean, line } from '../../ui/text.ts'
import { flagsView } from '../tools/flags-view.ts'
import './json.ts'
import './try.ts'
import './wording.ts'

const tabs = ['about', 'try', 'wording'] as const
const dialects: Dialect[] = ['openai', 'openai-responses', 'anthropic', 'gemini']
const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

/** A tool: what models see of it, and a place to try it. */
class ToolDialog extends PanelDialog {
  static override properties = reactive('name', 'tab', 'snapshot', 'format')
  static override initial = { format: 'openai' }
  declare name: string
  declare tab: typeof tabs[number]
  declare snapshot: Snapshot
  declare private format: Dialect
  protected override wide = true

  /** The tool that was shown last. An override may have given it another name since. */
  private shown: ToolInfo | undefined

  /** Models get no tool of a paused server. Here it stays, with what was typed for it and what it answered. */
  private get tool(): ToolInfo | undefined {
    const { tools, withheld, servers } = this.snapshot
    const find = (isIt: (t: ToolInfo) => boolean) => tools.find(isIt) ?? withheld.find(isIt)
    const { shown } = this
    const found = find((t) => t.name === this.name) ??
      (shown && find((t) => t.server === shown.server && t.tool === shown.tool))
    if (found) return this.shown = found
    const isPaused = shown && servers[shown.server]?.toolTotal && !find((t) => t.server === shown.server)
    return isPaused ? shown : undefined
  }

  protected heading(): TemplateResult {
    return html`<bdi class="mono">${line(this.tool?.tool ?? this.name, 128)}</bdi>`
  }

  protected body(): TemplateResult {
    const { tool } = this
    if (!tool) return html`<div class="content"><p>${this.t('tool_gone')}</p></div>`
    const offered = this.snapshot.tools.includes(tool)
    return html`<div class="content">
      <p class="dim"><bdi>${line(tool.server, 80)}</bdi>${
      offered ? '' : ` · ${this.t(this.isPaused(tool) ? 'standing_paused' : 'withheld')}`
    }</p>
      ${
      tabStrip(this, {
        label: this.t('tool_views'),
        tabs: this.snapshot.servers[tool.server]?.config.url === 'builtin:page' ? tabs.slice(0, 2) : tabs,
        chosen: this.tab,
        choose: (tab) => (this.tab = tab),
        face: (tab) => this.t(`tool_${tab}`),
        ids: ['tool-tab', 'tool'],
      })
    }
      <div role="tabpanel" id="tool-${this.tab}" aria-labelledby="tool-tab-${this.tab}">
        ${this.chosen(tool, offered)}
      </div>
    </div>`
  }

  private isPaused({ server }: ToolInfo): boolean {
    return !!this.snapshot.servers[server]?.suspended
  }

  private chosen(tool: ToolInfo, offered: boolean): TemplateResult {
    const { panel } = this
    if (this.tab === 'about') return this.about(tool, offered)
    return this.tab === 'try'
      ? html`<portolan-try .panel=${panel} .tool=${tool} .offered=${offered} .paused=${
        this.isPaused(tool)
      }></portolan-try>`
      : html`<portolan-wording .panel=${panel} .tool=${tool}></portolan-wording>`
  }

  /** The parts of the tool that the chosen format cannot express. */
  private losses(tool: ToolInfo): TemplateResult | typeof nothing {
    const losses = this.panel.registry.losses(this.format, { include: [tool.name] })
    if (!losses.length) return nothing
    return html`<details><summary>${this.t('losses', { n: losses.length })}</summary><ul>${
      losses.slice(0, 100).map(({ pointer, keyword, kind }) =>
        html`<li><bdi class="mono">${line(`${pointer || '/'} ${keyword}`, 200)}</bdi> ${this.t(`loss_${kind}`)}</li>`
      )
    }</ul></details>`
  }

  private about(tool: ToolInfo, offered: boolean): TemplateResult {
    const { definition, original = definition } = tool
    const seen = offered ? this.panel.registry.getTools({ format: this.format, include: [tool.name] })[0] : undefined
    const tokens = this.panel.tokenCounts.of(tool)
    const claims = hints.filter((h) => typeof definition.annotations?.[h] === 'boolean')
    return html`
      ${flagsView(this.panel, tool)}
      ${
      typeof definition.description === 'string' && definition.description
        ? html`<p class="description" tabindex="0"><bdi>${clean(definition.description, 4000)}</bdi></p>`
        : html`<p class="nothing">${this.t('no_description')}</p>`
    }
      ${
      claims.length
        ? html`<p class="row"><span class="dim">${this.t('claims')}</span> ${
          claims.map((h) => html`<span class="badge">${this.t(`${h}_${definition.annotations![h] as boolean}`)}</span>`)
        }</p>`
        : nothing
    }
      ${this.parameters(definition.inputSchema)}
      <div class="row">${
      selectField('tool-format', this.t('seen_as'), dialects, this.format, (d) =>
        this.t(`dialect_${d}`), (d) => (this.format = d))
    }
        ${tokens === undefined ? nothing : html`<span class="dim">${this.t('tokens', { n: tokens })}</span>`}</div>
      ${
      seen
        ? html`<portolan-json .panel=${this.panel} .value=${seen} .levels=${4}></portolan-json>${this.losses(tool)}`
        : html`<p class="dim">${this.t('not_seen')}</p>`
    }
      <details><summary>${
      this.t('as_listed')
    }</summary><portolan-json .panel=${this.panel} .value=${original} .levels=${2}></portolan-json></details>`
  }

  private parameters(schema: JSONSchema): TemplateResult | typeof nothing {
    const properties = Object.entries((schema?.properties ?? {}) as Record<string, JSONSchema>)
    if (!properties.length) return html`<p class="dim">${this.t('no_parameters')}</p>`
    const required = new Set(Array.isArray(schema.required) ? schema.required : [])
    return html`<div class="scroll" role="region" tabindex="0" aria-label=${this.t('parameters')}><table><caption>${
      this.t('parameters')
    }</caption>
      <thead><tr>${
      (['name', 'type', 'description'] as const).map((h) => html`<th scope="col">${this.t(h)}</th>`)
    }</tr></thead>
      <tbody>${
      properties.slice(0, 100).map(([name, p]) =>
        html`<tr><th scope="row" class="mono"><bdi>${line(name, 100)}</bdi></th>
        <td class="dim"><bdi>${line(typeOf(p), 60)}</bdi>${
          required.has(name) ? html` <strong>${this.t('required')}</strong>` : nothing
        }</td>
        <td><bdi>${line(p?.description, 400)}</bdi></td></tr>`
      )
    }</tbody></table></div>`
  }
}

/** A schema's type in a word or two. */
function typeOf(p: JSONSchema | undefined): string {
  if (typeof p !== 'object' || p === null) return ''
  if (Array.isArray(p.enum)) return p.enum.slice(0, 6).map((v) => JSON.stringify(v)).join(' | ')
  const type = [p.type ?? (p.anyOf || p.oneOf ? '…' : [])].flat().join(' | ')
  return type === 'array' && typeof p.items === 'object' ? `${typeOf(p.items as JSONSchema) || 'any'}[]` : type
}

define('portolan-tool', ToolDialog)
