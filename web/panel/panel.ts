import { html, nothing, type LitElement, type PropertyValues, type TemplateResult } from 'lit'
import { keyed } from 'lit/directives/keyed.js'
import { repeat } from 'lit/directives/repeat.js'
import type { Dialog, PanelContext } from './context.ts'
import { wordsOf, type Messages, type Words } from './translations.ts'
import { registryOf } from '../ui/given.ts'
import { define, freshId, Part } from '../ui/part.ts'
import { Shell, tabStrip } from '../ui/shell.ts'
import { directionOf } from '../ui/translations.ts'
import type {
  Approval,
  ApprovalRequest,
  ElicitationAnswer,
  ElicitationRequest,
  ElicitationUrlRequest,
  SamplingResult,
  Registry,
  RegistryError,
  Snapshot,
} from '../../wasm/js/shared/types.ts'
import { ActivityLog } from './activity/log.ts'
import { Questions } from './questions/questions.ts'
import { compass, type Standing } from '../ui/icons.ts'
import type { Notice } from '../ui/notices.ts'
import { ContactHistory } from './server/history.ts'
import { watchLocalNetwork } from './server/status.ts'
import { SignIns } from './server/sign-ins.ts'
import { placeOf } from './server/diagnosis.ts'
import { isLocal, permissionFor, standingOf, type LocalNetworks } from './server/status.ts'
import { searchField, selectField } from '../ui/fields.ts'
import { styles } from '../ui/style.ts'
import { clean } from '../ui/text.ts'
import { printStyles } from './print.ts'
import { ToolLists } from './tools/ledger.ts'
import { Flags } from './tools/flags.ts'
import { TokenCounts } from './tools/tokens.ts'
import type * as types from './types.ts'
import './add/box.ts'
import './server/card.ts'
import './tools/view.ts'

type View = types.PanelView

const orders = ['added', 'name', 'attention'] as const
type Order = typeof orders[number]
/** With more servers than these, there are a search field and an order. */
const FEW = 3

const views: View[] = ['servers', 'tools', 'resources', 'prompts', 'skills', 'tasks', 'log', 'activity']
const empty: Snapshot = { status: 'idle', version: 0, servers: {}, tools: [], withheld: [], held: [] }

/** The settings panel; see types.ts. */
export class PortolanPanel extends Shell implements types.PortolanPanel, PanelContext {
  static override styles = [styles, printStyles]
  static override properties = {
    registry: { attribute: false },
    messages: { attribute: false },
    locale: {},
    view: { reflect: true },
    catalogue: {},
    budget: { type: Number },
    dialogs: { state: true },
    asking: { state: true },
    headingLevel: { state: true },
    query: { state: true },
    attention: { state: true },
    order: { state: true },
    localNetworks: { state: true },
    now: { state: true },
  }
  declare registry: Registry
  declare messages: Messages | undefined
  declare locale: string
  declare view: View
  declare catalogue: string
  declare budget: number
  /** The open dialogs, one above the other. */
  declare private dialogs: readonly Dialog[]
  /** The server whose token field is open. */
  declare private asking: string | undefined
  /** The person's search among the servers. */
  declare private query: string
  /** Only servers that need attention are shown. */
  declare private attention: boolean
  declare private order: Order
  /** Servers that have needed attention since the person chose what the list shows. None leaves its place meanwhile. */
  private readonly noticed = new Set<string>()
  declare headingLevel: number
  declare private localNetworks: LocalNetworks
  declare private now: number

  snapshot: Snapshot = empty
  words: Words = wordsOf('en')
  history = new ContactHistory()
  readonly log = new ActivityLog()
  readonly tokenCounts = new TokenCounts(() => this.requestUpdate())
  flags = new Flags(() => this.requestUpdate())
  records = { contents: true, exchanges: false }
  private unobserve: (() => void) | undefined
  readonly signIns = new SignIns(() => this.requestUpdate())
  private readonly questions = new Questions(this)
  private readonly toolLists = new ToolLists()
  readonly removing = new Set<string>()
  private readonly ids = { search: freshId(), order: freshId() }
  private ends: AbortController | undefined
  /** Ends when the panel leaves the document. */
  private lives = new AbortController()
  private clock: ReturnType<typeof setInterval> | undefined

