import { html, nothing, type TemplateResult } from 'lit'
import { type Dialog, PanelDialog } from '../context.ts'
import { faultView } from '../../ui/fields.ts'
import { firstClick } from '../../ui/dialog.ts'
import { define, reactive } from '../../ui/part.ts'
import { clean, line } from '../../ui/text.ts'
import { blockView } from '../tool/result.ts'
import { flagList } from '../tools/flags-view.ts'
import type { Flag, RegistryError, Skill, SkillFile, SkillInfo } from '../../../wasm/js/shared/types.ts'
import { OfferList } from './list.ts'

/** Skills by server. */
class SkillsView extends OfferList<SkillInfo> {
  protected readonly counts = []
  protected readonly kind = 'skills'

  protected async load(): Promise<SkillInfo[]> {
    const { registry } = this.panel
    const skills = await registry.skills()
    return [...await registry.skills({ held: true }), ...skills]
  }

  protected keyOf(skill: SkillInfo): string {
    return skill.uri
  }

  protected row(skill: SkillInfo): TemplateResult {
    const isAlike = ({ server, name, uri }: SkillInfo) =>
      server === skill.server && name === skill.name && uri !== skill.uri
    return html`<button type="button" class="quiet about" @click=${() =>
      this.panel.show({ kind: 'skill', skill, approved: () => this.reload() })}>
        <span><bdi>${line(skill.name, 128)}</bdi></span>
        ${this.offers?.some(isAlike) ? html`<span class="mono" dir="ltr">${line(skill.uri, 500)}</span>` : nothing}
        <span class="dim clip" dir="auto">${clean(skill.description, 160)}</span>
      </button>
      ${skill.held ? html`<span class="badge warn">${this.t(`prompt_${skill.held}`)}</span>` : nothing}${
      skill.refused !== undefined ? html`<span class="badge warn">${this.t('skill_refused')}</span>` : nothing
    }`
  }
}

/** The content of a skill's file. */
type Shown = Pick<SkillFile, 'uri' | 'path' | 'mimeType' | 'content' | 'blob' | 'flags'>

/** A skill with its files. A person reads them, also before the approval. */
class SkillDialog extends PanelDialog {
  static override properties = reactive('skill', 'loaded', 'shown', 'reading', 'fault')
  declare skill: SkillInfo
  declare approved: NonNullable<Extract<Dialog, { kind: 'skill' }>['approved']>
  declare private loaded: Skill | undefined
  declare private shown: Shown | undefined
  /** The reading that is under way. */
  declare private reading: object | undefined
  declare private fault: RegistryError | undefined
  protected override wide = true

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('skill')) return
    this.loaded = undefined
    if (this.skill.refused === undefined) void this.read('SKILL.md')
  }

  protected heading(): TemplateResult {
    return html`<bdi>${line(this.skill.name, 128)}</bdi>`
  }

  protected body(): TemplateResult {
    const { skill, shown, fault } = this
    const flags: Flag[] = [...skill.flags ?? [], ...shown?.flags ?? []]
    return html`<div class="content" @click=${firstClick}>
      <p class="dim"><bdi>${line(skill.server, 80)}</bdi> · <bdi class="mono" dir="ltr">${
      clean(skill.uri, 500)
    }</bdi></p>
      ${flagList(this.panel.words, flags)}
      <p class="description" tabindex="0"><bdi>${clean(skill.description, 4000)}</bdi></p>
      ${
      skill.refused === undefined
        ? nothing
        : html`<p class="hint bad">${this.t('skill_refused_why')} <bdi>${clean(skill.refused, 500)}</bdi></p>`
    }
      ${
      skill.held ? html`<p class="hint warn">${this.t(`held_${skill.held}`)} ${this.t('skill_held_why')}</p>` : nothing
    }
      ${this.files()}
      <div role="status">${this.reading ? this.t('loading') : nothing}</div>
      ${faultView(fault)}
      ${
      shown
        ? html`<section class="result" aria-label=${clean(shown.path, 200)}><div class="block">${
          blockView(this.panel, {
            type: 'resource',
            resource: { ...shown, text: shown.blob ? undefined : shown.content },
          })
        }</div></section>`
        : nothing
    }
      ${
      skill.held
        ? html`<footer><button type="button" @click=${() => this.close()}>${this.t('review_later')}</button>
        <button type="button" class="primary" @click=${this.approve}>${this.t('approve')}</button></footer>`
        : nothing
    }
    </div>`
  }

  private files(): TemplateResult | typeof nothing {
    const { files } = this.skill
    if (files === 'dynamic') return html`<p class="hint">${this.t('skill_dynamic')}</p>`
    return files.length < 2
      ? nothing
      : html`<ul class="row" aria-label=${this.t('skill_files')}>${
        files.map(({ path }) =>
          html`<li><button type="button" class="mono" aria-pressed=${this.shown?.path === path} @click=${() =>
            this.read(path)}><bdi dir="ltr">${clean(path, 200)}</bdi></button></li>`
        )
      }</ul>`
  }

  /** Reads a file. An earlier file that comes later is not shown. */
  private async read(path: string): Promise<void> {
    const reading = this.reading = {}
    this.shown = this.fault = undefined
    let shown: Shown | undefined, fault: RegistryError | undefined
    try {
      shown = await this.fileAt(path)
    } catch (e) {
      fault = e as RegistryError
    }
    if (this.reading !== reading) return
    this.reading = undefined
    this.fault = fault
    if (shown && this.loaded?.pin !== this.skill.pin) this.showNow(this.loaded!)
    else this.shown = shown
  }

  /** A file as its entry says. A person reads it before the approval too. */
  private async fileAt(path: string): Promise<Shown> {
    const { skill, panel: { registry }, ends: { signal } } = this
    const loaded = this.loaded ?? await registry.getSkill(skill.server, skill.uri, { signal, held: true })
    if (this.skill === skill) this.loaded = loaded
    return path === 'SKILL.md' ? loaded : loaded.read(path, { signal })
  }

  /** The server has changed the skill: a person approves what is shown. */
  private showNow(skill: SkillInfo): void {
    this.panel.show({ kind: 'skill', skill, approved: this.approved })
  }

  private readonly approve = async (): Promise<void> => {
    const { server, uri, pin } = this.skill
    const { registry } = this.panel
    const isOver = await this.panel.run(async () => {
      const now = (await registry.skills({ held: true, servers: [server] })).find((s) => s.uri === uri)
      if (now && now.pin !== pin) {
        this.showNow(now)
        return false
      }
      if (now) await registry.approveSkills(server, [`pin:${pin}`]) // else another panel has, or the server lacks it
      this.approved()
      return true
    })
    if (isOver) this.close()
  }
}

define('portolan-skill-list', SkillsView)
define('portolan-skill', SkillDialog)
