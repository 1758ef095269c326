import { html, nothing, type TemplateResult } from 'lit'
import type { ToolInfo, ToolOverride } from '../../../wasm/js/shared/types.ts'
import { clean, line } from '../../ui/text.ts'
import { type Fault, faultView } from '../../ui/fields.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import { PanelPart } from '../context.ts'
import { get } from '../../config/json.ts'

/** A form for the words of a tool that models see, in place of the server's. */
class Wording extends PanelPart {
  static override properties = reactive('tool', 'fault')
  declare tool: ToolInfo
  declare private fault: Fault | undefined
  private readonly id_ = freshId()

  private get override(): ToolOverride {
    const { server, tool } = this.tool
    return get(this.panel.snapshot.servers[server]?.config.overrides, tool) as ToolOverride | undefined ?? {}
  }

  /** The parameters that are shown. */
  private get parameters(): string[] {
    const { inputSchema } = this.tool.original ?? this.tool.definition
    return Object.keys((inputSchema?.properties ?? {}) as object).slice(0, 100)
  }

  protected override render(): TemplateResult {
    const { id_: id, tool, override, parameters } = this
    const { description = '' } = tool.original ?? tool.definition
    return html`<form novalidate @submit=${this.save}>
      <p class="dim">${this.t('wording_means')}</p>
      <div class="field"><label for="${id}-name">${this.t('name')}</label>
        <input id="${id}-name" name="name" dir="ltr" maxlength="128" spellcheck="false" autocomplete="off"
          placeholder=${line(tool.tool, 128)} .value=${override.name ?? ''}></div>
      <div class="field"><label for="${id}-description">${this.t('description')}</label>
        <textarea id="${id}-description" name="description" rows="5" placeholder=${clean(description, 1000)}
          .value=${override.description ?? ''}></textarea></div>
      ${
      parameters.length
        ? html`<fieldset><legend>${this.t('wording_hides')}</legend>${
          parameters.map((name) =>
            html`<label class="row"><input type="checkbox" name="hide" value=${name}
              .checked=${!!override.hideParams?.includes(name)}><bdi class="mono">${line(name, 100)}</bdi></label>`
          )
        }</fieldset>`
        : nothing
    }
      ${faultView(this.fault)}
      <footer>${
      tool.original
        ? html`<button type="button" @click=${() => this.put(undefined)}>${this.t('wording_reset')}</button>`
        : nothing
    }<button class="primary">${this.t('save')}</button></footer>
    </form>`
  }

  private readonly save = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    const { name: _, description: __, hideParams: before = [], ...rest } = this.override
    const name = String(form.get('name')).trim()
    const description = String(form.get('description')).trim()
    const unseen = before.filter((p) => !this.parameters.includes(p))
    const hideParams = [...form.getAll('hide').map(String), ...unseen]
    void this.put({
      ...rest,
      ...(name && { name }),
      ...(description && { description }),
      ...(hideParams.length && { hideParams }),
    })
  }

  /** Stores the override of the tool; without one, models see the server's own words. */
  private async put(override: ToolOverride | undefined): Promise<void> {
    const { server, tool } = this.tool
    const { [tool]: _, ...others } = this.panel.snapshot.servers[server]?.config.overrides ?? {}
    const overrides = override && Object.keys(override).length ? { ...others, [tool]: override } : others
    try {
      await this.panel.registry.updateServer(server, {
        overrides: Object.keys(overrides).length ? overrides : undefined,
      })
      this.fault = undefined
    } catch (e) {
      this.fault = e as Fault
    }
  }
}

define('portolan-wording', Wording)
