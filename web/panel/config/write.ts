import type { RedactedConfig } from '../../../wasm/js/shared/types.ts'
import { isSecretName } from './headers.ts'
import { variables, withoutSecrets } from './secret-url.ts'
import { parsed } from './url.ts'
import { set, type Obj } from './value.ts'

/**
 * The servers as the configuration of another client. No secret is in it: header
 * values become ${input:name-header} with `inputs` (VS Code), or ${NAME_HEADER}.
 */
export function writeConfig(servers: Record<string, RedactedConfig>, dialect: 'mcpServers' | 'vscode'): string {
  const vscode = dialect === 'vscode'
  const inputs: Obj[] = []
  const variable = variables()
  const out: Record<string, Obj> = {}
  for (const [name, config] of Object.entries(servers)) {
    const ask = (secret: string, password: boolean) => {
      const id = vscode
        ? variable(name, secret).toLowerCase().replaceAll('_', '-').replace(/^-/, 'n')
        : variable(name, secret)
      inputs.push({
        type: 'promptString',
        id,
        description: `${secret} (${parsed(config.url)?.hostname ?? name})`,
        password,
      })
      return vscode ? '${input:' + id + '}' : '${' + id + '}'
    }
    const { url, headers, transport, enabled, proxy, timeoutMs, tools } = config
    const o: Obj = {
      type: transport === 'sse' ? 'sse' : transport === 'streamable-http' && !vscode ? 'streamable-http' : 'http',
    }
    o.url = withoutSecrets(url, (parameter) => ask(parameter, true))
    const names = Object.keys(headers ?? {})
    if (names.length) o.headers = Object.fromEntries(names.map((header) => [header, ask(header, isSecretName(header))]))
    if (enabled === false) o.disabled = true
    if (proxy !== undefined && proxy !== false) o.proxy = proxy
    if (timeoutMs !== undefined) o.timeoutMs = timeoutMs
    if (tools?.allow) o.includeTools = tools.allow
    if (tools?.deny?.length) o.excludeTools = tools.deny
    set(out, name, o)
  }
  return JSON.stringify(vscode ? { ...(inputs.length && { inputs }), servers: out } : { mcpServers: out }, null, 2) +
    '\n'
}
