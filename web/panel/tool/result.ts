import { html, nothing, type TemplateResult } from 'lit'
import { keyed } from 'lit/directives/keyed.js'
import type { PanelContext, WordsContext } from '../context.ts'
import { parsed } from '../../ui/json.ts'
import { download } from '../../ui/save.ts'
import type { ContentBlock, ToolResult } from '../../../wasm/js/shared/types.ts'
import { exactText, legible, mayLoseDigits } from '../../../wasm/js/shared/json.ts'
import { clean } from '../../ui/text.ts'
import { flagList } from '../tools/flags-view.ts'
import './json.ts'
import './media.ts'

/** Text shown at once, in characters; the rest is in the file. */
const longest = 100_000

/** Blocks of a result that are shown. */
const mostBlocks = 200

/** That a tool has answered. It belongs into a live region: a screen reader is to say it, and not the whole answer. */
export const answeredView = ({ words: t }: WordsContext, result: ToolResult): TemplateResult =>
  html`<p class="row"><strong>${t(result.isError ? 'answered_error' : 'answered')}</strong>
    <span class="dim">${t.duration(result.durationMs)} · <bdi>${clean(result.server, 60)}</bdi>${
    result.truncated ? ` · ${t('truncated')}` : nothing
  }</span></p>`

/** A tool's whole answer. */
export function resultView(panel: PanelContext, result: ToolResult): TemplateResult {
  const { words: t } = panel
  const { content, structuredContent: value } = result
  // Servers say structured content as text as well, for older clients: one tree is enough.
  const structured: string | undefined = JSON.stringify(value)
  const exact = structured &&
    exactText(value, [result.text, ...content.map((b) => b['text'])])
  return html`<section class="result" part="result" aria-label=${t('result')} data-error=${result.isError}>
    ${flagList(t, result.flags)}
    ${blocksView(panel, result.server, content, structured)}
    ${
    structured
      ? html`<div class="block"><h3>${t('structured')}</h3><portolan-json .panel=${panel} .value=${
        exact ? legible(exact) : value
      } .levels=${2}></portolan-json></div>`
      : nothing
  }
    <button type="button" class="small" @click=${() =>
    download(`${result.tool.replace(/[^\w-]+/g, '_').slice(0, 60)}.json`, JSON.stringify(result, null, 2))}>${
    t('save_result')
  }</button>
  </section>`
}

/** Blocks of content. Links have a button that reads them from the server, if it has resources. */
export function blocksView(
  panel: PanelContext,
  server: string,
  blocks: readonly ContentBlock[],
  structured?: string,
): TemplateResult {
  const { words: t } = panel
  return html`${
    blocks.slice(0, mostBlocks).map((block) =>
      html`<div class="block">${blockView(panel, block, structured)}${
        block?.type === 'resource_link' && panel.snapshot.servers[server]?.capabilities?.['resources']
          ? html`<button type="button" class="small start" @click=${() =>
            panel.show({ kind: 'resource', resource: { ...block, flags: [], server } as never })}>${t('read')}</button>`
          : nothing
      }</div>`
    )
  }${
    blocks.length > mostBlocks ? html`<p class="dim">${t('and_more', { n: blocks.length - mostBlocks })}</p>` : nothing
  }${blocks.length || structured ? nothing : html`<p class="nothing">${t('no_content')}</p>`}`
}

/** A block of content. HTML is shown as text. */
export function blockView(panel: WordsContext, block: ContentBlock, structured?: string): unknown {
  const { words: t } = panel
  switch (block?.type) {
    case 'text':
      return textView(panel, String(block.text), structured)
    case 'image':
    case 'audio':
      return media(panel, block.type, String(block.data), String(block.mimeType))
    case 'resource': {
      const { uri, mimeType, text, blob } = block.resource ?? {}
      return html`<p><strong>${t('resource')}</strong> <bdi class="mono" dir="ltr">${
        clean(String(uri ?? ''), 500)
      }</bdi> <span class="dim">${clean(String(mimeType ?? ''), 60)}</span></p>
        ${
        typeof text === 'string'
          ? textView(panel, text)
          : typeof blob === 'string'
          ? media(panel, /^(?:image|audio)(?=\/)/.exec(String(mimeType))?.[0] ?? 'file', blob, String(mimeType))
          : nothing
      }`
    }
    case 'resource_link':
      return html`<p><strong>${t('resource_link')}</strong> <bdi>${clean(String(block.name ?? ''), 200)}</bdi> ${
        link(String(block.uri ?? ''))
      }</p>`
    default:
      return html`<portolan-json .panel=${panel} .value=${block} .levels=${2}></portolan-json>`
  }
}

/** A new element for other data: each shows what it had first. */
const media = (panel: WordsContext, kind: string, data: string, mimeType: string): unknown =>
  keyed(
    data,
    html`<portolan-media .panel=${panel} .kind=${kind} .data=${data} .mimeType=${mimeType}></portolan-media>`,
  )

function link(uri: string): TemplateResult {
  const shown = html`<bdi class="mono" dir="ltr">${clean(uri, 500)}</bdi>`
  return /^https:\/\//i.test(uri) && URL.canParse(uri)
    ? html`<a href=${uri} target="_blank" rel="noopener noreferrer">${shown}</a>`
    : shown
}

function textView(panel: WordsContext, text: string, structured?: string): TemplateResult {
  const json = /^\s*[[{]/.test(text) && text.length <= 5_000_000 ? parsed(text) : undefined
  const whole = html`<pre tabindex="0"><bdi>${clean(text, longest)}</bdi></pre>${
    text.length > longest ? html`<p class="dim">${panel.words('truncated')}</p>` : nothing
  }`
  return html`${
    json === undefined || JSON.stringify(json) === structured
      ? nothing
      : html`<portolan-json .panel=${panel} .value=${
        mayLoseDigits(text) ? legible(text) : json
      } .levels=${2}></portolan-json>`
  }
    ${json === undefined ? whole : html`<details><summary>${panel.words('as_text')}</summary>${whole}</details>`}`
}
