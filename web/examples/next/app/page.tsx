import { Servers } from './servers'

export default function Page() {
  return (
    <main>
      <h1>MCP servers</h1>
      <p>This text comes from the server; the servers below are connected to by your browser.</p>
      <Servers />
    </main>
  )
}
