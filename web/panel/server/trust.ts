import { html, nothing, type TemplateResult } from 'lit'
import type { ServerConfig } from '../../../wasm/js/shared/types.ts'
import type { Words } from '../words.ts'

const policies = ['ask-on-change', 'ask-always', 'trust'] as const

/** How far a server is trusted: what happens when its tools change. `remembered` counts the answers about its calls. */
export function trustFields(
  words: Words,
  { trust = 'ask-on-change', holdNewTools }: ServerConfig,
  remembered: number,
  forget: () => void,
): TemplateResult {
  return html`<fieldset><legend>${words('trust')}</legend>
    ${
    policies.map((p) =>
      html`<label class="choice"><input type="radio" name="trust" value=${p} ?checked=${p === trust}>
      <span><strong>${words(`trust_${p}`)}</strong> <span class="dim">${
        words(`trust_${p}_means`)
      }</span></span></label>`
    )
  }
    <label class="choice"><input type="checkbox" name="holdNewTools" ?checked=${holdNewTools}><span>${
    words('hold_new')
  }</span></label>
    ${
    remembered
      ? html`<div class="row"><span class="dim">${
        words('remembered', { n: remembered })
      }</span><button type="button" class="small" @click=${forget}>${words('forget_answers')}</button></div>`
      : nothing
  }
  </fieldset>`
}

/** The patch that the fields mean. */
export const trustOf = (form: FormData): Pick<ServerConfig, 'trust' | 'holdNewTools'> => ({
  trust: form.get('trust') as ServerConfig['trust'],
  holdNewTools: form.has('holdNewTools'),
})
