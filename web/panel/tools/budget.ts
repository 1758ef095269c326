import { html, nothing, type TemplateResult } from 'lit'
import type { PanelContext } from '../context.ts'
import { valueOf } from '../../ui/part.ts'
import { clean } from '../../ui/text.ts'
import { chosen } from './ledger.ts'
import type { Listed } from './ledger.ts'
import { deferred, fit } from './tokens.ts'

/** The dial: what tools may cost, what they do, and which to turn off to fit. */
export function budgetView(
  panel: PanelContext,
  listed: Map<string, Listed[]>,
  budget: number,
): TemplateResult | typeof nothing {
  const { words: t, tokenCounts } = panel
  const on = [...listed.values()].flatMap((list) => list.flatMap((l) => (l.on ? [l.info] : [])))
  const used = tokenCounts.total(on)
  if (!used && on.length) return html`<p class="budget dim" role="status">${t('weighing')}</p>`
  const over = budget > 0 && used > budget
  const out = over ? fit(on, budget, (tool) => tokenCounts.of(tool)!) : []
  const first = deferred(on, used, budget, (tool) => tokenCounts.of(tool)!)
  const apply = () =>
    panel.run(async () => {
      for (const [server, list] of listed) {
        const names = out.filter((tool) => tool.server === server).map((tool) => tool.tool)
        if (!names.length) continue
        const tools = chosen(panel.snapshot.servers[server]?.config.tools, list.map((l) => l.info.tool), names, false)
        await panel.registry.updateServer(server, { tools })
      }
    })
  return html`<div class="budget" part="budget" data-over=${over}>
    <label for="budget">${t('budget')}</label>
    <input id="budget" type="number" inputmode="numeric" min="0" step="500" .value=${
    budget ? String(budget) : ''
  } aria-describedby="budget-says"
      @change=${(e: Event) => panel.setBudget(Math.max(0, Math.floor(Number(valueOf(e))) || 0))}>
    ${
    budget
      ? html`<meter min="0" max=${
        Math.max(budget, used)
      } value=${used} low=${budget} high=${budget} optimum="0" aria-label=${t('budget_meter')}></meter>`
      : nothing
  }
    <p id="budget-says" class="dim" role="status">${t(budget ? 'budget_used_of' : 'budget_used', { n: used, budget })}${
    first < used ? ` ${t('budget_deferred', { n: first, saved: used - first })}` : nothing
  }</p>
    ${
    out.length
      ? html`<div class="fit">
      <p>${t('fit_text', { n: out.length })} ${
        out.slice(0, 12).map((tool, i) => html`${i ? t('comma') : ''}<bdi class="mono">${clean(tool.name, 64)}</bdi>`)
      }${out.length > 12 ? '…' : ''}</p>
      <button type="button" class="small primary" @click=${apply}>${t('fit', { n: out.length })}</button></div>`
      : nothing
  }
  </div>`
}
