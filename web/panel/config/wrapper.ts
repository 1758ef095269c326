import { splitHeader } from './headers.ts'
import { substitute } from './placeholders.ts'
import { commands } from './words.ts'
import type { Draft } from './types.ts'

const wrappers = /^(?:mcp-remote|supergateway|mcp-proxy)$/
const urlFlags = /^--(?:sse|streamableHttp|url)$/
const headerFlags = /^(?:--headers?|-H)$/
/** Flags that take no word; of others the next one is skipped. */
const alone = /^(?:--(?:allow-http|debug|silent|enable-proxy|stateless|yes|no-verify-ssl)|-y)$/

/**
 * A local process that does nothing but forward to a remote server is that
 * server: `npx mcp-remote URL --header 'K: V'`, supergateway, mcp-proxy.
 */
export function wrapped(stdio: NonNullable<Draft['stdio']>, draft: Draft): Draft | undefined {
  const all = [stdio.command, ...stdio.args].flatMap((
    a,
  ) => (/^(?:npx(?:\.cmd)? |uvx )/.test(a) ? commands(a)?.[0] ?? [a] : [a]))
  const at = all.findIndex((a) => wrappers.test(packageName(a)))
  if (at < 0) return undefined
  const wrapper = packageName(all[at]!)
  const args = all.slice(at + 1)
  const headers = [...draft.headers]
  let url: string | undefined
  let transport = draft.transport
  for (let i = 0; i < args.length; i++) {
    const [flag, joined] = /^--[^=]*=/.test(args[i]!)
      ? [args[i]!.slice(0, args[i]!.indexOf('=')), args[i]!.slice(args[i]!.indexOf('=') + 1)]
      : [args[i]!]
    const next = () => joined ?? args[++i] ?? ''
    if (headerFlags.test(flag)) {
      const said = next()
      // mcp-proxy takes name and value as two words.
      const h = wrapper === 'mcp-proxy' && !/[:=]/.test(said)
        ? [said, args[++i] ?? ''] as [string, string]
        : splitHeader(said)
      if (h) headers.push(h)
    } else if (flag === '--oauth2Bearer') headers.push(['Authorization', 'Bearer ' + next()])
    else if (flag === '--transport') transport = /^sse/.test(next()) ? 'sse' : 'streamable-http'
    else if (urlFlags.test(flag)) {
      url ??= next()
      if (flag === '--sse') transport = 'sse'
      if (flag === '--streamableHttp') transport = 'streamable-http'
    } else if (/^https?:\/\//i.test(flag) || flag.startsWith('${')) url ??= flag
    else if (
      flag.startsWith('-') && joined === undefined && !alone.test(flag) && !/^(?:-|https?:)/.test(args[i + 1] ?? '-')
    ) i++
  }
  if (!url) return undefined
  const known = (s: string) => substitute(s, stdio.env)
  return {
    ...draft,
    url: known(url),
    ...(transport && { transport }),
    headers: headers.map(([k, v]): [string, string] => [k, known(v)]),
    lints: [...draft.lints, { code: 'wrapped_remote', level: 'info', values: { wrapper } }],
  }
}

const packageName = (arg: string) => arg.replace(/^.*[\\/](?=[^\\/]*$)/, '').replace(/(?<=.)@.*$/s, '')
