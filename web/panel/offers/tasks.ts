import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { PanelPart } from '../context.ts'
import { faultView } from '../../ui/fields.ts'
import { define, reactive } from '../../ui/part.ts'
import { clean, line } from '../../ui/text.ts'
import { answeredView, resultView } from '../tool/result.ts'
import type { RegistryError, TaskHandle, ToolResult } from '../../../wasm/js/shared/types.ts'

/** The time between two looks at the stored tasks, in ms. Another tab may have changed them. */
const lookEvery = 3000

/** A task as it is shown, with what is known of its wait. */
interface Row {
  readonly task: TaskHandle
  readonly waits?: AbortController | undefined
  readonly step?: string | undefined
  readonly result?: ToolResult
  readonly fault?: { message: string; hint?: string | undefined }
}

const keyOf = ({ server, taskId }: TaskHandle) => `${server} ${taskId}`

/** The tasks of detached calls. A person waits for their results here, or cancels them. */
class TaskView extends PanelPart {
  static override properties = reactive('rows')
  declare private rows: ReadonlyMap<string, Row> | undefined
  private clock: ReturnType<typeof setInterval> | undefined

  override connectedCallback(): void {
    super.connectedCallback()
    this.clock = setInterval(() => void this.look().catch(() => {}), lookEvery) // what was there stays
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearInterval(this.clock)
    for (const { waits } of this.rows?.values() ?? []) waits?.abort()
  }

  protected override firstUpdated(): void {
    void this.panel.run(() => this.look())
  }

  /** Reads the tasks. Rows with an outcome stay. What changes meanwhile is read at the next look. */
  private async look(): Promise<void> {
    const before = this.rows
    const tasks = await this.panel.registry.tasks()
    if (this.rows !== before) return
    const kept = [...this.rows ?? []].filter(([, r]) => r.result || r.fault || r.waits)
    this.rows = new Map<string, Row>([...tasks.map((task) => [keyOf(task), { task }] as const), ...kept])
  }

  private change(task: TaskHandle, row: Partial<Row> | undefined): void {
    const rows = new Map(this.rows)
    if (row) rows.set(keyOf(task), { ...rows.get(keyOf(task)), ...row, task })
    else rows.delete(keyOf(task))
    this.rows = rows
  }

  protected override render(): TemplateResult {
    const rows = [...this.rows?.values() ?? []].sort((a, b) => b.task.startedAt - a.task.startedAt)
    if (!rows.length) return html`<p class="nothing" role="status">${this.t(this.rows ? 'no_task' : 'loading')}</p>`
    return html`<ul class="group" part="tasks" aria-label=${this.t('view_tasks')}>${
      repeat(rows, (r) => keyOf(r.task), (r) => this.row(r))
    }</ul>`
  }

  private row({ task, waits, step, result, fault }: Row): TemplateResult {
    const at = new Date(task.startedAt)
    return html`<li class="task">
      <p class="row"><strong class="mono"><bdi>${line(task.tool, 128)}</bdi></strong>
        <span class="dim"><bdi>${line(task.server, 60)}</bdi> · <time datetime=${at.toISOString()}>${
      at.toLocaleString(this.panel.words.locale)
    }</time></span>
        <span class="apart"></span>
        ${
      result || fault
        ? html`<button type="button" class="small" @click=${() => this.change(task, undefined)}>${
          this.t('close')
        }</button>`
        : html`<button type="button" class="small" aria-disabled=${!!waits} @click=${() => this.wait(task, waits)}>${
          this.t('task_wait')
        }</button>
        <button type="button" class="small" @click=${() => this.cancel(task, waits)}>${this.t('task_cancel')}</button>`
    }</p>
      <div role="status">${
      result
        ? answeredView(this.panel, result)
        : waits && !fault
        ? html`<p class="dim" aria-live=${step ? 'off' : nothing}>${step ? clean(step, 300) : this.t('task_waits')}</p>`
        : nothing
    }</div>
      ${result ? resultView(this.panel, result) : nothing}
      ${faultView(fault)}
    </li>`
  }

  private async wait(task: TaskHandle, before: AbortController | undefined): Promise<void> {
    if (before) return
    const waits = new AbortController()
    this.change(task, { waits })
    try {
      const result = await task.wait({
        signal: waits.signal,
        onProgress: (p) => this.change(task, { step: p.message }),
      })
      this.change(task, { result })
    } catch (e) {
      if (!waits.signal.aborted) this.change(task, { fault: e as RegistryError })
      else if (this.rows?.get(keyOf(task))?.waits === waits) this.change(task, { waits: undefined })
    }
  }

  private async cancel(task: TaskHandle, waits: AbortController | undefined): Promise<void> {
    waits?.abort()
    await this.panel.run(async () => {
      await task.cancel()
      this.change(task, undefined)
    })
  }
}

define('portolan-tasks', TaskView)
