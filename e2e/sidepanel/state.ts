import type {
  Activity,
  Approval,
  Chat,
  Comparison,
  HistoryEntry,
  HistoryPage,
  HistoryQuery,
  Link,
  Run,
  SiteProfile,
  State,
} from '../../extension/messages.ts'

// States as the background would tell them, for the pages' looks and flows.

const minute = 60_000

const chat = (label: string, host: string, more: Partial<Chat> = {}): Chat => ({
  label,
  newChat: `https://${host}/`,
  matches: [`https://${host}/*`],
  enabled: false,
  mode: 'auto',
  perHour: 20,
  acceptedAt: null,
  granted: false,
  waiting: 0,
  usedThisHour: 0,
  ownProfile: false,
  answered: 0,
  failed: 0,
  timedOut: 0,
  ...more,
})

/** Installed a moment ago. */
export function fresh(): State {
  return {
    version: '1.0.0',
    install: { id: '3f1c9a52-7b1e-4f0e-9a68-0c5d2e9b7a11', label: '' },
    links: [],
    pairing: null,
    stopped: false,
    chats: {
      chatgpt: chat('ChatGPT', 'chatgpt.com'),
      gemini: chat('Gemini', 'gemini.google.com'),
      aistudio: chat('AI Studio', 'aistudio.google.com'),
      claude: chat('Claude', 'claude.ai'),
      perplexity: chat('Perplexity', 'www.perplexity.ai'),
      grok: chat('Grok', 'grok.com'),
      deepseek: chat('DeepSeek', 'chat.deepseek.com'),
      mistral: chat('Mistral', 'chat.mistral.ai'),
      copilot: chat('Copilot', 'copilot.microsoft.com'),
    },
    runs: [],
    comparisons: [],
    permissions: { bookmarks: false, debugger: false, origins: [] },
    options: {
      aliases: true,
      bookmarks: false,
      pages: false,
      publishRegistry: true,
      focus: false,
      reuse: 'project',
      history: false,
      historyDays: 30,
      debugTexts: false,
    },
    clients: [],
    approvals: [],
    questions: [],
    origins: [],
    pageTools: [],
    activity: [],
    tools: [],
  }
}

/** The link to a bridge. */
export const linkOf = (more: Partial<Link> = {}): Link => ({
  pairing: 'p1',
  status: 'connected',
  address: '127.0.0.1:55156',
  since: null,
  retryAt: null,
  error: null,
  ephemeral: false,
  ...more,
})

/** In use: paired, two chats on, two clients. */
export function used(now = Date.now()): State {
  const s = fresh()
  return {
    ...s,
    install: { ...s.install, label: 'Chromium, Work' },
    links: [linkOf({ since: now - 42 * minute })],
    chats: {
      ...s.chats,
      chatgpt: {
        ...s.chats.chatgpt,
        enabled: true,
        granted: true,
        acceptedAt: now - 90_000 * minute,
        usedThisHour: 4,
        waiting: 1,
      },
      gemini: {
        ...s.chats.gemini,
        enabled: true,
        granted: true,
        acceptedAt: now - 90_000 * minute,
        mode: 'assist',
        usedThisHour: 1,
      },
    },
    permissions: {
      bookmarks: true,
      debugger: false,
      origins: ['https://chatgpt.com/*', 'https://gemini.google.com/*'],
    },
    options: { ...s.options, bookmarks: true, history: true },
    clients: [
      {
        key: 'claude',
        name: 'Claude Desktop',
        version: '2.1.0',
        project: 'portolan',
        lastSeen: now - 20_000,
        grants: { bookmark_remove: 'ask', chat_chatgpt: 'allow', page_dom: 'deny' },
      },
      { key: 'inspector', name: 'mcp-inspector', version: '1.0.3', lastSeen: now - 26 * 60 * minute, grants: {} },
    ],
    origins: ['https://app.example', 'http://localhost:5173'],
    pageTools: [
      {
        origin: 'https://shop.example',
        granted: true,
        tabs: [{
          id: 1,
          title: 'Harbour shop',
          supported: true,
          tools: [
            { name: 'add_to_cart', title: 'Add to cart', description: 'Adds an item to the cart.', readOnly: false },
            { name: 'list_items', title: '', description: 'Lists what is for sale.', readOnly: true },
          ],
          left: 3,
        }],
      },
      { origin: 'https://tides.example', granted: false, tabs: [] },
    ],
    tools: [
      ...['chat_chatgpt', 'chat_gemini', 'chat_all'].map((name) => ({
        name,
        source: 'chats' as const,
      })),
      ...['bookmark_search', 'bookmark_remove'].map((name) => ({
        name,
        source: 'bookmarks' as const,
      })),
      { name: 'harbour__tides', source: 'registry' },
    ],
    activity: activity(now),
  }
}

