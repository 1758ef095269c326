import { createRegistry } from './portolan/index.js'

const $ = (id) => document.getElementById(id)
const made = (tag, props = {}, ...children) => {
  const el = Object.assign(document.createElement(tag), props)
  el.append(...children)
  return el
}

const began = performance.now()
const params = new URLSearchParams(location.search)
// `portolan up` says here where its proxy is; other hosts of this page have none.
const settings = await fetch('./settings.json').then((r) => (r.ok ? r.json() : {})).catch(() => ({}))
let registry
try {
  registry = await createRegistry({
    mode: params.get('mode') ?? 'auto',
    proxy: settings.proxy,
    wasm: params.has('sdk') ? './portolan/portolan-sdk.wasm' : undefined,
    onProgress: ({ phase }) => { $('runtime').textContent = `${phase}…` },
  })
} catch (e) {
  $('runtime').textContent = `${e.message} ${e.hint ?? ''}`
  throw e
}
globalThis.registry = registry // for the console
const startMs = Math.round(performance.now() - began)
$('runtime').textContent = `Portolan ${registry.version} · ${registry.mode} · ready in ${startMs} ms`

const { url, name, proxy } = $('add').elements
proxy.disabled = !settings.proxy
url.placeholder = `${location.origin}/mcp`
url.addEventListener('input', () => { if (!name.dataset.touched) name.value = suggestName(url.value) })
name.addEventListener('input', () => { name.dataset.touched = 'yes' })

function suggestName(text) {
  if (text.startsWith('builtin:')) return text.slice(8)
  if (!URL.canParse(text)) return ''
  const { hostname, pathname } = new URL(text)
  const base = hostname === '127.0.0.1' || hostname === 'localhost' ? `local${pathname.replace(/\W+/g, '-')}` : hostname.split('.').slice(-2, -1)[0] ?? hostname
  return base.replace(/[^\w-]+/g, '-')
}

$('add').addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target.elements
  $('add-error').textContent = ''
  try {
    const headers = Object.fromEntries(form.headers.value.split('\n').filter((l) => l.trim()).map((line) => {
      const at = line.indexOf(':')
      if (at < 1) throw new Error(`A header line has no colon: write Name: value.`)
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }))
    await registry.addServer(form.name.value, { url: form.url.value.trim(), headers, proxy: form.proxy.checked })
    await registry.discover([form.name.value])
    event.target.reset()
    delete name.dataset.touched
  } catch (e) {
    $('add-error').textContent = e.hint ? `${e.message}. ${e.hint}` : e.message
  }
})

const words = { connected: 'connected', connecting: 'connecting', error: 'error', disabled: 'off', disconnected: 'not connected' }

function serverRow(name, s) {
  const status = made('span', { className: 'status', textContent: s.suspended ? 'paused' : words[s.status] })
  status.dataset.status = s.status
  const facts = [`${s.toolCount} tool${s.toolCount === 1 ? '' : 's'}`, s.transport, s.protocolVersion, s.latencyMs && `${Math.round(s.latencyMs)} ms`]
  const row = made('li', {},
    made('span', { className: 'name', textContent: name }), status,
    made('span', { className: 'detail', textContent: s.config.url }),
    made('span', { className: 'detail', textContent: facts.filter(Boolean).join(' · ') }))
  if (s.lastError) row.append(made('span', { className: 'detail error', textContent: s.hint ? `${s.lastError} ${s.hint}` : s.lastError }))
  for (const w of s.warnings ?? []) row.append(made('span', { className: 'detail', textContent: w }))
  const button = (text, run) => made('button', { type: 'button', textContent: text, ariaLabel: `${text} ${name}`, onclick: () => run().catch(report) })
  row.append(made('span', { className: 'buttons' },
    button(s.status === 'disabled' ? 'Turn on' : 'Turn off', () => registry.setEnabled(name, s.status === 'disabled')),
    button('Retry', () => registry.retry(name)),
    button('Remove', () => registry.removeServer(name))))
  return row
}

function report(e) { $('add-error').textContent = e.message }

