import { html, nothing, type TemplateResult } from 'lit'
import type { PanelContext } from '../context.ts'
import type { Key, Words } from '../translations.ts'
import { wordsOfRule } from './flag-words.ts'
import type { Flag, ToolInfo } from '../../../wasm/js/shared/types.ts'
import { flag as icon } from '../../ui/icons.ts'
import { clean } from '../../ui/text.ts'

/** The flags of one tool, in words. */
export function flagsView(panel: PanelContext, tool: ToolInfo): TemplateResult | typeof nothing {
  const { words: t } = panel
  return box(t, panel.flags.of(tool).map((f) => ({ ...f, says: t(`flag_${f.code}_${f.why}` as Key) })))
}

/** Flags of the registry's own, in words. */
export const flagList = (t: Words, flags: readonly Flag[] = []): TemplateResult | typeof nothing =>
  box(t, flags.map((f) => ({ ...f, says: t(`flag_suspicious_${wordsOfRule(f.rule)}` as Key) })))

function box(
  t: Words,
  list: readonly { says: string; other?: string; excerpt?: string; where?: string }[],
): TemplateResult | typeof nothing {
  if (!list.length) return nothing
  return html`<div class="flags" part="flags"><strong class="badge warn">${icon}<span>${
    t('flags_title')
  }</span></strong>
    <ul>${
    list.map((f) =>
      html`<li>${f.says}${f.other ? html` <bdi class="mono">${f.other}</bdi>` : nothing}${
        f.excerpt ? html` <q><bdi class="mono">${clean(f.excerpt, 200)}</bdi></q>` : nothing
      }${f.where ? html` <span class="dim" dir="ltr">${clean(f.where, 200)}</span>` : nothing}</li>`
    )
  }</ul></div>`
}
