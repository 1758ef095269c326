import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { official } from './official.ts'

globalThis.variant = official(
  () => new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } }),
  (url) => new StreamableHTTPClientTransport(url),
)
