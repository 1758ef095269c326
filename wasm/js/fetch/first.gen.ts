// Written by registry/client/first_test.go with -update.

/**
 * The first request to a server of an unknown era, and to one of a version until 2025-11-25. The capabilities are those
 * of a host that answers no questions, forms, addresses, or both.
 */
export const firstRequests = {
  unknown: {
    headers: [
      ['Content-Type', 'application/json'],
      ['Accept', 'application/json, text/event-stream'],
      ['MCP-Protocol-Version', '2026-07-28'],
      ['Mcp-Method', 'server/discover'],
    ],
    body:
      '{"jsonrpc":"2.0","id":{id},"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"portolan","version":"{version}"},"io.modelcontextprotocol/clientCapabilities":{capabilities}}}}',
    capabilities: [
      '{"extensions":{"io.modelcontextprotocol/tasks":{}}}',
      '{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}',
      '{"elicitation":{"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}',
      '{"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}',
    ],
  },
  legacy: {
    headers: [
      ['Content-Type', 'application/json'],
      ['Accept', 'application/json, text/event-stream'],
    ],
    body:
      '{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{"name":"portolan","version":"{version}"}}}',
    capabilities: [
      '{}',
      '{"elicitation":{"form":{}}}',
      '{"elicitation":{"url":{}}}',
      '{"elicitation":{"form":{},"url":{}}}',
    ],
  },
}
