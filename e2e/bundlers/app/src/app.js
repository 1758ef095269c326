import { createRegistry } from 'portolan'

/** Adds the server of the page's address, calls a tool of it, and shows in `main` how that went. */
export async function start(main) {
  const query = new URLSearchParams(location.search)
  const panel = document.createElement('portolan-panel')
  const answer = document.createElement('pre')
  main.replaceChildren(answer, panel)
  try {
    const registry = await createRegistry({ mode: query.get('mode') ?? 'auto', storage: 'memory', validate: true })
    panel.registry = registry
    await registry.addServer('remote', { url: query.get('server') })
    await registry.discover()
    answer.textContent = await registry.dispatch('remote__raw', { ship: 'carrack' })
    main.dataset.mode = registry.mode
  } catch (e) {
    answer.textContent = `${e.code}: ${e.message} ${e.hint ?? ''}`
    main.dataset.mode = 'failed'
  }
}
