import { html, nothing, type TemplateResult } from 'lit'
import { type Dialog, PanelDialog } from '../context.ts'
import { define, reactive } from '../../ui/part.ts'
import { flag as flagIcon } from '../../ui/icons.ts'
import { clean, line } from '../../ui/text.ts'
import { blockView } from '../tool/result.ts'
import { flagList } from '../tools/flags-view.ts'
import type { Flag, RegistryError, Skill, SkillFile, SkillInfo } from '../../../wasm/js/shared/types.ts'
import { OfferList } from './list.ts'

/** Skills by server. */
class SkillsView extends OfferList<SkillInfo> {
  protected readonly counts = []
  protected readonly words = { search: 'search_skills', none: 'no_skills' } as const

  protected async load(): Promise<SkillInfo[]> {
    const { registry } = this.panel
    const skills = await registry.skills()
    return [...await registry.skills({ held: true }), ...skills]
  }

  protected keyOf(skill: SkillInfo): string {
    return skill.uri
  }

  protected row(skill: SkillInfo): TemplateResult {
    return html`<button type="button" class="quiet about" @click=${() =>
      this.panel.show({ kind: 'skill', skill, approved: () => this.reload() })}>
        <span><bdi>${line(skill.name, 128)}</bdi></span>
        <span class="dim clip" dir="auto">${clean(skill.description, 160)}</span>
      </button>
      ${skill.held ? html`<span class="badge warn">${this.t(`prompt_${skill.held}`)}</span>` : nothing}${
      skill.refused !== undefined ? html`<span class="badge warn">${this.t('skill_refused')}</span>` : nothing
    }${
      skill.flags?.length
        ? html`<span class="badge warn">${flagIcon}<span>${this.t('flags_title')}</span></span>`
        : nothing
    }`
  }
}

/** What a file of a skill shows. */
type Shown = Pick<SkillFile, 'uri' | 'path' | 'mimeType' | 'content' | 'blob' | 'flags'>

/** A skill with its files. A person reads them, also before the approval. */
class SkillDialog extends PanelDialog {
  static override properties = reactive('skill', 'loaded', 'shown', 'reading', 'fault')
  declare skill: SkillInfo
  declare approved: NonNullable<Extract<Dialog, { kind: 'skill' }>['approved']>
  /** Absent while the skill is held: then the server is asked for the resource. */
  declare private loaded: Skill | undefined
  declare private shown: Shown | undefined
  declare private reading: boolean
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
    return html`<div class="content">
      <p class="dim"><bdi>${line(skill.server, 80)}</bdi> · <bdi class="mono" dir="ltr">${
      clean(skill.uri, 500)
    }</bdi></p>
      ${flagList(this.panel.words, flags)}
      <p class="description"><bdi>${clean(skill.description, 4000)}</bdi></p>
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
      ${
      fault
        ? html`<div class="hint bad" role="alert"><p>${clean(fault.message, 500)}</p>${
          fault.hint ? html`<p>${clean(fault.hint, 500)}</p>` : nothing
        }</div>`
        : nothing
    }
      ${
      shown
        ? html`<section class="result" aria-label=${clean(shown.path, 200)}><div class="block">${
          blockView(this.panel, {
            type: 'resource',
            resource: {
              uri: shown.uri,
              ...(shown.mimeType && { mimeType: shown.mimeType }),
              ...(shown.blob === undefined ? { text: shown.content } : { blob: shown.blob }),
            },
          }, undefined)
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

  /** Reads one file at a time. */
  private async read(path: string): Promise<void> {
    if (this.reading) return
    this.reading = true
    this.shown = this.fault = undefined
    try {
      this.shown = await this.fileAt(path)
    } catch (e) {
      this.fault = e as RegistryError
    }
    this.reading = false
  }

  private async fileAt(path: string): Promise<Shown> {
    const { skill: { server, uri, held, files }, panel: { registry }, ends: { signal } } = this
    if (!held) {
      this.loaded ??= await registry.getSkill(server, uri, { signal })
      return path === 'SKILL.md' ? this.loaded : this.loaded.read(path, { signal })
    }
    const at = files === 'dynamic' ? uri : files.find((f) => f.path === path)!.uri
    const { contents, flags } = await registry.readResource(server, at, { signal })
    const { text: content, ...rest } = contents[0] ?? { uri: at, text: '' }
    return { ...rest, path, ...(content !== undefined && { content }), ...(flags && { flags }) }
  }

  private readonly approve = async (): Promise<void> => {
    const { server, uri, pin } = this.skill
    const { registry } = this.panel
    const isOver = await this.panel.run(async () => {
      // Its server may have changed it since: the person approves what is shown.
      const now = (await registry.skills({ held: true, servers: [server] })).find((s) => s.uri === uri)
      if (now && now.pin !== pin) {
        this.panel.show({ kind: 'skill', skill: now, approved: this.approved })
        return false
      }
      await registry.approveSkills(server, [`pin:${pin}`])
      this.approved()
      return true
    })
    if (isOver) this.close()
  }
}

define('portolan-skill-list', SkillsView)
define('portolan-skill', SkillDialog)
