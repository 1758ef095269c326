import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { official } from './official.ts'

globalThis.variant = official(
  () => new Client({ name: 'bench', version: '1' }),
  (url) => new StreamableHTTPClientTransport(url),
)