function render() {
  const snap = registry.getSnapshot()
  const servers = Object.entries(snap.servers)
  $('servers').replaceChildren(...servers.map(([name, s]) => serverRow(name, s)))
  if (!servers.length) {
    $('servers').replaceChildren(made('li', { className: 'empty' }, made('span', { textContent: 'No servers yet.' }),
      made('button', { type: 'button', textContent: 'Add the built-in demo', onclick: () => start('demo', 'builtin:demo') })))
  }
  const filter = $('filter').value.toLowerCase()
  const tools = snap.tools.filter((t) => t.name.toLowerCase().includes(filter))
  $('count').textContent = `${snap.tools.length}`
  $('tools').replaceChildren(...tools.slice(0, 500).map((t) => {
    const about = t.definition.description ?? t.definition.title ?? ''
    const b = made('button', { type: 'button', onclick: () => choose(t) },
      made('span', { className: 'tool', textContent: t.name }), made('span', { className: 'about', textContent: about }))
    b.setAttribute('aria-current', String($('call').elements.tool.value === t.name))
    return made('li', {}, b)
  }))
  if (!tools.length) $('tools').replaceChildren(made('li', { className: 'empty', textContent: snap.tools.length ? 'No tool matches.' : 'Tools of your servers appear here.' }))
  $('tool-names').replaceChildren(...snap.tools.slice(0, 500).map((t) => made('option', { value: t.name })))
  showDefinition()
}

async function start(name, url) {
  await registry.addServer(name, { url }).catch(report)
  await registry.discover([name])
}

function choose(t) {
  const form = $('call').elements
  form.tool.value = t.name
  form.args.value = JSON.stringify(example(t.definition.inputSchema), null, 2)
  render()
  form.args.focus()
}

/** Arguments to begin with: defaults, or an empty value of the right type. */
function example(schema) {
  const empty = { string: '', number: 0, integer: 0, boolean: false, array: [], object: {} }
  const out = {}
  for (const [key, p] of Object.entries(schema?.properties ?? {})) {
    if (p?.default !== undefined) out[key] = p.default
    else if (schema.required?.includes(key)) out[key] = p?.enum?.[0] ?? empty[p?.type] ?? null
  }
  return out
}

function showDefinition() {
  const name = $('call').elements.tool.value
  const format = $('format').value
  const tool = registry.has(name) && registry.getTools({ format, include: [name] })[0]
  $('definition-box').hidden = !tool
  if (tool) $('definition').textContent = JSON.stringify(tool, null, 2)
}

let running
$('call').addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target.elements
  running = new AbortController()
  $('run').disabled = true
  $('cancel').disabled = false
  $('result').replaceChildren()
  try {
    const result = await registry.call(form.tool.value, form.args.value, {
      signal: running.signal,
      onProgress: ({ progress, total, message }) => {
        Object.assign($('progress'), { hidden: false, max: total ?? 1 })
        if (total) $('progress').value = progress
        $('progress-text').textContent = message ?? `${progress}`
      },
    })
    const pre = made('pre', { textContent: result.text, tabIndex: 0 })
    if (result.isError) pre.className = 'failed'
    $('result').append(
      made('p', { className: 'meta', textContent: `${result.server} · ${result.tool} · ${result.durationMs.toFixed(1)} ms${result.isError ? ' · the tool reports an error' : ''}` }),
      pre,
      ...result.content.filter((c) => c.type === 'image' && /^image\/(png|jpeg|gif|webp)$/.test(c.mimeType))
        .map((c) => made('img', { src: `data:${c.mimeType};base64,${c.data}`, alt: 'image from the tool' })))
    if (result.structuredContent !== undefined) $('result').append(made('pre', { textContent: JSON.stringify(result.structuredContent, null, 2), tabIndex: 0 }))
  } catch (e) {
    $('result').append(made('pre', { className: 'failed', textContent: `${e.code}: ${e.message}\n${e.hint ?? ''}` }))
  } finally {
    $('run').disabled = false
    $('cancel').disabled = true
    $('progress').hidden = true
    $('progress-text').textContent = ''
  }
})
$('cancel').addEventListener('click', () => running?.abort())
$('filter').addEventListener('input', render)
$('format').addEventListener('change', showDefinition)
$('call').elements.tool.addEventListener('input', showDefinition)
registry.subscribe(render)
render()
registry.discover()
