const program = { command: 'portolan', args: ['bridge', '--stdio'] }

const json = (config: object) => `${JSON.stringify(config, null, 2)}\n`

/** By MCP client: what its configuration file needs to start the bridge. */
export const clientConfigs: Record<string, string> = {
  'Claude': json({ mcpServers: { portolan: program } }),
  'Cursor': json({ mcpServers: { portolan: program } }),
  'VS Code': json({ servers: { portolan: { type: 'stdio', ...program } } }),
  'Codex': `[mcp_servers.portolan]
command = "portolan"
args = ["bridge", "--stdio"]
`,
}
