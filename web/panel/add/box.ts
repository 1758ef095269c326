import { html, nothing, type TemplateResult } from 'lit'
import { PanelPart } from '../context.ts'
import type { Key } from '../translations.ts'
import { composes, define, freshId, reactive, valueOf } from '../../ui/part.ts'
import type { Snapshot } from '../../../wasm/js/shared/types.ts'
import type { Entry, Reading } from '../../config/types.ts'

/** The box in which people paste anything that describes a server. */
class AddBox extends PanelPart {
  static override properties = reactive('servers', 'text', 'looked')
  static override initial = { text: '' }
  declare servers: Snapshot['servers']
  declare private text: string
  /** The findings of a look at the domain in the box. */
  declare private looked: readonly Entry[] | undefined
  private readonly id_ = freshId()
  private reading: Reading = { kind: 'empty', entries: [] }
  private read: typeof import('../parts.ts').readConfig | undefined

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('text')) return
    this.looked = undefined
    if (this.read) this.reading = this.read(this.text, { page: location.href })
    else if (this.text) void this.prepare()
  }

  /** Loads what reads configurations; a text that is there by then is read. */
  private readonly prepare = () =>
    this.panel.run(async () => {
      const { readConfig } = await import('../parts.ts')
      if (!this.read) this.requestUpdate('text')
      this.read = readConfig
    })

  protected override render(): TemplateResult {
    const { id_: id, reading, text } = this
    return html`<div class="add" part="add">
      <div class="row">
        <div class="field grow"><label for=${id}>${this.t('add_server')}</label>
          <textarea id=${id} rows=${
      Math.min(8, text.split('\n', 8).length)
    } dir="ltr" spellcheck="false" autocomplete="off" autocapitalize="off" aria-describedby="${id}-help"
            .value=${text} @input=${(
      e: Event,
    ) => (this.text = valueOf(e))} @focus=${this.prepare} @keydown=${this.key} @drop=${this.drop}></textarea></div>
        <button type="button" @click=${() => this.panel.show({ kind: 'catalogue' })}>${this.t('browse')}</button>
        <button type="button" @click=${() => this.panel.show({ kind: 'export' })} ?hidden=${!Object.keys(this.servers)
      .length}>${this.t('export')}</button>
      </div>
      <p id="${id}-help" class="dim">${this.t('add_help')}</p>
      <div role="status">${this.found(reading)}</div>
      ${
      reading.entries.length
        ? html`<portolan-look .panel=${this.panel} .reading=${reading} @looked=${(
          { detail }: CustomEvent<readonly Entry[]>,
        ) => (this.looked = detail)}></portolan-look>
        <portolan-preview .panel=${this.panel} .entries=${this.looked ?? reading.entries} .servers=${this.servers}
          @added=${() => (this
          .text = '')}></portolan-preview>`
        : nothing
    }
    </div>`
  }

  private found({ kind, entries, problem }: Reading): TemplateResult | typeof nothing {
    if (problem) {
      const { code, line, column, limit } = problem
      const where = line ? ` ${this.t('at_line', { n: line, column: column ?? 1 })}` : ''
      return html`<p class="hint ${entries.length ? 'warn' : 'bad'}">${
        this.t(`problem_${code}` as Key, limit ? { n: limit } : {})
      }${where}</p>`
    }
    return kind === 'empty'
      ? nothing
      : html`<p class="dim">${this.t('read_as', { what: this.t(`kind_${kind}` as Key), n: entries.length })}</p>`
  }

  /** Enter adds, if there is nothing left to ask. */
  private readonly key = async (e: KeyboardEvent) => {
    const { text } = this
    if (e.key !== 'Enter' || e.shiftKey || composes(e) || text.includes('{') || text.endsWith('\\')) return
    e.preventDefault()
    await this.prepare()
    await this.updateComplete
    await this.querySelector<PanelPart>('portolan-preview')?.updateComplete
    if (text === this.text) this.querySelector<HTMLButtonElement>('portolan-preview footer button')?.click()
  }

  private readonly drop = (e: DragEvent): void => {
    const file = e.dataTransfer?.files[0]
    if (!file) return
    e.preventDefault()
    void this.panel.run(async () => {
      if (file.size > 1 << 20) this.panel.tell(this.t('problem_too_large'))
      else this.text = await file.text()
    })
  }
}

define('portolan-add', AddBox)
