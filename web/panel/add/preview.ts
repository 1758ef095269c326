import { html, nothing, type TemplateResult } from 'lit'
import { PanelPart } from '../context.ts'
import type { Key } from '../translations.ts'
import { define, freshId, reactive, valueOf } from '../../ui/part.ts'
import { options, selectField } from '../../ui/fields.ts'
import type { Snapshot } from '../../../wasm/js/shared/types.ts'
import { fill } from '../../config/placeholders.ts'
import type { Entry, Input, Lint } from '../../config/types.ts'
import { hostOf } from '../server/diagnosis.ts'
import { line } from '../../ui/text.ts'
import { isKept } from '../server/keeping.ts'
import { keepField } from '../server/fields.ts'
import { nameNote } from './name-note.ts'
import { carryOut, plansOf, ready, type Clash, type Plan } from './plan.ts'

const clashes: Clash[] = ['rename', 'overwrite', 'skip']

/** Entries before they are saved, with their inputs and remarks. */
class Preview extends PanelPart {
  static override properties = reactive('entries', 'servers', 'plans', 'busy', 'ofProject')
  declare entries: readonly Entry[]
  /** By the names that are taken. */
  declare servers: Snapshot['servers']
  declare private plans: Plan[]
  declare private busy: boolean
  /** The servers become the project's. */
  declare private ofProject: boolean
  private readonly id_ = freshId()

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('entries')) {
      this.panel.settle()
      this.plans = plansOf(this.entries, this.servers)
    }
    if (this.entries.some((e) => e.stdio)) void this.panel.run(() => import('./gateway.ts'))
  }

  protected override render(): TemplateResult {
    const able = ready(this.plans, this.taken)
    const many = this.plans.length > 1
    return html`
      <ul class="entries">${this.plans.slice(0, 50).map((plan, i) => this.entry(plan, `${this.id_}-${i}`, many))}</ul>
      ${
      this.plans.length > 50 ? html`<p class="dim">${this.t('and_more', { n: this.plans.length - 50 })}</p>` : nothing
    }
      ${
      this.entries.some((e) => e.stdio)
        ? html`<portolan-gateway .panel=${this.panel} .entries=${this.entries}></portolan-gateway>`
        : nothing
    }
    ${
      this.plans.some((p) => p.entry.config)
        ? html`<footer>${
          this.panel.registry.project
            ? html`<label class="choice"><input type="checkbox" .checked=${!!this.ofProject} @change=${(
              e: Event,
            ) => (this.ofProject = (e.target as HTMLInputElement).checked)}> ${this.t('scope_project')}</label>`
            : nothing
        }<button type="button" class="primary" aria-disabled=${!!this.busy} ?disabled=${!able.length} @click=${() =>
          this.add(able)}>${this.t('add_servers', { n: Math.max(1, able.length) })}</button></footer>`
        : nothing
    }`
  }

  private get taken(): ReadonlySet<string> {
    return new Set(Object.keys(this.servers))
  }

  private entry(plan: Plan, id: string, many: boolean): TemplateResult {
    const { entry, name } = plan
    const { config, stdio } = entry
    const change = (patch: Partial<Plan>) => {
      this.plans = this.plans.map((p) => (p === plan ? { ...p, ...patch } : p))
    }
    if (!config) {
      return html`<li class="entry"><p><strong><bdi>${line(name, 80)}</bdi></strong> <span class="badge">${
        this.t('local_process')
      }</span></p>
        ${
        stdio
          ? html`<p class="hint">${this.t('stdio_why')} <bdi class="mono" dir="ltr">${
            line([stdio.command, ...stdio.args].join(' '), 300)
          }</bdi></p>`
          : nothing
      }${this.lints(entry.lints)}</li>`
    }
    const clash = this.taken.has(name)
    const url = entry.inputs.length ? fill(entry, plan.values).url || config.url : config.url
    return html`<li class="entry">
      <div class="row">
        ${
      many
        ? html`<input type="checkbox" .checked=${plan.chosen} aria-label=${
          this.t('take', { name: line(name, 80) })
        } @change=${(e: Event) => change({ chosen: (e.target as HTMLInputElement).checked })}>`
        : nothing
    }
        <div class="field grow"><label for="${id}-name">${this.t('name')}</label>
          <input id="${id}-name" maxlength="64" spellcheck="false" autocomplete="off" required
            aria-describedby="${id}-name-note" .value=${name} @input=${(e: Event) => change({ name: valueOf(e) })}>
          ${nameNote(this.panel.words, `${id}-name-note`, name.trim())}</div>
        ${
      clash
        ? selectField(`${id}-clash`, this.t('name_taken'), clashes, plan.clash, (c) =>
          this.t(`clash_${c}`), (clash) =>
          change({ clash }))
        : nothing
    }
      </div>
      <ul class="facts"><li>${this.host(entry, line(hostOf(url), 100))}</li>
        <li>${this.t(`transport_${config.transport ?? 'auto'}`)}</li>
        ${
      entry.secrets.length
        ? html`<li>${
          this.t('secrets_found', {
            n: entry.secrets.length,
            names: entry.secrets.map((s) => line(s.header, 60)).join(this.t('comma')),
          })
        }</li>`
        : nothing
    }
        ${config.enabled === false ? html`<li>${this.t('standing_off')}</li>` : nothing}</ul>
      ${
      entry.inputs.length
        ? html`<div class="columns">${
          entry.inputs.slice(0, 30).map((input, i) =>
            this.input(input, `${id}-in${i}`, plan.values, (values) => change({ values }))
          )
        }</div>`
        : nothing
    }
      ${
      entry.secrets.length || entry.inputs.some((input) => input.password)
        ? keepField(
          this.panel.words,
          `${id}-keep`,
          plan.keep ?? isKept(this.panel, config),
          (keep) => change({ keep }),
        )
        : nothing
    }
      ${this.lints(entry.lints)}
    </li>`
  }

  /** The host of a server, in bold if it is not the one that the person gave. */
  private host({ lints }: Entry, host: string): TemplateResult {
    const name = html`<bdi dir="ltr">${host}</bdi>`
    return lints.some((l) => l.code === 'other_host') ? html`<strong>${name}</strong>` : name
  }

  private input(
    input: Input,
    id: string,
    values: Record<string, string>,
    put: (values: Record<string, string>) => void,
  ): TemplateResult {
    const label = line(input.header ?? input.id, 80)
    const set = (e: Event) => put({ ...values, [input.id]: valueOf(e) })
    return html`<div class="field"><label for=${id}><bdi>${label}</bdi>${
      input.required ? '' : ` (${this.t('optional')})`
    }</label>
      ${
      input.choices
        ? html`<select id=${id} aria-describedby="${id}-help" @change=${set}><option value="">${
          input.default ? line(input.default, 80) : ''
        }</option>${options(input.choices.slice(0, 100), values[input.id], (c) => line(c, 100))}</select>`
        : html`<input id=${id} type=${
          input.password ? 'password' : 'text'
        } autocomplete="off" spellcheck="false" aria-describedby="${id}-help" ?required=${input.required} .value=${
          values[input.id] ?? ''
        } @input=${set}>`
    }
      <p class="dim" id="${id}-help"><bdi>${line(input.description ?? (input.header ? input.id : ''), 300)}</bdi>${
      input.default && !input.password ? html` ${this.t('default_is', { value: line(input.default, 80) })}` : nothing
    }</p></div>`
  }

  private lints(lints: readonly Lint[]): TemplateResult | typeof nothing {
    if (!lints.length) return nothing
    return html`<ul class="lints">${
      lints.slice(0, 20).map((l) =>
        html`<li class="hint ${l.level === 'error' ? 'bad' : l.level === 'warning' ? 'warn' : ''}"><strong>${
          this.t(`level_${l.level}`)
        }</strong>
      ${
          this.t(
            `lint_${l.code}` as Key,
            Object.fromEntries(Object.entries(l.values ?? {}).map(([k, v]) => [k, line(v, 120)])),
          )
        }</li>`
      )
    }</ul>`
  }

  private async add(plans: Plan[]): Promise<void> {
    if (this.busy) return
    this.busy = true
    const done = new Map<Plan, string>()
    await this.panel.run(() => carryOut(this.panel.registry, plans, done, this.ofProject ? { scope: 'project' } : {}))
    this.busy = false
    const names = [...done.values()]
    if (names.length < plans.length) return void (this.plans = this.plans.filter((plan) => !done.has(plan)))
    this.panel.tell(this.t('added', { n: names.length, names: names.map((n) => line(n, 60)).join(this.t('comma')) }))
    // Meanwhile the person may have pasted what comes next.
    if (this.entries.includes(plans[0]!.entry)) this.dispatchEvent(new CustomEvent('added'))
  }
}

define('portolan-preview', Preview)
