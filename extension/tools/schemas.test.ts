import { test } from 'node:test'
import assert from 'node:assert/strict'
import { LargeResults } from '../calls/results.ts'
import { aliasesOf } from '../chats/aliases.ts'
import type { Chats } from '../chats/chats.ts'
import { compareTools } from '../chats/comparetools.ts'
import { siteSpecs } from '../chats/sites/index.ts'
import { sites, type Site } from '../chats/sites/site.ts'
import { StartedCalls } from '../chats/started.ts'
import { chatTools } from '../chats/tools.ts'
import { PageTools } from '../webmcp/pages.ts'
import { bookmarkTools } from './bookmarks.ts'
import { tabTools } from './tabs.ts'

interface Schema {
  type?: string
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
}

/** Returns the places of a schema that do not say what they take. */
const untyped = ({ type, anyOf, items, properties = {} }: Schema, at: string): string[] => [
  ...type || anyOf ? [] : [at],
  ...type === 'array' && !items ? [`${at}[]`] : [],
  ...(anyOf ?? []).flatMap((s, i) => untyped(s, `${at}/${i}`)),
  ...items ? untyped(items, `${at}[]`) : [],
  ...Object.entries(properties).flatMap(([name, s]) => untyped(s, `${at}.${name}`)),
]

test('each argument names its type: clients with a Gemini model leave a tool out, or fail, without', () => {
  const profiles = { of: (site: Site) => siteSpecs[site] }
  const chats = { enabled: sites, profiles, models: { of: () => [] } } as unknown as Chats
  const direct = [...chatTools(chats), ...compareTools({} as never, [...sites])]
  const ofChats = [...direct, ...new StartedCalls(undefined as never).tools(direct)]
  const pages = new PageTools(() => [], () => {})
  Object.assign(pages, { granted: new Set(['https://shop.example']) })
  const own = [...ofChats, ...tabTools, ...pages.tools, ...bookmarkTools, new LargeResults().tool]
  const all = [...own, ...aliasesOf(own, sites)]
  assert.equal(all.length, 38)
  assert.deepEqual(all.flatMap((t) => untyped(t.inputSchema, t.name)), [])
})
