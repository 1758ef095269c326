import { endpointModel, ideas, scriptedModel } from './models.js'
import { loop } from './portolan/loop.js'

const $ = (id) => document.getElementById(id)

/** An element with properties and children. Texts of servers and models are only ever text. */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** A function of this page, which the model may call as a tool. */
const pageTools = [{
  name: 'switch_theme',
  description: 'Switches the colours of this page between light and dark.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  run: () => {
    const { style } = document.documentElement
    const isDark = (style.colorScheme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'
    style.colorScheme = isDark ? 'light' : 'dark'
    return `The page is ${style.colorScheme} now.`
  },
}]

/** Runs the chat of the page over the tools of a registry. */
export function startChat(registry, { sandbox } = {}) {
  let messages = []
  let running

  const show = (child) => {
    $('log').append(child)
    child.scrollIntoView({ block: 'nearest' })
  }
  /** The log ends with the newest entry also when an app in it has grown. */
  const grown = new ResizeObserver(() => $('log').scrollTo(0, $('log').scrollHeight))
  const fault = (text) => show(element('p', { className: 'theirs fault' }, text))

  /** The tools in a form that leaves long lists to a search. */
  const view = {
    getTools: (options) => registry.getTools({ ...options, deferred: { budgetTokens: $('base').value ? 8000 : 0 } }),
    has: (name) => registry.has(name),
    call: (name, args, options) => registry.call(name, args, options),
  }

  /** The scripted model needs the built-in server, and a function of the page. */
  async function prepare() {
    const servers = registry.getHealth()
    if (!servers.page) await registry.addTools('page', pageTools)
    if (!Object.keys(servers).some((name) => name !== 'page')) await registry.addServer('demo', { url: 'builtin:demo' })
    await registry.discover()
  }

  const argumentsOf = (call) => call.name === 'portolan_call_tool' ? call.arguments.arguments ?? {} : call.arguments

  /** Whether the tool of a result has a user interface. */
  const hasApp = ({ server, tool }) => {
    const { _meta } = registry.getSnapshot().tools.find((t) => t.server === server && t.tool === tool)?.definition ?? {}
    return !!(_meta?.ui?.resourceUri ?? _meta?.['ui/resourceUri'])
  }

  function showCall({ call, text, isError, durationMs, result }, card) {
    const name = call.name === 'portolan_call_tool' ? call.arguments.name ?? call.name : call.name
    const args = JSON.stringify(call.arguments?.arguments ?? call.arguments)
    const summary = card.querySelector('summary')
    summary.replaceChildren(element('code', {}, name), ` ${isError ? 'failed' : `${Math.round(durationMs)} ms`}`)
    card.classList.toggle('failed', isError)
    card.append(element('pre', {}, args), element('pre', {}, text.slice(0, 4000)))
    if (result && hasApp(result)) {
      const app = Object.assign(document.createElement('portolan-app'), { registry, result, args: argumentsOf(call), sandbox: sandbox ?? '' })
      show(app)
      grown.observe(app)
    }
    for (const block of result?.content ?? []) {
      if (block.type !== 'image' || !/^image\/(png|jpeg|gif|webp)$/.test(block.mimeType)) continue
      show(element('img', { className: 'picture', alt: `Image from ${name}`, src: `data:${block.mimeType};base64,${block.data}` }))
    }
  }

  async function answer(text) {
    running = new AbortController()
    const own = $('base').value.trim()
    $('send').disabled = true
    $('stop').hidden = false
    show(element('p', { className: 'mine' }, text))
    messages.push({ role: 'user', content: text })
    const cards = new Map()
    try {
      await prepare()
      const model = own ? endpointModel({ base: own, model: $('model').value, key: $('key').value }) : scriptedModel
      for await (const event of loop({ view, model, prompt: messages, rounds: 12, signal: running.signal })) {
        if (event.type === 'tool' && event.phase === 'begin') {
          const card = element('details', { className: 'tool' }, element('summary', {}, element('code', {}, event.call.name), ' …'))
          cards.set(event.call.id, card)
          show(card)
        } else if (event.type === 'tool' && event.phase === 'end') showCall(event, cards.get(event.call.id))
        else if (event.type === 'text' && event.text) show(element('p', { className: 'theirs' }, event.text))
        else if (event.type === 'stopped') fault(event.error?.message ?? `Stopped: ${event.why}`)
        if (event.state?.messages) messages = [...event.state.messages]
      }
    } catch (e) {
      fault(`${e.message} ${e.hint ?? ''}`)
    }
    $('send').disabled = false
    $('stop').hidden = true
    if (document.activeElement === document.body) $('text').focus()
  }

  for (const idea of ideas) $('ideas').append(element('button', { type: 'button', onclick: () => !$('send').disabled && answer(idea) }, idea))
  $('say').addEventListener('submit', (event) => {
    event.preventDefault()
    if ($('send').disabled) return // the text stays until the answer is there
    const text = $('text').value.trim()
    $('text').value = ''
    if (text) answer(text)
  })
  $('text').addEventListener('keydown', (event) => {
    // Of the key that ends a word of an input method, Safari has only the code 229.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return
    event.preventDefault()
    $('say').requestSubmit()
  })
  // The browser cannot show what is wrong with a field that is folded away.
  $('own').addEventListener('invalid', () => ($('own').open = true), true)
  $('stop').addEventListener('click', () => running?.abort())
  $('base').addEventListener('input', () => {
    $('who').textContent = $('base').value
      ? `Your model at ${$('base').value} answers. It gets all tools of the panel.`
      : 'A scripted model answers: no key, no network. It finds tools by search and calls them.'
  })
}