export function activity(now: number, n = 12): Activity[] {
  const kinds: Omit<Activity, 'id' | 'at'>[] = [
    { kind: 'stop', outcome: 'ok', text: 'Everything was stopped' },
    { kind: 'stop', outcome: 'ok', text: 'Allowed to go on' },
    {
      kind: 'call',
      outcome: 'ok',
      client: 'Claude Desktop',
      tool: 'chat_chatgpt',
      durationMs: 18_400,
      text: 'ChatGPT answered',
    },
    {
      kind: 'call',
      outcome: 'error',
      client: 'Claude Desktop',
      tool: 'chat_gemini',
      durationMs: 480_000,
      code: 'TIMEOUT',
      text: 'Gemini had not answered after 8 minutes',
    },
    { kind: 'call', outcome: 'denied', client: 'mcp-inspector', tool: 'bookmark_remove', text: 'You said no' },
    { kind: 'call', outcome: 'ok', client: 'Claude Desktop', tool: 'tabs_list', durationMs: 84, text: 'Done' },
    {
      kind: 'call',
      outcome: 'cancelled',
      client: 'Claude Desktop',
      tool: 'chat_all',
      durationMs: 4200,
      text: 'The client cancelled it',
      code: 'CANCELLED',
    },
    {
      kind: 'call',
      outcome: 'running',
      client: 'Claude Desktop',
      tool: 'chat_chatgpt',
      text: 'ChatGPT is asked',
    },
  ]
  return Array.from(
    { length: n },
    (_, i) => ({ ...kinds[i % kinds.length]!, id: `a${i}`, at: now - (n - i) * 3 * minute }),
  )
}

export const approvals = (now: number): Approval[] => [
  {
    id: 'q1',
    client: 'claude',
    clientName: 'Claude Desktop',
    tool: 'bookmark_remove',
    summary: 'Removes the bookmark “Tide tables, Oslo” (https://tides.example/oslo).',
    flags: [],
    args: '{\n  "id": "417"\n}',
    askedAt: now - 4000,
    expiresAt: now + 56_000,
  },
]

export const runs = (now: number): Run[] => [
  {
    id: 'r1',
    site: 'chatgpt',
    client: 'Claude Desktop',
    phase: 'answering',
    prompt: 'Compare these two ways to keep a service worker alive, and say which one you would choose and why.',
    startedAt: now - 12_000,
    mode: 'auto',
  },
  {
    id: 'r2',
    site: 'gemini',
    client: 'Claude Desktop',
    phase: 'handover',
    prompt: 'The same question, for a second opinion.',
    startedAt: now - 31_000,
    mode: 'assist',
  },
  {
    id: 'r3',
    site: 'chatgpt',
    client: 'mcp-inspector',
    phase: 'paused',
    prompt: 'Summarise the release notes.',
    startedAt: now - 75_000,
    mode: 'auto',
  },
  {
    id: 'r4',
    site: 'chatgpt',
    client: 'mcp-inspector',
    phase: 'queued',
    prompt: 'Translate them into Norwegian.',
    startedAt: now - 2000,
    mode: 'auto',
  },
]

export const comparisons = (now: number): Comparison[] => [
  {
    id: 'c1',
    form: 'consensus',
    client: 'Claude Desktop',
    prompt: 'How deep is the channel at the north pier at low water?',
    endedAt: now - 20_000,
    round: 2,
    rounds: 2,
    sites: [
      { site: 'chatgpt', state: 'answered', answer: 'It is 12 m at low water.', url: 'https://chatgpt.com/c/1' },
      { site: 'gemini', state: 'answered', answer: 'About 12 m.', url: 'https://gemini.google.com/app/2' },
      { site: 'aistudio', state: 'failed', code: 'LOGIN_REQUIRED' },
    ],
    rows: [
      { text: 'The channel is 12 m deep at low water', by: { chatgpt: 'agree', gemini: 'agree' } },
      { text: 'The pier was dredged in 2019', by: { chatgpt: 'disagree', gemini: 'silent' } },
    ],
    answer: 'The channel is 12 m deep at low water.',
    openPoints: ['Whether the pier was dredged.'],
  },
  {
    id: 'c2',
    form: 'compare',
    client: 'mcp-inspector',
    prompt: 'Which of the two berths is safer in a north wind?',
    endedAt: now - 250_000,
    round: 1,
    rounds: 1,
    sites: [
      { site: 'chatgpt', state: 'answered', answer: 'The inner one.', url: 'https://chatgpt.com/c/3' },
      { site: 'gemini', state: 'answered', answer: 'The outer one.', url: 'https://gemini.google.com/app/4' },
    ],
    rows: [
      { text: 'Both are open to the north' },
      { text: 'The safer berth', by: { chatgpt: 'the inner one, behind the mole', gemini: 'the outer one' } },
    ],
    answer: 'The inner berth, because the mole shelters it.',
  },
]

const linked = (now: number, link: Partial<Link>, more: Partial<State> = {}): State => (
  { ...used(now), links: [linkOf(link)], ...more }
)
const pairing = (p: Partial<State['pairing']>): State => ({
  ...fresh(),
  pairing: { step: 'digits', address: '127.0.0.1:55156', error: null, ...p },
})

