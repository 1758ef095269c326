'use client'
import { PortolanPanel, useMCP } from 'portolan/react'
import { useState } from 'react'

const options = { servers: { demo: { url: 'builtin:demo' } } }

/** On the server: words and an empty element. The registry starts in the browser. */
export function Servers() {
  const { registry, tools, status, error, dispatch } = useMCP(options)
  const [sum, setSum] = useState('')
  const add = () => dispatch('demo__add', { a: 40, b: 2 }).then(setSum, (e: Error) => setSum(e.message))
  return (
    <>
      <p role='status'>
        {error ? error.message : status === 'starting' ? 'Starting…' : `${tools.length} tools for the model`}
      </p>
      <button onClick={add} disabled={!tools.some((t) => t.name === 'demo__add')}>Add 40 and 2</button>{' '}
      <output>{sum}</output>
      <PortolanPanel registry={registry} />
    </>
  )
}
