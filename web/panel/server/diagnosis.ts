import { html, nothing, type TemplateResult } from 'lit'
import type { PanelContext } from '../context.ts'
import { copy } from '../../ui/save.ts'
import type { Snapshot } from '../../../wasm/js/shared/types.ts'
import { clean } from '../../ui/text.ts'
import type { Cause } from './status.ts'

type Server = Snapshot['servers'][string]
type Fix = 'retry' | 'edit' | 'sign_in' | 'credentials' | 'proxy' | 'ask_proxy' | 'direct'

/** The help against a cause, and whether the server's owner has to give it. */
const remedies: Record<Cause, { fix: Fix; owner?: true }> = {
  cors: { fix: 'proxy', owner: true },
  dns: { fix: 'edit' },
  tls: { fix: 'retry', owner: true },
  not_https: { fix: 'edit' },
  down: { fix: 'retry' },
  timeout: { fix: 'retry' },
  path: { fix: 'edit' },
  local_network: { fix: 'retry' },
  sign_in: { fix: 'sign_in' },
  credentials: { fix: 'credentials' },
  forbidden: { fix: 'edit', owner: true },
  proxy: { fix: 'direct' },
  server: { fix: 'retry' },
  rate: { fix: 'retry' },
  protocol: { fix: 'edit' },
  redirect: { fix: 'edit' },
  config: { fix: 'edit' },
  crash: { fix: 'retry' },
  network: { fix: 'ask_proxy' },
  other: { fix: 'retry' },
}

/** The fault of a server, the button that helps, and the text for its owner. */
export function diagnosis(panel: PanelContext, name: string, server: Server, cause: Cause): TemplateResult {
  const { words } = panel
  const { owner } = remedies[cause]
  let { fix } = remedies[cause]
  if (fix === 'ask_proxy' && server.config.proxy) fix = 'retry'
  if (fix === 'proxy' && server.config.proxy === true) fix = 'retry'
  // A person has to allow that the proxy sees what it would carry.
  const carriesSecrets = fix === 'proxy' &&
    (server.signIn === 'signed-in' || Object.keys(server.config.headers ?? {}).length > 0)
  const act = () =>
    panel.run(async () => {
      if (fix === 'sign_in') return panel.signIn(name)
      if (fix === 'credentials') return panel.askToken(name)
      if (fix === 'edit') return panel.show({ kind: 'edit', server: name })
      if (fix === 'proxy') await panel.registry.updateServer(name, { proxy: true })
      if (fix === 'ask_proxy') await panel.registry.updateServer(name, { proxy: 'auto' })
      if (fix === 'direct') await panel.registry.updateServer(name, { proxy: false })
      await panel.retry(name)
    })
  const letter = owner && ownerLetter(cause, server.config.url)
  if (panel.signIns.waits(name)) return waitingView(panel, name, server)
  return html`<div class="diagnosis" part="diagnosis">
    <p><strong>${words(`cause_${cause}`)}</strong> ${
    words(
      carriesSecrets
        ? 'cause_cors_secrets'
        : cause === 'sign_in' && server.signInHost
        ? 'cause_sign_in_at'
        : `cause_${cause}_why`,
      {
        host: hostOf(server.config.url),
        origin: location.origin,
        at: clean(server.signInHost ?? '', 100),
      },
    )
  }</p>
    <div class="row">
      <button type="button" class="primary small" @click=${act}>${
    fix === 'retry' && server.suspended ? words('retry') : words(carriesSecrets ? 'fix_proxy_secrets' : `fix_${fix}`)
  }</button>
      ${
    fix !== 'retry' && server.suspended
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

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host || url : url
}

/** Host and path of a URL, without its query, which may hold secrets. */
export function placeOf(url: string): string {
  return URL.canParse(url) && new URL(url).host ? hostOf(url) + new URL(url).pathname.replace(/\/$/, '') : url
}
