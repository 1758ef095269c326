import type { ServerConfig } from '../../wasm/js/shared/types.ts'
import { line } from '../ui/text.ts'
import { isSecretHeader, isSecretName, usable, withoutSecrets } from './headers.ts'
import { lint } from './lint.ts'
import { cleanName, nameOf, parsed, renameFree, withScheme } from './address.ts'
import { canonicalize, idsOf, type Placeholder } from './placeholders.ts'
import { decoded } from './json.ts'
import type { Declared, Draft } from './draft.ts'
import type { Entry, Input, Lint, Secret, Stdio } from './types.ts'

const maxInputs = 50

/** The work that all dialects share: inputs, secrets, remarks and a name of its own. */
export function finish(draft: Draft, declared: Declared, taken: Set<string>, page?: string): Entry {
  const typed = draft.url?.trim()
  const url = typed && (withScheme(typed) ?? typed)
  const name = renameFree(cleanName(draft.name ?? '') || nameOf(url ?? ''), taken)
  taken.add(name)
  const entry: Entry = { name, secrets: [], inputs: [], lints: draft.lints }
  if (!url) {
    if (draft.stdio) entry.stdio = shown(draft.stdio)
    else entry.lints.push({ code: 'no_url', level: 'error' })
    return entry
  }

  const inputs = new Map<string, Input>()
  const ask = (header?: string) => (p: Placeholder) => {
    const said = declared.get(p.id)
    const before = inputs.get(p.id)
    if (before || inputs.size >= maxInputs) return
    inputs.set(p.id, {
      id: p.id,
      password: isSecretName(p.id) || (!!header && isSecretHeader(header, '')),
      required: true,
      ...(header && { header }),
      ...(p.default !== undefined && { default: p.default }),
      ...said,
    })
  }
  const config: ServerConfig = { url: canonicalize(url, ask()) }
  const { headers, lints } = usable([...moveUserinfo(config, entry.lints), ...draft.headers])
  for (const [header, value] of Object.entries(headers)) {
    let origin: Secret['origin'] = 'value'
    headers[header] = canonicalize(value, (p) => {
      origin = p.origin
      ask(header)(p)
    })
    const input = idsOf(headers[header]!).find((id) => inputs.has(id))
    if (isSecretHeader(header, value) || input && inputs.get(input)!.password)
      entry.secrets.push({ header, origin, ...(input && { input }) })
  }
  if (Object.keys(headers).length) config.headers = headers
  const { transport, enabled, proxy, timeoutMs, tools } = draft
  Object.assign(
    config,
    transport && { transport },
    enabled === false && { enabled },
    proxy !== undefined && { proxy },
    timeoutMs && { timeoutMs },
    tools && { tools },
  )
  entry.config = config
  entry.inputs = [...inputs.values()]
  entry.lints.push(...lints, ...lint(config, page))
  if (entry.lints.some((l) => l.code === 'bad_url' || l.code === 'websocket')) delete entry.config
  if (enabled === false) entry.lints.push({ code: 'disabled', level: 'info' })
  return entry
}

/** A password before the host becomes a header, where the registry accepts it. */
function moveUserinfo(config: ServerConfig, lints: Lint[]): Draft['headers'] {
  const u = parsed(config.url)
  if (!u?.username && !u?.password) return []
  const m = /^([a-z]+:\/\/)([^/?#]*)@/i.exec(config.url)
  if (!m) return []
  config.url = m[1] + config.url.slice(m[0].length)
  lints.push({ code: 'secret_in_url', level: 'warning', values: { where: 'userinfo' } })
  const given = m[2]!.includes(':') ? m[2]! : m[2]! + ':'
  return [['Authorization', basic(decoded(given) ?? given)]]
}

/** The value of a Basic Authorization. */
export function basic(userinfo: string): string {
  const bytes = new TextEncoder().encode(userinfo)
  return 'Basic ' + btoa(String.fromCharCode(...bytes.subarray(0, 8192)))
}

const maxArgs = 50
const redacted = '[redacted]'

function shown(stdio: NonNullable<Draft['stdio']>): Stdio {
  let hide = false
  const args = stdio.args.slice(0, maxArgs).map((arg) => {
    const [flag = '', ...rest] = arg.split('=')
    const secret = hide || isSecretHeader('', arg)
    hide = /^-/.test(arg) && isSecretName(flag) && !rest.length
    if (/^(?:-H|--header)$/.test(arg)) hide = true
    if (secret && !/^-/.test(arg)) return redacted
    return rest.length && /^[\w.-]+$/.test(flag) && isSecretName(flag)
      ? `${line(flag)}=${redacted}`
      : line(withoutSecrets(arg, () => redacted).replace(/(:\/\/)[^/?#\s]{1,200}@/, `$1${redacted}@`))
  })
  return { command: line(stdio.command), args, env: Object.keys(stdio.env).slice(0, maxArgs).map((e) => line(e, 100)) }
}
