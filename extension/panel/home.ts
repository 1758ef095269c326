import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { AppPart } from './context.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import { download } from '../../web/ui/save.ts'
import { switchOption } from './permissions.ts'
import { setting } from './setting.ts'
import { clean } from '../../web/ui/text.ts'
import { openOptions } from '../browser.ts'
import './clients.ts'
import './link.ts'
import './origins.ts'
import './pairing.ts'
import './runs.ts'

/** The bridge does not know this browser, or has another key. Only pairing helps. */
const estranged = new Set(['NOT_PAIRED', 'BAD_PROOF', 'NO_KEY'])

/** The bridges, running prompts, clients and permissions. */
class Home extends AppPart {
  static override properties = reactive('adding')
  /** The person wants to pair another bridge. */
  declare private adding: boolean
  private pairings = ''

  protected override willUpdate(): void {
    const pairings = this.state.links.map((link) => link.pairing).join()
    if (pairings !== this.pairings) this.adding = false
    this.pairings = pairings
  }

  protected override render(): TemplateResult {
    const { panel, state, now } = this
    const { links } = state
    const lost = links.find((link) => link.status === 'refused' && estranged.has(link.error?.code ?? ''))
    const pairing = !links.length || state.pairing || lost || this.adding
    // Before the first pairing nobody can call.
    const strangers = !links.length && !state.clients.length && !state.origins.length
    return html`
      ${
      repeat(links, (link) =>
        link.pairing, (link) =>
        html`<portolan-link .panel=${panel} .state=${state} .link=${link} .now=${now}></portolan-link>`)
    }
      ${
      pairing
        ? html`<portolan-pairing .panel=${panel} .state=${state} .address=${lost?.address} .close=${
          links.length && !lost ? this.close : undefined
        }></portolan-pairing>`
        : html`<div><button type="button" class="small" @click=${() => (this.adding = true)}>${
          this.t('pair_another')
        }</button></div>`
    }
      <portolan-runs .panel=${panel} .state=${state} .now=${now}></portolan-runs>
      <div class="pair">
        <div class="main">${
      strangers ? nothing : html`<portolan-clients .panel=${panel} .state=${state} .now=${now}></portolan-clients>`
    }
          <portolan-bookmarks .panel=${panel} .state=${state}></portolan-bookmarks></div>
        <div class="main">${
      strangers ? nothing : html`<portolan-origins .panel=${panel} .state=${state}></portolan-origins>`
    }
          <portolan-profile .panel=${panel} .state=${state}></portolan-profile></div>
      </div>`
  }

  private readonly close = (): void => {
    this.adding = false
    if (this.state.pairing) void this.panel.send('cancelPairing', {})
  }
}

define('portolan-home', Home)

const bookmarks = { permissions: ['bookmarks'] }

/** Switches the bookmark tools; the permission is asked in the click. */
class Bookmarks extends AppPart {
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { options, permissions } = this.state
    return html`<section class="card plain" aria-labelledby=${this.id_}>
      <header><h2 id=${this.id_}>${this.t('bookmarks')}</h2></header>
      ${
      setting({
        id: `${this.id_}-on`,
        label: this.t('bookmarks_on'),
        means: this.t('bookmarks_means'),
        on: options.bookmarks && permissions.bookmarks,
        change: (on) => switchOption(this.panel, 'bookmarks', on, bookmarks),
      })
    }
    </section>`
  }
}

define('portolan-bookmarks', Bookmarks)

/** This is the options page itself. */
const inTab = location.pathname.endsWith('/options.html')

/** This browser profile, as the bridge and its clients call it. */
class Profile extends AppPart {
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { install, version } = this.state
    const id = this.id_
    return html`<section class="card plain" aria-labelledby=${id}>
      <header><h2 id=${id}>${this.t('profile')}</h2></header>
      <form class="row" @submit=${this.save}>
        <div class="field grow"><label for="${id}-label">${this.t('profile_label')}</label>
          <input id="${id}-label" name="label" maxlength="60" autocomplete="off" .value=${install.label}
            aria-describedby="${id}-means"></div>
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
        : html`<button type="button" class="small" @click=${openOptions}>${this.t('open_options')}</button>`
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
    if (await this.panel.send('setLabel', { label })) this.panel.tell(this.t('saved'))
  }

  private readonly bundle = async (): Promise<void> => {
    const text = await this.panel.run(() => this.panel.ask('debugBundle', {}))
    if (text !== undefined) download('portolan-debug.json', text)
  }
}

define('portolan-profile', Profile)