  constructor() {
    super()
    this.locale = ''
    this.view = 'servers'
    this.catalogue = 'https://registry.modelcontextprotocol.io'
    this.budget = 0
    this.dialogs = []
    this.query = ''
    this.attention = false
    this.order = 'added'
    this.localNetworks = {}
    this.now = Date.now()
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.registry = registryOf(this.registry)!
    this.headingLevel = levelBelow(this)
    this.listen()
    this.lives = new AbortController()
    void watchLocalNetwork((states) => {
      const before = this.localNetworks
      this.localNetworks = states
      if (Object.entries(states).some(([range, state]) => state === 'granted' && before[range as keyof LocalNetworks]))
        this.retryLocal()
    }, this.lives.signal)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.lives.abort()
    this.notices.dismiss()
    this.questions.end()
    this.ends?.abort()
    this.ends = undefined
    clearInterval(this.clock)
    this.clock = undefined
  }

  private listen(): void {
    this.ends?.abort()
    const { registry } = this
    if (!registry) this.snapshot = empty
    if (!registry || !this.isConnected) return
    const { signal } = this.ends = new AbortController()
    const unsubscribe = registry.subscribe(() => this.see())
    this.record(this.records)
    // A removal that waits is carried out if the page comes back from the back/forward cache.
    addEventListener('pagehide', () => this.notices.dismiss(), { signal })
    signal.addEventListener('abort', () => {
      unsubscribe()
      this.unobserve?.()
    })
    this.see()
  }

  readonly record = (records: PanelContext['records']): void => {
    this.unobserve?.()
    this.records = records
    this.unobserve = this.registry.observe((a) => this.log.add(a), records)
    this.requestUpdate()
  }

