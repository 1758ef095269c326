import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { AppPart } from './context.ts'
import { define, freshId } from '../../web/ui/part.ts'
import { standingIcon } from '../../web/ui/icons.ts'
import { clean, line } from '../../web/ui/text.ts'
import type { Run } from '../messages.ts'
import { hand } from './icons.ts'

/** The icons of phases in which no answer is written. */
const icons: Partial<Record<Run['phase'], TemplateResult>> = {
  queued: standingIcon.idle,
  paused: standingIcon.paused,
  handover: hand,
}

/** The prompts that run or wait now. */
class Runs extends AppPart {
  private readonly id_ = freshId()

  protected override render(): TemplateResult | typeof nothing {
    const { runs } = this.state
    if (!runs.length) return nothing
    return html`<section class="card plain" aria-labelledby=${this.id_}><header><h2 id=${this.id_}>${
      this.t('runs')
    } <span class="count">${this.panel.words.number(runs.length)}</span></h2></header>
      <ul>${repeat(runs, (r) => r.id, (r) => html`<li>${this.run(r)}</li>`)}</ul></section>`
  }

  private run(r: Run): TemplateResult {
    const { words: t } = this.panel
    const label = this.state.chats[r.site].label
    // A run that ends leaves its place to the next one, for the second click of a double click.
    const act = (
      method: 'showRun' | 'cancelRun' | 'resumeRun' | 'handOver',
      key: 'show_tab' | 'cancel' | 'resume' | 'hand_over',
      look = '',
    ) =>
      html`<button type="button" class="small ${look}" aria-label="${t(key)}: ${label}" @click=${(e: MouseEvent) =>
        e.detail < 2 && this.panel.send(method, { id: r.id })}>${t(key)}</button>`
    return html`<div class="run">${icons[r.phase] ?? standingIcon.connecting}
      <p><strong>${label}</strong> · ${t(`run_phase_${r.phase}`)} · <span class="dim">${
      t('run_for', { time: t.duration(Math.max(0, Math.floor((this.now - r.startedAt) / 1000)) * 1000) })
    }</span></p>
      <p class="quote"><bdi>${clean(r.prompt, 200)}</bdi></p>
      <p class="dim">${t('asked_by')} <bdi>${line(r.client, 80)}</bdi> · ${t(`mode_${r.mode}`)}</p>
      ${
      r.phase === 'paused'
        ? html`<p class="hint warn">${t('paused_means')}</p>`
        : r.phase === 'handover'
        ? html`<p class="hint warn">${t('handover_means', { chat: label })}</p>`
        : nothing
    }
      <div class="row">
        ${r.phase === 'paused' ? act('resumeRun', 'resume', 'primary') : nothing}
        ${r.phase === 'handover' ? act('handOver', 'hand_over', 'primary') : nothing}
        ${r.phase === 'queued' ? nothing : act('showRun', 'show_tab')}
        ${act('cancelRun', 'cancel')}
      </div>
    </div>`
  }
}

define('portolan-runs', Runs)
