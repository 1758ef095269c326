import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { define, freshId } from '../../web/ui/part.ts'
import type { Options } from '../messages.ts'
import { chosen } from './chosen.ts'
import { switchOption } from './permissions.ts'
import { setting } from './setting.ts'

const switches = ['focus', 'aliases', 'pages', 'history', 'debugTexts'] as const satisfies (keyof Options)[]
const reuses = ['off', 'project', 'client'] as const satisfies Options['reuse'][]
/** Without `tabs`, a client would see only the tabs whose pages may be read. */
const tabs = { permissions: ['tabs', 'scripting'] }

/** The settings for all chats. */
class OptionsCard extends AppPart {
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { id_: id } = this
    const { options, permissions } = this.state
    return html`<section class="card plain" aria-labelledby=${id}>
      <header><h2 id=${id}>${this.t('options')}</h2></header>
      <div class="settings">
        <fieldset><legend>${this.t('reuse')}</legend>${
      reuses.map((reuse) =>
        html`<label class="choice"><input type="radio" name="${id}-reuse" value=${reuse} ?checked=${
          options.reuse === reuse
        } .checked=${options.reuse === reuse} @change=${(e: Event) =>
          chosen(e, this.panel.send('setOptions', { reuse }))}>
          <span><strong>${this.t(`reuse_${reuse}`)}</strong> <span class="dim">${
          this.t(`reuse_${reuse}_means`)
        }</span></span></label>`
      )
    }</fieldset>
        ${
      switches.map((name) =>
        setting({
          id: `${id}-${name}`,
          label: this.t(`option_${name}`),
          means: this.t(`option_${name}_means`),
          on: options[name],
          change: (on) => (name === 'pages'
            ? switchOption(this.panel, name, on, tabs, { permissions: ['tabs'] })
            : this.panel.send('setOptions', { [name]: on })),
        })
      )
    }
        ${options.history ? this.history(options) : nothing}
        <div><p class="row"><span class="name">${this.t('trusted')}</span> <span class="badge">${
      this.t(permissions.debugger ? 'trusted_on' : 'trusted_off')
    }</span></p>
          <p class="dim">${this.t('trusted_means')} ${
      permissions.debugger ? nothing : this.t('trusted_build')
    }</p></div>
      </div>
    </section>`
  }

  private history({ historyDays }: Options): TemplateResult {
    const { id_: id } = this
    return html`<div class="row lined">
      <div class="field"><label for="${id}-days">${this.t('history_days')}</label>
        <input id="${id}-days" class="short" type="number" min="1" max="365" .value=${
      String(historyDays)
    } @change=${this.days}></div>
    </div>`
  }

  private readonly days = async (event: Event): Promise<void> => {
    const input = event.target as HTMLInputElement
    const historyDays = Math.round(Number(input.value))
    if (!(historyDays >= 1 && historyDays <= 365) || !await this.panel.send('setOptions', { historyDays }))
      input.value = String(this.state.options.historyDays)
  }
}

define('portolan-options', OptionsCard)
