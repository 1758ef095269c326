import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { AppPart } from './context.ts'
import { define, freshId } from '../../web/ui/part.ts'
import { standingIcon } from '../../web/ui/icons.ts'
import { clean, line } from '../../web/ui/text.ts'
import { openTab } from '../browser.ts'
import type { Site } from '../chats/drivermessages.ts'
import type { Comparison } from '../messages.ts'
import { confirm } from './confirm.ts'

type Row = Comparison['rows'][number]

const marks: Record<string, string> = { agree: '✓', disagree: '✗', silent: '–' }
const icons = { asked: 'connecting', answered: 'connected', failed: 'failed' } as const

/** The answers of several chats to one question, their agreements and their differences. */
class Comparisons extends AppPart {
  private readonly id_ = freshId()

  protected override render(): TemplateResult | typeof nothing {
    const { comparisons } = this.state
    if (!comparisons.length) return nothing
    return html`<section class="card plain" aria-labelledby=${this.id_}><header><h2 id=${this.id_}>${
      this.t('comparisons')
    } <span class="count">${this.panel.words.number(comparisons.length)}</span></h2>${
      confirm(this.panel, {
        label: this.t('clear'),
        question: this.t('comparisons_question'),
        yes: this.t('log_yes'),
        small: true,
        act: () => this.panel.send('clearComparisons', {}),
      })
    }</header>
      ${repeat(comparisons, (c) => c.id, (c, i) => this.comparison(c, i === 0))}</section>`
  }

  private comparison(c: Comparison, open: boolean): TemplateResult {
    const { words: t } = this.panel
    const state = c.endedAt === undefined
      ? t('compare_round', { n: c.round, most: c.rounds })
      : c.rows.length || c.answer
      ? t('compare_ended', { ago: t.ago(c.endedAt, this.now) })
      : t('compare_none')
    return html`<details class="comparison" ?open=${open}><summary id="${this.id_}-${c.id}"><bdi>${
      clean(c.prompt, 200)
    }</bdi></summary>
      <p class="dim">${t('asked_by')} <bdi>${line(c.client, 80)}</bdi> · ${state}</p>
      <ul class="facts">${c.sites.map((s) => this.site(s))}</ul>
      ${c.fault ? html`<p class="hint warn">${t('compare_fault')} <code>${clean(c.fault, 60)}</code></p>` : nothing}
      ${
      c.answer
        ? html`<h3>${t(`compare_answer_${c.form}`)}</h3><p class="quote whole"><bdi>${clean(c.answer, 4000)}</bdi></p>`
        : nothing
    }
      ${c.rows.length ? this.rows(c) : nothing}
      ${
      c.openPoints?.length
        ? html`<h3>${t('compare_open')}</h3><ul>${
          c.openPoints.map((p) => html`<li><bdi>${clean(p, 500)}</bdi></li>`)
        }</ul>`
        : nothing
    }
      ${c.sites.map((s) => s.answer ? this.answer(s.site, s.answer) : nothing)}
    </details>`
  }

  private label(site: Site): string {
    return this.state.chats[site].label
  }

  private site({ site, state, code, url }: Comparison['sites'][number]): TemplateResult {
    const label = this.label(site)
    return html`<li class="site" data-state=${state}>${standingIcon[icons[state]]} ${
      url && /^https:/.test(url)
        ? html`<button type="button" class="link" @click=${() => openTab(url)}>${
          this.t('chat_open', { chat: label })
        }</button>`
        : html`${label}: ${this.t(`compare_${state}`)}`
    }${code ? html` <code>${clean(code, 60)}</code>` : nothing}</li>`
  }

  /** A column for each site that answered. */
  private rows(c: Comparison): TemplateResult {
    const answered = c.sites.filter((s) => s.answer !== undefined).map((s) => s.site)
    return html`<div class="scrolls" tabindex="0" role="region" aria-labelledby="${this.id_}-${c.id}">
      <table><thead><tr><th scope="col">${this.t('compare_claims')}</th>${
      answered.map((site) => html`<th scope="col">${this.label(site)}</th>`)
    }</tr></thead><tbody>${
      c.rows.map((row) =>
        html`<tr><th scope="row">${clean(row.text, 500)}</th>${answered.map((site) => this.cell(row, site))}</tr>`
      )
    }</tbody></table></div>`
  }

  private cell({ by }: Row, site: Site): TemplateResult {
    const said = by ? by[site] ?? 'silent' : 'agree'
    const mark = Object.hasOwn(marks, said) ? marks[said] : undefined
    if (!mark) return html`<td>${clean(said, 500)}</td>`
    return html`<td data-position=${said}><span aria-hidden="true">${mark}</span><span class="visually-hidden">${
      this.t(`compare_${said as 'agree' | 'disagree' | 'silent'}`)
    }</span></td>`
  }

  private answer(site: Site, text: string): TemplateResult {
    return html`<details><summary>${this.t('compare_said', { chat: this.label(site) })}</summary>
      <p class="quote whole"><bdi>${clean(text, 4000)}</bdi></p></details>`
  }
}

define('portolan-comparisons', Comparisons)
