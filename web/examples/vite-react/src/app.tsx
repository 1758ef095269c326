import { PortolanPanel, useMCP } from 'portolan/react'
import { useRef, useState } from 'react'
import { Composer } from './composer'
import { Dialog } from './dialog'
import { Settings, useModel } from './settings'
import { Transcript } from './transcript'
import { useChat } from './usechat'

const options = { servers: { demo: { url: 'builtin:demo' } } }
const questions = ['How much is 40 and 2?', 'Echo “land ahoy”, and count to 5.', 'Which tools do you have?']

export function App() {
  const { registry, tools, health, status, error } = useMCP(options)
  const [model, setModel] = useModel()
  const { entries, running, send, cancel, clear } = useChat(model, registry)
  const [text, setText] = useState('')
  const [dialog, setDialog] = useState<'servers' | 'settings'>()
  const input = useRef<HTMLTextAreaElement>(null)
  const close = () => setDialog(undefined)

  const say = (words: string) => {
    if (!words.trim() || running || !registry) return
    if (!model.name) return setDialog('settings')
    setText('')
    void send(words.trim())
    input.current?.focus()
  }

  const up = Object.values(health).filter((h) => h.status === 'connected').length
  return (
    <>
      <header className='bar'>
        <h1>Chat with tools</h1>
        <p role='status'>
          {error
            ? error.message
            : status === 'starting'
            ? 'Starting…'
            : `${tools.length} tools, ${up} of ${Object.keys(health).length} servers connected`}
        </p>
        <nav aria-label='Chat'>
          <button type='button' onClick={() => setDialog('servers')}>Servers</button>
          <button type='button' onClick={() => setDialog('settings')}>
            {model.name
              ? (
                <>
                  Model <span className='model'>{model.name}</span>
                </>
              )
              : 'Choose a model'}
          </button>
          <button type='button' onClick={clear} disabled={running || entries.length === 0}>New chat</button>
        </nav>
      </header>
      <main>
        {entries.length === 0
          ? (
            <section className='welcome'>
              <h2>Ask for something that needs a tool</h2>
              <p>
                The model runs where you say, the tools where their servers are. This page is between them, and shows
                each call as it happens.
              </p>
              <ul>
                {questions.map((q) => (
                  <li key={q}>
                    <button
                      type='button'
                      onClick={() => say(q)}
                    >
                      {q}
                    </button>
                  </li>
                ))}
              </ul>
            </section>
          )
          : <Transcript entries={entries} running={running} />}
        <Composer
          ref={input}
          value={text}
          running={running}
          ready={!!registry}
          onChange={setText}
          onSend={() => say(text)}
          onCancel={cancel}
        />
      </main>
      {dialog === 'servers' && (
        <Dialog title='Servers' look='sheet' onClose={close}>
          <PortolanPanel registry={registry} />
        </Dialog>
      )}
      {dialog === 'settings' && (
        <Dialog title='Settings' look='drawer' onClose={close}>
          <Settings model={model} onSave={setModel} onClose={close} />
        </Dialog>
      )}
    </>
  )
}
