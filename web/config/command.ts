import { splitHeader } from './headers.ts'
import { parseJSON, set } from './json.ts'
import { readDocument, type Found } from './documents.ts'
import { isAddress, readServer, transportOf, wrapped } from './server.ts'
import { commands } from './shell-words.ts'
import type { Draft } from './draft.ts'
import { basic } from './finish.ts'

/** A prompt, a variable, a path, and then a program that adds servers. */
const before = /^(?:[$>%#]\s+)?(?:[A-Za-z_][A-Za-z0-9_]{0,50}=\S{0,200}\s+)?(?:sudo\s+)?(?:\S{0,100}[\\/])?/
const programs =
  /(?:curl(?:\.exe)?|[a-z][a-z-]{1,20}(?:\s+\S{1,30})?\s+mcp\s+add\S*|[a-z-]{2,20}\s+--add-mcp|p?npx|uvx|bunx|docker)\s/
const starts = new RegExp(before.source + programs.source, 'i')

/** Whether the text begins like a command that is understood. */
export const isCommand = (s: string) => starts.test(s.replace(/^(?:#[^\n]*\n\s*){1,20}/, '').slice(0, 500))

/** The servers that the commands add; null: a quote is open; undefined: none of them adds one. */
export function readCommands(s: string): Found | null | undefined {
  const all = commands(s)
  if (!all) return null
  const found: Found = { kind: 'claude-command', drafts: [], declared: new Map() }
  for (const words of all.slice(0, 1000)) {
    const rest = words.slice(words.findIndex((w) => !/^(?:[$>%#]|sudo|[A-Za-z_]\w{0,50}=.*)$/s.test(w)))
    const program = rest[0]!.replace(/^.*[\\/]/s, '')
    if (/^curl(?:\.exe)?$/i.test(program)) {
      const draft = curl(rest.slice(1))
      if (draft) found.drafts.push(draft)
      found.kind = 'curl'
      continue
    }
    const json = rest.indexOf('--add-mcp')
    const mcp = rest.indexOf('mcp')
    const verb = mcp > 0 && mcp < 4 ? rest[mcp + 1] : undefined
    const added = rest.slice(mcp + 2)
    if (json > 0) addJSON(found, rest[json + 1])
    else if (verb === 'add-json')
      addJSON(found, added.find((w) => w.trimStart().startsWith('{')), [...options(added)].find(([flag]) => !flag)?.[1])
    else if (verb === 'add') found.drafts.push(addOf(added))
    else if (/^(?:p?npx|uvx|bunx|docker)$/.test(program)) {
      const stdio = { command: program, args: rest.slice(1), env: {} }
      const draft: Draft = { headers: [], lints: [] }
      found.drafts.push(wrapped(stdio, draft) ?? { ...draft, name: program, stdio })
    }
  }
  return found.drafts.length ? found : undefined
}

function addJSON(found: Found, json = '', name?: string): void {
  const parsed = parseJSON(json)
  const inner = parsed.problem ? undefined : readDocument(parsed.value, name)
  if (!inner) return
  found.drafts.push(...inner.drafts)
  for (const [id, input] of inner.declared) found.declared.set(id, input)
}

/** Options of `mcp add` that take the next word. */
const valued = new Set(
  ('-t -H -s -e --transport --type --header --headers --scope --env --url --bearer-token-env-var --timeout ' +
    '--description --include-tools --exclude-tools --client-id --oauth-client-id --client-secret --callback-port ' +
    '--command --args --name').split(' '),
)
const quiet = /^(?:-s|--scope|--description)$/

/** `mcp add [options] name url`, in the ways of claude, gemini, codex and others. */
function addOf(words: string[]): Draft {
  const draft: Draft = { headers: [], lints: [] }
  const env: Record<string, string> = {}
  const places: string[] = []
  let transport: ReturnType<typeof transportOf>
  for (const [flag, value, at] of options(words)) {
    if (!flag) places.push(value)
    else if (flag === '--' || places[1] && !valued.has(flag) && !isAddress(places[1])) {
      places.push(...words.slice(flag === '--' ? at + 1 : at)) // the program's
      break
    } else if (/^(?:-t|--t(?:ransport|ype))$/.test(flag)) transport = transportOf(value)
    else if (/^(?:-H|--headers?)$/.test(flag)) {
      const h = splitHeader(value)
      if (h) draft.headers.push(h)
    } else if (flag === '-e' || flag === '--env') set(env, value.split('=')[0]!, value.slice(value.indexOf('=') + 1))
    else if (flag === '--url') draft.url = value
    else if (flag === '--name') draft.name = value
    else if (flag === '--bearer-token-env-var') draft.headers.push(['Authorization', 'Bearer ${env:' + value + '}'])
    else if (flag === '--include-tools') draft.tools = { ...draft.tools, allow: value.split(',') }
    else if (flag === '--exclude-tools') draft.tools = { ...draft.tools, deny: value.split(',') }
    else if (!quiet.test(flag))
      draft.lints.push({ code: 'ignored_field', level: 'info', values: { field: flag.slice(0, 100) } })
  }
  if (transport === 'sse' || transport === 'streamable-http') draft.transport = transport
  const [first, second, ...more] = places
  const remote = (s?: string) =>
    s !== undefined && transport !== 'stdio' &&
    (isAddress(s) || transport !== undefined)
  if (!draft.url && second === undefined && remote(first)) return { ...draft, url: first! }
  draft.name ??= first
  if (!draft.url && remote(second)) draft.url = second
  if (draft.url || second === undefined) return draft
  const local = readServer({ command: second, args: more, env }, draft.name)
  return { ...local, headers: [...draft.headers, ...local.headers], lints: [...draft.lints, ...local.lints] }
}

/** Each option with its value, or another word without an option, and the place where it ends. */
function* options(words: string[]): Generator<[flag: string, value: string, at: number]> {
  for (let i = 0; i < words.length; i++) {
    const w = words[i]!
    const at = w.startsWith('--') ? w.indexOf('=') : -1
    if (!/^-./.test(w)) yield ['', w, i]
    else if (at > 0) yield [w.slice(0, at), w.slice(at + 1), i]
    else yield [w, valued.has(w) ? words[++i] ?? '' : '', i]
  }
}

const shortValued = 'AbcCdDeEFHKmoPQrtTuUwxXyYz'
const longValued = new Set(
  ('header url user oauth2-bearer user-agent cookie cookie-jar data data-raw data-binary data-ascii ' +
    'data-urlencode json request form referer proxy proxy-user max-time connect-timeout output write-out cert key ' +
    'cacert capath resolve connect-to retry retry-delay retry-max-time config range upload-file interface ' +
    'dns-servers tls-max ciphers').split(' '),
)

/** The server that a curl line calls; undefined: it names no URL. */
export function curl(words: string[]): Draft | undefined {
  const draft: Draft = { headers: [], lints: [] }
  const take = (flag: string, value: string) => {
    if (flag === 'H' || flag === 'header') {
      const h = splitHeader(value)
      if (h) draft.headers.push(h)
    } else if (flag === 'u' || flag === 'user') draft.headers.push(['Authorization', basic(value)])
    else if (flag === 'oauth2-bearer') draft.headers.push(['Authorization', 'Bearer ' + value])
    else if (flag === 'b' || flag === 'cookie') draft.headers.push(['Cookie', value])
    else if (flag === 'url') draft.url ??= value
  }
  for (let i = 0; i < words.length; i++) {
    const w = words[i]!
    if (w.startsWith('--')) {
      const [flag = '', ...joined] = w.slice(2).split('=')
      if (longValued.has(flag)) take(flag, joined.length ? joined.join('=') : words[++i] ?? '')
    } else if (/^-./.test(w)) {
      // -sSXPOST: letters up to one that takes the rest, or the next word.
      for (let j = 1; j < w.length; j++) {
        if (!shortValued.includes(w[j]!)) continue
        take(w[j]!, w.slice(j + 1) || (words[++i] ?? ''))
        break
      }
    } else draft.url ??= w
  }
  return draft.url ? draft : undefined
}
