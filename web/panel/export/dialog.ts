import { html, type TemplateResult } from 'lit'
import { PanelDialog } from '../context.ts'
import { define, reactive } from '../../ui/part.ts'
import { copy, download } from '../../ui/save.ts'
import { writeConfig } from '../../config/write.ts'

const dialects = ['mcpServers', 'vscode'] as const

/** The configuration as other clients read it, without secrets. */
class Export extends PanelDialog {
  static override properties = reactive('dialect')
  static override initial = { dialect: 'mcpServers' }
  declare private dialect: typeof dialects[number]

  protected heading(): string {
    return this.t('export_title')
  }

  protected body(): TemplateResult {
    const { snapshot, removing } = this.panel
    const servers = Object.fromEntries(
      Object.entries(snapshot.servers).flatMap(([name, { config }]) => removing.has(name) ? [] : [[name, config]]),
    )
    const text = writeConfig(servers, this.dialect)
    return html`<div class="content">
      <fieldset><legend>${this.t('export_for')}</legend>${
      dialects.map((d) =>
        html`<label class="choice"><input type="radio" name="dialect" .checked=${
          d === this.dialect
        } @change=${() => (this.dialect = d)}><span>${this.t(`export_${d}`)}</span></label>`
      )
    }</fieldset>
      <p class="dim">${this.t('export_secrets')}</p>
      <pre tabindex="0" dir="ltr" aria-label=${this.t('export_title')}>${text}</pre>
      <footer><button type="button" @click=${() =>
      download(this.dialect === 'vscode' ? 'mcp.json' : 'mcp-servers.json', text)}>${this.t('save_file')}</button>
        <button type="button" class="primary" @click=${() => copy(this.panel, text)}>${this.t('copy')}</button></footer>
    </div>`
  }
}

define('portolan-export', Export)