/** By name, as the page's `?state=` asks for them. */
export const states: Record<string, (now: number) => State> = {
  fresh,
  used,
  looking: () => pairing({ step: 'connecting' }),
  digits: () => pairing({}),
  terminal: () => pairing({ step: 'terminal' }),
  failed: () =>
    pairing({
      step: 'failed',
      error: {
        code: 'NOT_PAIRING',
        message: 'The bridge is not waiting to be paired. Run "portolan bridge pair" and try again.',
      },
    }),
  connecting: (now) => linked(now, { status: 'connecting' }),
  waiting: (now) =>
    linked(now, {
      status: 'waiting',
      retryAt: now + 14_000,
      error: {
        code: 'NO_BRIDGE',
        message:
          'No bridge answers on 127.0.0.1:55156. It is started with "portolan bridge", or by an MCP client that uses it.',
      },
    }),
  refused: (now) =>
    linked(now, {
      status: 'refused',
      error: { code: 'NOT_PAIRED', message: 'The pairing was revoked at the bridge. Pair again.' },
    }),
  several: (now) => ({
    ...used(now),
    links: [
      linkOf({ since: now - 42 * minute }),
      linkOf({
        pairing: 'p2',
        address: '127.0.0.1:55157',
        status: 'waiting',
        retryAt: now + 14_000,
        error: { code: 'NO_BRIDGE', message: 'No bridge answers on 127.0.0.1:55157.' },
      }),
    ],
  }),
  stopped: (now) => linked(now, { status: 'stopped' }, { stopped: true }),
  asked: (now) => ({ ...used(now), approvals: approvals(now), clients: used(now).clients }),
  running: (now) => ({ ...used(now), runs: runs(now), comparisons: comparisons(now) }),
  busy: (now) => ({
    ...used(now),
    runs: runs(now),
    comparisons: comparisons(now),
    approvals: approvals(now),
    activity: activity(now, 500),
  }),
}

const entry = (id: number, ago: number, question: string, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  id,
  ts: new Date(Date.now() - ago * minute).toISOString(),
  clientName: 'Claude Desktop',
  site: 'chatgpt',
  question,
  answer:
    'An alarm every 30 seconds wakes it.\n\n- A port keeps it awake while it is open.\n- State belongs in storage.',
  url: 'https://chatgpt.com/c/6f0c',
  conversationId: '6f0c',
  timings: { totalMs: 14_200 },
  model: 'gpt-5',
  outcome: 'ok',
  flags: [],
  ...more,
})

/** Returns what the background would of the history: nothing before it was switched on. */
export function historyOf({ options }: State, query: HistoryQuery, forgotten: ReadonlySet<number>): HistoryPage {
  const all = [
    entry(9, 3, 'Compare these two ways to keep a service worker alive, and say which one you would choose and why.', {
      project: 'portolan',
    }),
    entry(8, 55, 'Which harbours of the Algarve have a light that is visible for more than twenty nautical miles?', {
      site: 'perplexity',
      project: 'tide-tables',
      url: 'https://www.perplexity.ai/search/which-harbours-x',
      conversationId: 'which-harbours-x',
      model: null,
      flags: ['suspicious_answer'],
    }),
    entry(7, 200, 'Translate the release notes into Norwegian.', {
      site: 'gemini',
      clientName: 'mcp-inspector',
      answer: '',
      url: '',
      conversationId: null,
      model: null,
      timings: {},
      outcome: 'RATE_LIMITED',
    }),
    ...Array.from({ length: 4 }, (_, i) => entry(6 - i, 2000 + i * 900, `An older question, number ${6 - i}.`)),
  ]
  const words = (query.text ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const found = (options.history ? all : []).filter((e) =>
    !forgotten.has(e.id) && (!query.site || e.site === query.site) && (!query.project || e.project === query.project) &&
    (query.before === undefined || e.id < query.before) && words.every((w) => e.question.toLowerCase().includes(w))
  )
  return {
    entries: found.slice(0, 5),
    more: found.length > 5,
    projects: options.history ? ['portolan', 'tide-tables'] : [],
  }
}

export const troubles = () => [
  {
    id: 't1',
    at: new Date(Date.now() - 200 * minute).toISOString(),
    site: 'gemini',
    code: 'RATE_LIMITED',
    file: '{}\n',
  },
  {
    id: 't2',
    at: new Date(Date.now() - 55 * minute).toISOString(),
    site: 'perplexity',
    code: 'SUSPICIOUS_ANSWER',
    file: '{}\n',
  },
]

/** Returns what the background would after such changes of a profile. */
export function profile(json: string): SiteProfile {
  if (json && !json.startsWith('{')) throw new TypeError('The profile is no JSON: an unexpected token at position 0')
  return {
    shipped: '{ "version": 1 }',
    own: json,
    changes: json
      ? [{
        path: 'layouts/article/send/selector',
        shipped: '["button[data-testid=\\"send-button\\"]"]',
        own: '["button.send"]',
      }]
      : [],
  }
}
