import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { fieldProblem } from '../../web/ui/fields.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import { copy } from '../../web/ui/save.ts'
import { clean } from '../../web/ui/text.ts'
import type { Site } from '../chats/drivermessages.ts'
import type { SiteProfile } from '../messages.ts'
import { confirm } from './confirm.ts'

/** Brings the whole field into sight. The browser itself looks after its caret only. */
const shown = (event: Event): void => (event.target as HTMLElement).scrollIntoView({ block: 'nearest' })

/** The user's changes of a site's profile: a JSON text, what it changes, and the way back. */
class ProfileEditor extends AppPart {
  static override properties = reactive('site', 'profile', 'problem')
  declare site: Site
  declare private profile: SiteProfile | undefined
  declare private problem: string | undefined
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { id_: id, profile } = this
    const { label, ownProfile } = this.state.chats[this.site]
    return html`<details @toggle=${this.open}><summary>${this.t('profile_site')}${
      ownProfile ? html` <span class="badge">${this.t('profile_own')}</span>` : nothing
    }</summary>${profile ? this.editor(profile, id, label) : nothing}</details>`
  }

  private editor(profile: SiteProfile, id: string, label: string): TemplateResult {
    return html`<div class="settings">
      <p class="dim">${this.t('profile_site_means', { chat: label })}</p>
      <div class="field"><label for="${id}-json">${this.t('profile_json')}</label>
        <textarea id="${id}-json" class="mono" rows="4" @focus=${shown} spellcheck="false" dir="ltr" .value=${profile.own}
          aria-invalid=${this.problem ? 'true' : nothing} aria-describedby="${id}-json-problem"
          placeholder='{ "version": 1, "layouts": [{ "name": "…", "input": ["…"] }] }'></textarea>
        ${fieldProblem(`${id}-json`, this.problem)}</div>
      <div class="row"><button type="button" class="primary" @click=${this.save}>${this.t('save')}</button>
        <button type="button" @click=${() => copy(this.panel, profile.shipped)}>${this.t('profile_copy')}</button>${
      profile.own
        ? confirm(this.panel, {
          label: this.t('profile_reset'),
          question: this.t('profile_reset_question', { chat: label }),
          yes: this.t('profile_reset_yes'),
          act: () => this.use(''),
        })
        : nothing
    }</div>
      ${
      profile.changes.length
        ? html`<h3>${this.t('profile_changes')}</h3><ul class="changes">${
          profile.changes.map((c) =>
            html`<li><p class="mono"><bdi>${clean(c.path, 200)}</bdi></p><p class="mono was"><del><bdi>${
              clean(c.shipped, 500)
            }</bdi></del></p><p class="mono"><ins><bdi>${clean(c.own, 500)}</bdi></ins></p></li>`
          )
        }</ul>`
        : nothing
    }</div>`
  }

  private readonly open = async (event: Event): Promise<void> => {
    if (!(event.target as HTMLDetailsElement).open) return
    this.profile = await this.panel.run(() => this.panel.ask('profile', { site: this.site })) ?? this.profile
  }

  private readonly save = (): Promise<void> => this.use(this.querySelector('textarea')!.value)

  private async use(json: string): Promise<void> {
    try {
      this.profile = await this.panel.ask('setProfile', { site: this.site, json })
      this.problem = undefined
      this.panel.tell(this.t('saved'))
    } catch (e) {
      this.problem = clean((e as Error).message, 300)
      await this.updateComplete
      this.querySelector('textarea')?.focus()
    }
  }
}

define('portolan-profile-editor', ProfileEditor)
