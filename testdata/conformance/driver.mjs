// The client that the official conformance suite tests under js/wasm: the built
// npm package in Node, on the main thread. The scenarios are those of driver/main.go.
//
//	node driver.mjs URL        with portolan.wasm
//	WASM=portolan-sdk.wasm node driver.mjs URL
import { readFile } from 'node:fs/promises'
import { createRegistry } from '../../dist/npm/index.js'

const url = process.argv.at(-1)
const scenario = process.env.MCP_CONFORMANCE_SCENARIO

/** What the user of this client says when a scenario's tool asks. */
const answers = {
  'elicitation-sep1034-client-defaults': { action: 'accept', content: {} },
  'sep-2322-client-request-state': { action: 'accept', content: { confirmed: true } },
}

/** The tools that a scenario wants called, with their arguments. */
const calls = {
  tools_call: [['add_numbers', { a: 5, b: 3 }]],
  'elicitation-sep1034-client-defaults': [['test_client_elicitation_defaults', {}]],
  'sse-retry': [['test_reconnection', {}]],
  'sep-2322-client-request-state': [['test_mrtr_echo_state', {}], ['test_mrtr_no_state', {}], ['test_mrtr_unrelated', {}], ['test_mrtr_no_result_type', {}]],
}

function wanted(tools) {
  switch (scenario) {
    case 'http-custom-headers':
      return JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT).toolCalls.map((c) => [c.name, c.arguments])
    case 'http-standard-headers':
    case 'http-invalid-tool-headers':
      return tools.map((t) => [t.tool, { region: 'us-west1' }])
    case 'json-schema-2020-12-preservation':
      return [['json_schema_echo', { schema: tools.find((t) => t.tool === 'json_schema_2020_12_tool').definition.inputSchema }]]
  }
  return calls[scenario] ?? []
}

const options = { mode: 'main', storage: 'memory', servers: { peer: { url } } }
options.wasm = await readFile(new URL(`../../dist/npm/${process.env.WASM ?? 'portolan.wasm'}`, import.meta.url))
if (scenario in answers) options.onElicitation = async () => answers[scenario]
const registry = await createRegistry(options)
const snapshot = await registry.discover()
const peer = snapshot.servers.peer
let failed = false
if (peer.lastError) {
  console.error(`driver: ${peer.lastError}`)
  failed = scenario !== 'request-metadata'
}
for (const [tool, args] of wanted(snapshot.tools)) {
  try {
    const name = snapshot.tools.find((t) => t.tool === tool)?.name
    if (!name) throw new Error(`tool ${tool} is not listed`)
    await registry.call(name, args)
  } catch (error) {
    console.error(`driver: ${error}`)
    failed ||= scenario === 'tools_call' || scenario === 'sse-retry'
  }
}
await registry.close()
process.exitCode = failed ? 1 : 0
