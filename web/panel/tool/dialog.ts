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

const tabs = ['about', 'try'] as const
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

  private get tool(): ToolInfo | undefined {
    const named = (t: ToolInfo) => t.name === this.name
    return this.snapshot.tools.find(named) ?? this.snapshot.withheld.find(named)
  }

  protected heading(): TemplateResult {
    return html`<bdi class="mono">${line(this.tool?.tool ?? this.name, 128)}</bdi>`
  }

  protected body(): TemplateResult {
    const { tool } = this
    if (!tool) return html`<div class="content"><p>${this.t('tool_gone')}</p></div>`
    const offered = this.snapshot.tools.includes(tool)
    return html`<div class="content">
      <p class="dim"><bdi>${line(tool.server, 80)}</bdi>${offered ? '' : ` · ${this.t('withheld')}`}</p>
      ${
      tabStrip(this, {
        label: this.t('tool_views'),
        tabs,
        chosen: this.tab,
        choose: (tab) => (this.tab = tab),
        face: (tab) => this.t(`tool_${tab}`),
        ids: ['tool-tab', 'tool'],
      })
    }
      <div role="tabpanel" id="tool-${this.tab}" aria-labelledby="tool-tab-${this.tab}">
        ${
      this.tab === 'about'
        ? this.about(tool, offered)
        : html`<portolan-try .panel=${this.panel} .tool=${tool} .offered=${offered}></portolan-try>`
    }
      </div>
    </div>`
  }

  private about(tool: ToolInfo, offered: boolean): TemplateResult {
    const { definition } = tool
    const seen = offered ? this.panel.registry.getTools({ format: this.format, include: [tool.name] })[0] : undefined
    const tokens = this.panel.tokenCounts.of(tool)
    const claims = hints.filter((h) => typeof definition.annotations?.[h] === 'boolean')
    return html`
      ${flagsView(this.panel, tool)}
      ${
      typeof definition.description === 'string' && definition.description
        ? html`<p class="description"><bdi>${clean(definition.description, 4000)}</bdi></p>`
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
        ? html`<portolan-json .panel=${this.panel} .value=${seen} .levels=${4}></portolan-json>`
        : html`<p class="dim">${this.t('not_seen')}</p>`
    }
      <details><summary>${
      this.t('as_listed')
    }</summary><portolan-json .panel=${this.panel} .value=${definition} .levels=${2}></portolan-json></details>`
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
  const type = Array.isArray(p.type)
    ? p.type.join(' | ')
    : typeof p.type === 'string'
    ? p.type
    : p.anyOf ?? p.oneOf
    ? '…'
    : ''
  return type === 'array' && typeof p.items === 'object' ? `${typeOf(p.items as JSONSchema) || 'any'}[]` : type
}

define('portolan-tool', ToolDialog)
