// The client that the suite tests in a page: hands the scenario to browser.mjs.
//
// 	node inbrowser.mjs SOCKET URL
import { connect } from 'node:net'

const [socket, url] = process.argv.slice(-2)
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context } = process.env
const page = connect(socket)
page.write(`${JSON.stringify({ url, scenario, context })}\n`)
let text = ''
for await (const chunk of page) text += chunk
const { failed, told } = JSON.parse(text)
for (const line of told) console.error(`driver: ${line}`)
process.exitCode = failed ? 1 : 0
