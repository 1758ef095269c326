import { html, nothing, type TemplateResult } from 'lit'
import { download } from '../../web/panel/download.ts'
import type { Options } from '../messages.ts'
import { confirm } from './confirm.ts'
import { define, freshId, Piece } from './piece.ts'
import { giveBack, permit } from './permission.ts'
import { setting } from './setting.ts'

const switches = ['reuseChats', 'focus', 'aliases', 'pages', 'history'] as const satisfies (keyof Options)[]
const trusted = { permissions: ['debugger'] }

/** What holds for all chats. */
class OptionsCard extends Piece {
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { id_: id } = this
    const { options, permissions } = this.state
    return html`<section class="card plain" aria-labelledby=${id}>
      <header><h2 id=${id}>${this.t('options')}</h2></header>
      <div class="settings">
        ${switches.map((name) => setting({ id: `${id}-${name}`, label: this.t(`option_${name}`), means: this.t(`option_${name}_means`), on: options[name], change: (on) => this.desk.send('setOptions', { [name]: on }) }))}
        ${options.history ? this.history(options) : nothing}
        ${setting({ id: `${id}-trusted`, label: this.t('trusted'), means: this.t('trusted_means'), on: permissions.debugger, change: (on) => this.trust(on) })}
      </div>
    </section>`
  }

  private history({ historyDays }: Options): TemplateResult {
    const { id_: id } = this
    return html`<div class="row lined">
      <div class="field"><label for="${id}-days">${this.t('history_days')}</label>
        <input id="${id}-days" class="short" type="number" min="1" max="365" .value=${String(historyDays)} @change=${this.days}></div>
      <button type="button" class="end" @click=${this.exportHistory}>${this.t('history_export')}</button>
      ${confirm(this.desk, { label: this.t('history_clear'), question: this.t('history_question'), yes: this.t('history_yes'), act: () => this.clear() })}
    </div>`
  }

  private readonly days = async (event: Event): Promise<void> => {
    const input = event.target as HTMLInputElement
    const historyDays = Math.round(Number(input.value))
    if (!(historyDays >= 1 && historyDays <= 365) || !await this.desk.send('setOptions', { historyDays })) input.value = String(this.state.options.historyDays)
  }

  private async clear(): Promise<void> {
    if (await this.desk.send('clearHistory', {})) this.desk.tell(this.t('history_cleared'))
  }

  private readonly exportHistory = async (): Promise<void> => {
    const lines = await this.desk.run(() => this.desk.ask('exportHistory', {}))
    if (lines !== undefined) download('portolan-history.jsonl', lines)
  }

  private async trust(on: boolean): Promise<boolean> {
    if (!on) {
      await giveBack(trusted)
      return true
    }
    const granted = await this.desk.run(() => permit(trusted))
    if (granted === false) this.desk.warn(this.t('trusted_refused'))
    return !!granted
  }
}

define('portolan-options', OptionsCard)