  private see(): void {
    this.snapshot = this.registry.getSnapshot()
    this.history.see(this.snapshot)
    // Otherwise a later server of that name would open it.
    this.dialogs = this.dialogs.filter((d) => d.kind !== 'edit' || this.snapshot.servers[d.server])
    this.requestUpdate('snapshot')
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('registry')) {
      this.registry = registryOf(this.registry)!
      // Notices, removals, contacts and flags belong to the registry before.
      this.notices.dismiss()
      this.removing.clear()
      this.history = new ContactHistory()
      this.flags = new Flags(() => this.requestUpdate())
      this.log.clear() // another registry uses the same numbers
      this.dialogs = []
      this.listen()
    }
    if (['registry', 'view', 'order', 'attention'].some((name) => changed.has(name))) this.noticed.clear()
    if (changed.has('view')) {
      if (!views.includes(this.view)) this.view = 'servers' // an attribute that was removed, or an old name
      if (this.view === 'activity') void this.run(() => import('./parts.ts'))
      if (['resources', 'prompts', 'skills', 'tasks', 'log'].includes(this.view))
        void this.run(() => import('./offers/index.ts'))
    }
    if (changed.has('locale') || changed.has('messages') || !this.hasUpdated) {
      this.words = wordsOf(this.locale || this.closest('[lang]')?.getAttribute('lang') || 'en', this.messages)
    }
    if (changed.has('snapshot') || changed.has('registry')) {
      if (this.toolLists.see(this.snapshot)) {
        this.tokenCounts.weigh(this.toolLists.servers)
        this.flags.look(this.toolLists.servers)
      }
      const waits = this.isConnected &&
        Object.values(this.snapshot.servers).some((s) => s.suspended && s.retryAt !== null)
      if (waits) {
        this.clock ??= setInterval(() => (this.now = Date.now()), 1000)
        this.now = Date.now()
      } else {
        clearInterval(this.clock)
        this.clock = undefined
      }
    }
  }

  protected override updated(changed: PropertyValues): void {
    if (!['locale', 'messages', 'headingLevel'].some((name) => changed.has(name))) return
    for (const part of this.renderRoot.querySelectorAll('*')) if (part instanceof Part) part.requestUpdate()
  }

  protected override render(): TemplateResult {
    const { words: t, view } = this
    const servers = Object.keys(this.snapshot.servers).filter((name) => !this.removing.has(name))
    return html`
      <div class="panel" part="panel" lang=${t.locale} dir=${directionOf(t.locale)}>
        <div class="bar" part="bar">
          ${this.tabs(servers.length)}
          <p class="summary" part="summary">${this.summary(servers)}</p>
        </div>
        <div role="tabpanel" id="view-${view}" aria-labelledby="tab-${view}" tabindex="-1">
          ${
      keyed(
        this.registry, // what a view has shown and heard is of its registry
        !this.registry
          ? nothing
          : view === 'servers'
          ? this.serversView(servers)
          : view === 'tools'
          ? html`<portolan-tools .panel=${this} .listed=${this.toolLists.servers} .servers=${this.snapshot.servers}
          .known=${this.tokenCounts.version + this.flags.version} .budget=${this.budget}></portolan-tools>`
          : view === 'resources'
          ? html`<portolan-resources .panel=${this} .servers=${this.snapshot.servers}></portolan-resources>`
          : view === 'prompts'
          ? html`<portolan-prompt-list .panel=${this} .servers=${this.snapshot.servers}></portolan-prompt-list>`
          : view === 'skills'
          ? html`<portolan-skill-list .panel=${this} .servers=${this.snapshot.servers}></portolan-skill-list>`
          : view === 'tasks'
          ? html`<portolan-tasks .panel=${this}></portolan-tasks>`
          : view === 'log'
          ? html`<portolan-log .panel=${this}></portolan-log>`
          : html`<portolan-activity .panel=${this} .log=${this.log} .records=${this.records}></portolan-activity>`,
      )
    }
        </div>
        ${repeat(this.dialogs, (d) => d.kind, (d) => this.dialogView(d))}
        ${this.questions.view()}
        ${this.notices.view(t)}
      </div>`
  }

  private tabs(servers: number): TemplateResult {
    const { words: t } = this
    const counts: Partial<Record<View, number>> = { servers, tools: this.snapshot.tools.length }
    return tabStrip(this, {
      label: t('panel'),
      tabs: views.filter((v) => v !== 'skills' || v === this.view || servesSkills(this.snapshot)),
      chosen: this.view,
      choose: (view) => this.go(view),
      face: (v) =>
        html`${t(`view_${v}`)}${counts[v] ? html` <span class="count">${t.number(counts[v]!)}</span>` : nothing}`,
      ids: ['tab', 'view'],
    })
  }

  private summary(servers: string[]): string {
    const { words: t, snapshot } = this
    if (!servers.length) return ''
    const count = (status: string) => servers.filter((name) => snapshot.servers[name]!.status === status).length
    const off = count('disabled')
    const tokens = this.tokenCounts.total(offered(this.toolLists))
    return [
      off < servers.length && t('connected_of', { n: count('connected'), total: servers.length - off }),
      off && t('servers_off', { n: off }),
      tokens && t('tokens', { n: tokens }),
    ].filter(Boolean).join(' · ')
  }

  private serversView(servers: string[]): TemplateResult {
    const { words: t, snapshot } = this
    const shown = this.found(servers)
    return html`
      <portolan-add .panel=${this} .servers=${snapshot.servers}></portolan-add>
      ${
      snapshot.warnings?.length
        ? html`<details class="hint warn storage"><summary>${t('storage_damaged')}</summary>
        <ul>${snapshot.warnings.map((w) => html`<li><bdi>${clean(w, 500)}</bdi></li>`)}</ul></details>`
        : nothing
    }
      ${servers.length > FEW ? this.filters(servers, shown.length) : nothing}
      ${
      servers.length
        ? html`<ul class="cards" part="cards" aria-label=${t('view_servers')}>${
          repeat(shown, (name) => name, (name) => this.card(name))
        }</ul>`
        : html`
        <div class="empty" part="empty">${compass}
          <div role="heading" aria-level=${this.headingLevel}>${t('empty_title')}</div><p>${t('empty_text')}</p>
          <div class="row center">
            <button type="button" class="primary" @click=${this.addDemo}>${t('add_demo')}</button>
            <button type="button" @click=${() => this.show({ kind: 'catalogue' })}>${t('browse')}</button>
          </div>
        </div>`
    }`
  }

  private filters(servers: string[], found: number): TemplateResult {
    const { words: t, ids } = this
    const n = servers.filter((name) => this.needsAttention(name)).length
    return html`<div class="filters">
      ${searchField(ids.search, t('search_servers'), this.query, (query) => (this.query = query))}
      ${selectField(ids.order, t('order'), orders, this.order, (o) => t(`order_${o}`), (o) => (this.order = o))}
      <button type="button" aria-pressed=${this.attention} ?disabled=${
      !n && !this.attention
    } @click=${() => (this.attention = !this.attention)}>${t('needs_attention', { n })}</button>
    </div>
    <p class="found" role="status">${
      !found ? t('no_match') : this.query || this.attention ? t('matches', { n: found }) : ''
    }</p>`
  }

  /** The servers that are searched for, in the chosen order. */
  private found(servers: string[]): string[] {
    if (servers.length <= FEW) return servers
    for (const name of servers) if (this.needsAttention(name)) this.noticed.add(name)
    const query = this.query.trim().toLowerCase()
    const list = servers.filter((name) =>
      (!query || `${name} ${placeOf(this.snapshot.servers[name]!.config.url)}`.toLowerCase().includes(query)) &&
      (!this.attention || this.noticed.has(name))
    )
    if (this.order === 'name') return list.sort((a, b) => a.localeCompare(b, this.words.locale))
    if (this.order === 'attention')
      return list.sort((a, b) => Number(this.noticed.has(b)) - Number(this.noticed.has(a)))
    return list
  }

  /** Whether a person can do something for a server. One that has failed stays where it is while it is tried again. */
  private needsAttention(name: string): boolean {
    const server = this.snapshot.servers[name]!
    const standing = this.standing(server)
    return (standing === 'connecting' ? !!server.lastError : !['connected', 'idle', 'off'].includes(standing)) ||
      !!server.heldCount || (standing !== 'off' && !!server.config.missingHeaders?.length)
  }

  private standing(server: Snapshot['servers'][string]): Standing {
    return standingOf(server, permissionFor(server.config.url, this.localNetworks))
  }

  private card(name: string): TemplateResult {
    const server = this.snapshot.servers[name]!
    return html`<li><portolan-card .panel=${this} .name=${name} .server=${server} .track=${
      this.history.of(name)
    } .localNetwork=${permissionFor(server.config.url, this.localNetworks)}
      .now=${server.suspended ? this.now : 0} .tokens=${
      this.tokenCounts.total(this.toolLists.servers.get(name)?.flatMap((l) => (l.on ? [l.info] : [])) ?? [])
    } .signingIn=${this.signIns.waits(name)} .asking=${this.asking === name} .words=${this.words}></portolan-card></li>`
  }

  private dialogView(dialog: Dialog): TemplateResult | typeof nothing {
    const { snapshot } = this
    switch (dialog.kind) {
      case 'edit':
        return snapshot.servers[dialog.server]
          ? html`<portolan-edit .panel=${this} .server=${dialog.server} .copy=${!!dialog.copy}></portolan-edit>`
          : nothing
      case 'tool':
        return html`<portolan-tool .panel=${this} .name=${dialog.name} .tab=${
          dialog.tab ?? 'about'
        } .snapshot=${snapshot}></portolan-tool>`
      case 'review':
        return html`<portolan-review .panel=${this} .server=${dialog.server} .health=${
          snapshot.servers[dialog.server]
        } .held=${snapshot.held.filter((t) => t.server === dialog.server)}></portolan-review>`
      case 'resource':
        return html`<portolan-resource .panel=${this} .resource=${dialog.resource}></portolan-resource>`
      case 'prompt':
        return html`<portolan-prompt .panel=${this} .prompt=${dialog.prompt}></portolan-prompt>`
      case 'skill':
        return html`<portolan-skill .panel=${this} .skill=${dialog.skill} .approved=${dialog.approved}></portolan-skill>`
      case 'export':
        return html`<portolan-export .panel=${this}></portolan-export>`
      case 'catalogue':
        return html`<portolan-catalogue .panel=${this} .base=${this.catalogue}></portolan-catalogue>`
    }
  }

  approve(request: ApprovalRequest): Promise<Approval> {
    return this.questions.approve(request)
  }

  elicit(request: ElicitationRequest): Promise<ElicitationAnswer> {
    return this.questions.elicit(request)
  }

  elicitUrl(request: ElicitationUrlRequest): Promise<ElicitationAnswer['action']> {
    return this.questions.elicitUrl(request)
  }

  sample(...args: Parameters<types.PortolanPanel['sample']>): Promise<SamplingResult> {
    return this.questions.sample(...args)
  }

  private go(view: View): void {
    this.view = view
    this.emit('portolan-view', { view })
  }

  private readonly addDemo = () =>
    this.reach('demo', async () => {
      this.settle()
      await this.registry.addServer('demo', { url: 'builtin:demo' })
      await this.registry.discover(['demo'])
    })

  protected override describe(error: unknown): Notice {
    const { message, hint } = error as RegistryError
    this.emit('portolan-error', { error })
    return { text: clean(String(message), 500), hint: hint && clean(hint, 500) }
  }

  // Services of the panel for its parts; see PanelContext.

  readonly show = (dialog: Dialog | undefined): void => {
    const { registry } = this
    void this.run(async () => {
      if (dialog)
        await (/^(?:resource|prompt|skill)$/.test(dialog.kind) ? import('./offers/index.ts') : import('./parts.ts'))
      if (this.registry !== registry) return
      this.dialogs = dialog
        ? [...this.dialogs.filter((d) => d.kind !== dialog.kind), dialog]
        : this.dialogs.slice(0, -1)
    })
  }

  readonly retry = (server: string): Promise<void> => this.reach(server, () => this.registry.retry(server))

  readonly signIn = (server: string): Promise<void> =>
    this.reach(server, () => this.signIns.begin(this.registry, server))

  /** Does what may connect a server, and says what has come of it. */
  private reach(server: string, work: () => Promise<void>): Promise<void> {
    return this.run(async () => {
      await work()
      const health = this.registry.getSnapshot().servers[server]
      if (health && !this.signIns.waits(server))
        this.tell(`${this.words(`standing_${this.standing(health)}`)} · ${clean(server, 80)}`)
    })
  }

  readonly askToken = (server: string | undefined): void => {
    this.asking = server
  }

  readonly showTools = (server: string): void => {
    this.go('tools')
    void this.updateComplete.then(async () => {
      const view = this.renderRoot.querySelector('portolan-tools') as LitElement & { reveal(server: string): void }
      await view.updateComplete
      view.reveal(server)
    })
  }

  readonly setBudget = (budget: number): void => {
    this.budget = budget
    this.emit('portolan-budget', { budget })
  }

  readonly removeServer = (server: string): void => {
    this.notices.dismiss() // an earlier removal is carried out
    const { registry } = this
    const { enabled } = this.snapshot.servers[server]!.config
    this.removing.add(server)
    const off = this.run(() => registry.setEnabled(server, false))
    this.notices.put({
      text: this.words('removed', { name: clean(server, 80) }),
      undo: () => {
        this.removing.delete(server)
        if (enabled !== false) void off.then(() => this.run(() => registry.setEnabled(server, true)))
        this.requestUpdate()
      },
      ends: () => void this.run(() => registry.removeServer(server)).finally(() => this.removing.delete(server)),
    })
    this.requestUpdate()
  }

  readonly settle = (): void => {
    if (this.removing.size) this.notices.dismiss()
  }

  private emit(type: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }))
  }

  /** Retries servers on the local network, which the browser has just allowed. */
  private retryLocal(): void {
    for (const [name, s] of Object.entries(this.snapshot.servers)) {
      if (s.status === 'error' && isLocal(s.config.url)) void this.registry?.retry(name).catch(() => {}) // health tells
    }
  }
}

/** The level below the heading that comes before an element in its document, at most 5; 2 if there is none. */
function levelBelow(element: Element): number {
  let level = 1
  for (const heading of (element.getRootNode() as ParentNode).querySelectorAll('h1,h2,h3,h4,h5,h6,[role=heading]')) {
    if (!(heading.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) break
    level = Number(heading.getAttribute('aria-level') ?? /\d/.exec(heading.tagName)?.[0] ?? 2)
  }
  return Math.min(level + 1, 5)
}

/** Whether a server announces the extension for skills (SEP-2640). */
const servesSkills = ({ servers }: Snapshot) =>
  Object.values(servers).some(({ capabilities }) =>
    'io.modelcontextprotocol/skills' in Object(capabilities?.['extensions'])
  )

const offered = ({ servers }: ToolLists) =>
  [...servers.values()].flatMap((list) => list.flatMap((l) => (l.on ? [l.info] : [])))

define('portolan-panel', PortolanPanel)
