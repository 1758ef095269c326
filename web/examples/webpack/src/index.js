import { createRegistry } from 'portolan'
import 'portolan/panel'

const form = document.querySelector('form')
const { tool, arguments: args } = form.elements
const output = form.querySelector('output')

async function start() {
  const registry = await createRegistry({ servers: { demo: { url: 'builtin:demo' } } })
  document.querySelector('portolan-panel').registry = registry

  // Servers come and go, and so do their tools.
  let shown
  const show = () => {
    const { tools } = registry.getSnapshot()
    if (tools === shown) return
    shown = tools
    const chosen = tool.value
    tool.replaceChildren(...tools.map(({ name }) => new Option(name, name, false, name === chosen)))
    tool.disabled = tools.length === 0
  }
  registry.subscribe(show)
  await registry.discover()
  show()

  form.onsubmit = async (e) => {
    e.preventDefault()
    output.value = '…'
    output.value = await registry.dispatch(tool.value, args.value).catch((error) => error.message)
  }
}

start()
