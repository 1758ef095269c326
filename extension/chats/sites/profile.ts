import type { Layout, SiteSpec } from './site.ts'

/** The version of the form of a profile. A later form has a higher number. */
export const profileVersion = 1

const longestText = 64 << 10
const longestSelector = 500
const mostItems = 50

/** A change of a site's profile by its user. `layouts` change those of the same name, or come first as new ones. */
export interface ProfileOverride
  extends Partial<Pick<SiteSpec, 'newChat' | 'conversation' | 'conversationUrl' | 'notices'>>
{
  version: number
  layouts?: ({ name: string } & Partial<Layout>)[]
}

/** A difference between the shipped profile and the one in use. */
export interface ProfileChange {
  /** As in `layouts/article/send/selector`. */
  path: string
  shipped: string
  own: string
}

type Check = (value: unknown, at: string) => string | undefined

const text = (longest: number): Check => (value, at) =>
  typeof value === 'string' && value.length <= longest ? undefined : `${at} is no text of at most ${longest} characters`

const list = (of: Check): Check => (value, at) => {
  if (!Array.isArray(value) || value.length > mostItems) return `${at} is no list of at most ${mostItems}`
  for (const [i, item] of value.entries()) {
    const bad = of(item, `${at}/${i}`)
    if (bad) return bad
  }
  return undefined
}

const object = (fields: Record<string, Check>, required: string[] = []): Check => (value, at) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${at || 'the profile'} is no object`
  for (const name of required) if (!Object.hasOwn(value, name)) return `${at || 'the profile'} lacks ${name}`
  for (const [name, item] of Object.entries(value)) {
    if (!Object.hasOwn(fields, name)) return `${at || 'the profile'} has no field ${name.slice(0, 40)}`
    const bad = fields[name]!(item, at ? `${at}/${name}` : name)
    if (bad) return bad
  }
  return undefined
}

const pattern: Check = (value, at) => {
  const bad = text(300)(value, at)
  if (bad) return bad
  try {
    void new RegExp(value as string)
    return undefined
  } catch {
    return `${at} is no regular expression`
  }
}

const selectors = list(text(longestSelector))
const words = list(text(100))
const matcher = object({ selector: selectors, words }, ['selector'])

const layoutFields: Record<keyof Layout, Check> = {
  name: text(40),
  present: selectors,
  input: selectors,
  send: matcher,
  stop: matcher,
  userTurn: selectors,
  userText: selectors,
  answer: selectors,
  answerText: selectors,
  turn: object({ selector: selectors, key: text(60) }, ['selector', 'key']),
  omit: selectors,
  thinking: matcher,
  skip: matcher,
  end: selectors,
  endWords: words,
  scroller: selectors,
  model: object({
    open: selectors,
    option: selectors,
    name: selectors,
    id: object({ attribute: text(60), pattern }, ['attribute', 'pattern']),
  }, ['open', 'option']),
  answeredBy: object({ selector: selectors, attribute: text(60) }, ['selector', 'attribute']),
  temperature: selectors,
}

const codes = ['AUTHENTICATION_FAILED', 'LOGIN_REQUIRED', 'SESSION_EXPIRED', 'NETWORK_ERROR', 'RATE_LIMITED']

const notice = object({
  code: (value, at) => codes.includes(value as string) ? undefined : `${at} is none of ${codes.join(', ')}`,
  selector: selectors,
  words,
  url: pattern,
}, ['code', 'selector'])

const override = object({
  version: (value) =>
    value === profileVersion ? undefined : `version is not ${profileVersion}: this profile is for another Portolan`,
  newChat: text(500),
  conversation: pattern,
  conversationUrl: text(500),
  layouts: list(object(layoutFields, ['name'])),
  notices: list(notice),
}, ['version'])

/** The properties of a layout that the shipped profile does not know. */
const needed = [
  'present',
  'input',
  'send',
  'stop',
  'userTurn',
  'userText',
  'answer',
  'answerText',
  'omit',
  'end',
] as const

/** Reads a profile as a user wrote it. Throws a TypeError that says what is wrong and where. */
export function readOverride(json: string, shipped: SiteSpec): ProfileOverride {
  if (json.length > longestText) throw new TypeError(`The profile is longer than ${longestText} characters.`)
  let own: unknown
  try {
    own = JSON.parse(json)
  } catch (e) {
    throw new TypeError(`The profile is no JSON: ${(e as Error).message}`, { cause: e })
  }
  const bad = override(own, '') ?? addresses(own as ProfileOverride, shipped) ??
    layouts(own as ProfileOverride, shipped)
  if (bad) throw new TypeError(`The profile cannot be used: ${bad}.`)
  return own as ProfileOverride
}

/** Addresses stay at the site, because the permission and the prompts are for it only. */
function addresses({ newChat, conversationUrl }: ProfileOverride, { matches }: SiteSpec): string | undefined {
  const origins = matches.map((m) => m.replace(/\*$/, ''))
  for (const [name, url] of Object.entries({ newChat, conversationUrl }))
    if (url !== undefined && !origins.some((o) => url.startsWith(o))) return `${name} is not at ${origins.join(' or ')}`
  return conversationUrl !== undefined && !conversationUrl.includes('{id}') ? 'conversationUrl has no {id}' : undefined
}

function layouts({ layouts = [] }: ProfileOverride, shipped: SiteSpec): string | undefined {
  for (const own of layouts) {
    if (shipped.layouts.some((l) => l.name === own.name)) continue
    const lacks = needed.find((name) => own[name] === undefined)
    if (lacks) return `layouts/${own.name} is new and lacks ${lacks}`
  }
  return undefined
}

/** Returns the profile in use. */
export function applied(shipped: SiteSpec, own: ProfileOverride | undefined): SiteSpec {
  if (!own) return shipped
  const { version: _, layouts: changes = [], ...rest } = own
  const known = shipped.layouts.map((layout) => ({ ...layout, ...changes.find((l) => l.name === layout.name) }))
  const added = changes.filter((l) => !shipped.layouts.some(({ name }) => name === l.name)) as Layout[]
  return { ...shipped, ...rest, layouts: [...added, ...known] }
}

/** Returns what a profile in use has that the shipped one has not. */
export function changes(shipped: SiteSpec, own: SiteSpec): ProfileChange[] {
  const found: ProfileChange[] = []
  const compare = (a: unknown, b: unknown, path: string): void => {
    if (JSON.stringify(a) === JSON.stringify(b)) return
    const nested = [a, b].every((v) => typeof v === 'object' && v !== null && !Array.isArray(v))
    if (!nested) return void found.push({ path, shipped: shown(a), own: shown(b) })
    const names = new Set([...Object.keys(a as object), ...Object.keys(b as object)])
    for (const name of names)
      compare(
        (a as Record<string, unknown>)[name],
        (b as Record<string, unknown>)[name],
        path ? `${path}/${name}` : name,
      )
  }
  const byName = ({ layouts, ...rest }: SiteSpec) => ({
    ...rest,
    layouts: Object.fromEntries(layouts.map((l) => [l.name, l])),
  })
  compare(byName(shipped), byName(own), '')
  return found
}

const shown = (value: unknown) => (value === undefined ? '' : JSON.stringify(value)).slice(0, 1000)
