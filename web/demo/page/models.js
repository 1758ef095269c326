// Models for the chat: one that follows a script, and one that asks an endpoint of Chat Completions.

/** What the scripted model understands: words of the question, the search for a tool, and the tool's arguments. */
const scripts = [
  { words: /picture|image|photo/i, search: 'returns an image', args: {}, end: () => 'Here it is. A model with eyes would get the image itself.' },
  { words: /who am i|my name|ask me/i, search: 'asks for your name', args: {}, end: (said) => `The server asked you during the call. ${said}` },
  { words: /theme|dark|light/i, search: 'switch the colours of this page', args: {}, end: (said) => `${said} That tool is a function of this page.` },
  { words: /map|app\b|clock/i, search: 'shows an interactive app', args: {}, end: () => 'The tool came with its own user interface.' },
  {
    words: /weather|warm|cit(y|ies)/i,
    search: 'weather of a city',
    // Several calls in one answer run at the same time.
    each: ['Palma', 'Oslo', 'Lima'].map((city) => ({ city })),
    next: (said) => ['adds two numbers', { a: celsius(said[0]), b: celsius(said[1]) }],
    end: (said) => `Three cities were asked at once. Then the first two were added: ${said} degrees.`,
  },
]

const celsius = (text) => JSON.parse(text).celsius

/** The ideas that the page offers. */
export const ideas = [
  'Show me a picture',
  'Ask me who I am',
  'How warm is it in three cities?',
  'Switch the theme of this page',
  'Open an app',
]

/** A model without intelligence: it searches for a tool, calls what it found, and says what came of it. */
export async function scriptedModel(messages) {
  const at = messages.findLastIndex((m) => m.role === 'user')
  const question = messages[at].content
  const script = scripts.find(({ words }) => words.test(question))
  if (!script) return `I only follow a script. Try one of these: ${ideas.join(' · ')}`
  const answers = messages.slice(at + 1).filter((m) => m.role === 'tool')
  const failed = answers.find((m) => m.isError)
  if (failed) return `That did not work: ${failed.content}`
  const id = `call_${messages.length}`
  const search = (query) => ({ text: '', calls: [{ id, name: 'portolan_search_tools', arguments: { query, limit: 1 } }] })
  const found = () => JSON.parse(answers.findLast((m) => m.name === 'portolan_search_tools').content).tools[0].function.name
  const call = (all) => ({
    text: '',
    calls: all.map((args, i) => ({ id: `${id}_${i}`, name: 'portolan_call_tool', arguments: { name: found(), arguments: args } })),
  })
  const results = answers.filter((m) => m.name === 'portolan_call_tool').map((m) => m.content)
  const searches = answers.filter((m) => m.name === 'portolan_search_tools')
  if (!searches.length) return search(script.search)
  if (searches.at(-1).content.startsWith('No tool fits')) return 'I found no tool for that. Add the server that has one.'
  if (!results.length) return call(script.each ?? [script.args])
  if (script.next && searches.length === 1) return search(script.next(results)[0])
  if (script.next && results.length === script.each.length) return call([script.next(results)[1]])
  return script.end(results.at(-1))
}

/** A model behind an endpoint of OpenAI's Chat Completions. */
export const endpointModel = ({ base, model, key }) => async (messages, { tools, signal }) => {
  const response = await fetch(`${base.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, messages: messages.map(wire), ...(tools.length && { tools }) }),
    signal,
  }).catch((e) => {
    throw e instanceof TypeError ? new Error('No answer from the address. It has to allow this page by CORS headers.') : e
  })
  const body = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(body.error?.message ?? `the endpoint answered ${response.status}`)
  const message = body?.choices?.[0]?.message
  if (!message) throw new Error('The address has no Chat Completions. Those of most providers end in /v1.')
  const { content, tool_calls } = message // some endpoints write null for no calls
  const calls = (tool_calls ?? []).map(({ id, function: f }) => ({ id, name: f.name, arguments: objectOf(f.arguments) }))
  const usage = { input: body.usage?.prompt_tokens, output: body.usage?.completion_tokens }
  return { text: content ?? '', calls, usage }
}

/** The object in a text of arguments. Another text stays, and the registry says what is wrong with it. */
function objectOf(text) {
  try {
    const value = JSON.parse(text)
    return value?.constructor === Object ? value : text
  } catch {
    return text
  }
}

/** A message in the form of Chat Completions. */
function wire(m) {
  if (m.role === 'tool') return { role: 'tool', tool_call_id: m.callId, content: m.content }
  if (m.role !== 'assistant' || !m.calls?.length) return { role: m.role, content: m.content }
  return {
    role: 'assistant',
    content: m.content || null,
    tool_calls: m.calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    })),
  }
}
