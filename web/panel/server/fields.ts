import { html, nothing, type TemplateResult } from 'lit'
import type { Words } from '../translations.ts'
import { valueOf } from '../../ui/part.ts'
import type { AuthConfig, ServerConfig } from '../../../wasm/js/shared/types.ts'

const kept = '[redacted]'

/** The settings that may be shown. The rest was entrusted to one client at one server. */
export const openly = (auth: AuthConfig): AuthConfig =>
  Object.fromEntries(Object.entries(auth).filter(([, value]) => value !== kept))

/** The fields of a client that was registered beforehand: its name, its server, its rights. */
export function authFields(words: Words, id: string, auth: AuthConfig = {}): TemplateResult {
  const has = auth.clientSecret === kept
  const field = (name: string, label: string, value: string, type = 'text', hint = '') =>
    html`<div class="field grow"><label for="${id}-${name}">${label}</label>
    <input id="${id}-${name}" name=${name} type=${type} dir="ltr" spellcheck="false" autocomplete="off" .value=${value}
      placeholder=${hint}></div>`
  return html`<fieldset><legend>${words('auth')}</legend><p class="dim">${words('auth_help')}</p>
    <div class="columns">${field('clientId', words('client_id'), auth.clientId ?? '')}${
    field('clientSecret', words('client_secret'), '', 'password', has ? words('header_kept') : '')
  }</div>
    ${field('scopes', words('scopes'), auth.scopes?.join(' ') ?? '')}</fieldset>`
}

/** The patch that the fields mean; a secret that was not typed again stays with its client. */
export function authOf(form: FormData, before: AuthConfig = {}): AuthConfig | undefined {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const { clientId: _, clientSecret, scopes: __, ...rest } = before
  const clientId = text('clientId')
  const secret = text('clientSecret') || (clientId && clientId === before.clientId ? clientSecret : undefined)
  const scopes = text('scopes').split(/\s+/).filter(Boolean)
  const auth: AuthConfig = {
    ...rest,
    ...(clientId && { clientId }),
    ...(secret && { clientSecret: secret }),
    ...(scopes.length && { scopes }),
  }
  return Object.keys(auth).length ? auth : undefined
}

/** Where header values are kept: radio buttons. */
export const keepField = (
  words: Words,
  name: string,
  keeps: boolean,
  changed: (keeps: boolean) => void = () => {},
): TemplateResult =>
  html`<fieldset @change=${(e: Event) => changed(valueOf(e) === 'device')}><legend>${words('keep')}</legend>${
    radios(
      name,
      ['tab', 'device'],
      keeps ? 'device' : 'tab',
      (where) => [words(`keep_${where}`), words(`keep_${where}_means`)],
    )
  }</fieldset>`

const policies = ['ask-on-change', 'ask-always', 'trust'] as const

/** The trust in a server: what happens when its tools change. `remembered` counts the answers about its calls. */
export function trustFields(
  words: Words,
  { trust = 'ask-on-change', holdNewTools }: ServerConfig,
  remembered: number,
  forget: () => void,
): TemplateResult {
  return html`<fieldset><legend>${words('trust')}</legend>
    ${radios('trust', policies, trust, (p) => [words(`trust_${p}`), words(`trust_${p}_means`)])}
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

/** Radio buttons, each with a name and its meaning. */
export const radios = <V extends string>(
  name: string,
  values: readonly V[],
  chosen: V,
  face: (value: V) => readonly [name: string, meaning: string],
): TemplateResult[] =>
  values.map((value) => {
    const [label, meaning] = face(value)
    return html`<label class="choice"><input type="radio" name=${name} value=${value} .checked=${value === chosen}>
      <span><strong>${label}</strong> <span class="dim">${meaning}</span></span></label>`
  })
