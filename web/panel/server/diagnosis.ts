import { html, nothing, type TemplateResult } from 'lit'
import type { PanelContext } from '../context.ts'
import { copy } from '../../ui/save.ts'
import type { Snapshot } from '../../../wasm/js/shared/types.ts'
import { clean } from '../../ui/text.ts'
import type { Cause } from './status.ts'

type Server = Snapshot['servers'][string]
type Fix = 'retry' | 'edit' | 'sign_in' | 'credentials' | 'gateway' | 'proxy' | 'ask_proxy' | 'direct'

/** The help against causes for which another try is none. */
const remedies: { [cause in Cause]?: Fix } = {
  cors: 'proxy',
  dns: 'edit',
  not_https: 'edit',
  path: 'edit',
  sign_in: 'sign_in',
  credentials: 'credentials',
  gateway: 'gateway',
  forbidden: 'edit',
  proxy: 'direct',
  protocol: 'edit',
  redirect: 'edit',
  config: 'edit',
  network: 'ask_proxy',
}

/** The fault of a server, the button that helps, and the text for its owner. */
export function diagnosis(panel: PanelContext, name: string, server: Server, cause: Cause): TemplateResult {
  const { words } = panel
  if (['network', 'credentials'].includes(cause) && gatewayOf(server.config.url)) cause = 'gateway'
  let fix = remedies[cause] ?? 'retry'
  if (fix === 'ask_proxy' && server.config.proxy) fix = 'retry'
  if (fix === 'proxy' && server.config.proxy === true) fix = 'retry'
  // A person has to allow that the proxy sees what it would carry.
  const carriesSecrets = fix === 'proxy' &&
    (server.signIn === 'signed-in' || Object.keys(server.config.headers ?? {}).length > 0)
  const act = () =>
    panel.run(async () => {
      if (fix === 'sign_in') return panel.signIn(name)
      if (fix === 'credentials' || fix === 'gateway') return panel.askToken(name)
      if (fix === 'edit') return panel.show({ kind: 'edit', server: name })
      const proxy = ({ proxy: true, ask_proxy: 'auto', direct: false } as const)[fix as 'proxy']
      if (proxy !== undefined) await panel.registry.updateServer(name, { proxy })
      await panel.retry(name)
    })
  const places = {
    host: hostOf(server.config.url),
    origin: location.origin,
    at: clean(server.signInHost ?? '', 100),
  }
  const letter = ownerLetter(cause, server.config.url)
  if (panel.signIns.waits(name)) return waitingView(panel, name, server)
  return html`<div class="diagnosis" part="diagnosis">
    <p><strong>${words(`cause_${cause}`, places)}</strong> ${
    words(
      carriesSecrets
        ? 'cause_cors_secrets'
        : cause === 'sign_in' && server.signInHost
        ? 'cause_sign_in_at'
        : `cause_${cause}_why`,
      places,
    )
  }</p>
    <div class="row">
      <button type="button" class="primary small" @click=${act}>${
    fix === 'retry' && server.suspended ? words('retry') : words(carriesSecrets ? 'fix_proxy_secrets' : `fix_${fix}`)
  }</button>
      ${
    fix === 'gateway' || (fix !== 'retry' && server.suspended)
      ? html`<button type="button" class="small" @click=${() => panel.retry(name)}>${words('retry')}</button>`
      : nothing
  }
      ${
    letter
      ? html`<button type="button" class="small" @click=${() => copy(panel, letter)}>${
        words('copy_for_owner')
      }</button>`
      : nothing
  }
    </div>
    <details><summary>${words('details')}</summary>
      <p class="mono"><bdi>${clean(server.lastError ?? '', 2000)}</bdi></p>
      ${server.hint ? html`<p><bdi>${clean(server.hint, 500)}</bdi></p>` : nothing}
      ${letter ? html`<pre tabindex="0" dir="ltr">${letter}</pre>` : nothing}
    </details>
  </div>`
}

/** The person is in the other window, or has closed it: a page may hide from us which. */
function waitingView(panel: PanelContext, name: string, server: Server): TemplateResult {
  const { words } = panel
  return html`<div class="diagnosis" part="diagnosis">
    <p role="status"><strong>${words('signing_in')}</strong> ${
    words('signing_in_why', { at: clean(server.signInHost || hostOf(server.config.url), 100) })
  }</p>
    <div class="row">
      <button type="button" class="small" @click=${() => panel.signIn(name)}>${words('open_again')}</button>
      <button type="button" class="small" @click=${() => panel.signIns.cancel(name)}>${words('cancel')}</button>
    </div>
  </div>`
}

const requestHeaders = 'Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, ' +
  'Mcp-Method, Mcp-Name, Last-Event-ID'

/** The text for the owner of the server. It is English, as the server's documentation is. */
function ownerLetter(cause: Cause, url: string): string | undefined {
  const { origin } = location
  switch (cause) {
    case 'cors':
      return `Your MCP server ${url} cannot be used from web pages, because its answers lack CORS headers.
It would work from ${origin} if every answer, errors and OPTIONS included, had:

Access-Control-Allow-Origin: ${origin}
Access-Control-Allow-Methods: GET, POST, DELETE
Access-Control-Allow-Headers: ${requestHeaders}
Access-Control-Expose-Headers: Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate
Access-Control-Max-Age: 7200
Vary: Origin`
    case 'tls':
      return `Browsers and other clients refuse the TLS certificate of ${url}. Please check its names, dates and chain.`
    case 'forbidden':
      return `Your MCP server ${url} answers 403 to requests from ${origin}.
If it checks Origin, please add that one to its list.`
  }
  return undefined
}

/** The address of the gateway that a URL is of. */
export const gatewayOf = (url: string): string | undefined =>
  /^http:\/\/((?:127\.|localhost|\[::1\])[^/]*)\/s\/[^/]+\/mcp$/.exec(url)?.[1]

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host || url : url
}

/** Host and path of a URL, without its query, which may hold secrets. */
export function placeOf(url: string): string {
  return URL.canParse(url) && new URL(url).host ? hostOf(url) + new URL(url).pathname.replace(/\/$/, '') : url
}
