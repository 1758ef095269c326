import { html, nothing, type TemplateResult } from 'lit'
import { download } from '../../web/panel/download.ts'
import { clean } from '../../web/panel/text.ts'
import { openOptions } from '../browser.ts'
import { define, freshId, Piece } from './piece.ts'

/** This is the options page itself. */
const inTab = location.pathname.endsWith('/options.html')

/** This browser profile, as the bridge and its clients call it. */
class Profile extends Piece {
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { install, version } = this.state
    const id = this.id_
    return html`<section class="card plain" aria-labelledby=${id}>
      <header><h2 id=${id}>${this.t('profile')}</h2></header>
      <form class="row" @submit=${this.save}>
        <div class="field grow"><label for="${id}-label">${this.t('profile_label')}</label>
          <input id="${id}-label" name="label" maxlength="60" autocomplete="off" .value=${install.label} aria-describedby="${id}-means"></div>
        <button class="end">${this.t('save')}</button>
      </form>
      <p id="${id}-means" class="dim">${this.t('profile_means')}</p>
      <details><summary>${this.t('about')}</summary>
        <div class="stack">
          <dl class="pairs"><dt>${this.t('version')}</dt><dd><bdi>${clean(version, 40)}</bdi></dd><dt>${
      this.t('install_id')
    }</dt><dd class="mono"><bdi dir="ltr">${clean(install.id, 80)}</bdi></dd></dl>
          <div class="row">${
      inTab
        ? nothing
        : html`<button type="button" class="small" @click=${() => openOptions()}>${this.t('open_options')}</button>`
    }
            <button type="button" class="small" aria-describedby="${id}-bundle" @click=${this.bundle}>${
      this.t('debug_bundle')
    }</button></div>
          <p id="${id}-bundle" class="dim">${this.t('debug_means')}</p>
        </div>
      </details>
    </section>`
  }

  private async save(event: Event): Promise<void> {
    event.preventDefault()
    const label = this.querySelector<HTMLInputElement>('[name=label]')!.value.trim()
    if (await this.desk.send('setLabel', { label })) this.desk.tell(this.t('saved'))
  }

  private readonly bundle = async (): Promise<void> => {
    const text = await this.desk.run(() => this.desk.ask('debugBundle', {}))
    if (text !== undefined) download('portolan-debug.json', text)
  }
}

define('portolan-profile', Profile)
