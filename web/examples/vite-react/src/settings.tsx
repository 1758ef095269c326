import { useState, type SubmitEvent } from 'react'
import type { Model } from './model'

const kept = 'portolan-chat-model'
const keptKey = 'portolan-chat-key'

/** The model's settings. The key is forgotten with the tab. */
export function useModel(): [Model, (model: Model) => void] {
  const [model, setModel] = useState<Model>(() => ({
    baseURL: 'http://localhost:11434/v1',
    name: '',
    streaming: true,
    ...JSON.parse(localStorage.getItem(kept) ?? '{}') as Partial<Model>,
    key: sessionStorage.getItem(keptKey) ?? '',
  }))
  return [model, (changed) => {
    const { key, ...rest } = changed
    localStorage.setItem(kept, JSON.stringify(rest))
    sessionStorage.setItem(keptKey, key)
    setModel(changed)
  }]
}

export function Settings({ model, onSave, onClose }: { model: Model; onSave(model: Model): void; onClose(): void }) {
  const save = (e: SubmitEvent<HTMLFormElement>) => {
    e.preventDefault()
    const form = new FormData(e.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    onSave({ baseURL: text('baseURL'), key: text('key'), name: text('name'), streaming: form.has('streaming') })
    onClose()
  }
  return (
    <form onSubmit={save} className='settings'>
      <label>
        Base URL
        <input
          name='baseURL'
          type='url'
          required
          defaultValue={model.baseURL}
          aria-describedby='base-help'
          spellCheck={false}
        />
      </label>
      <p id='base-help'>
        Any endpoint with{' '}
        <code>/chat/completions</code>: Ollama, LM Studio, vLLM, OpenAI. It has to allow this page’s origin.
      </p>
      <label>
        Model
        <input name='name' required defaultValue={model.name} autoComplete='off' spellCheck={false} />
      </label>
      <label>
        API key <small>optional</small>
        <input name='key' type='password' defaultValue={model.key} autoComplete='off' aria-describedby='key-help' />
      </label>
      <p id='key-help'>Sent to the base URL only, and forgotten with this tab.</p>
      <label className='check'>
        <input name='streaming' type='checkbox' defaultChecked={model.streaming} /> Stream answers
      </label>
      <div className='actions'>
        <button className='primary'>Save</button>
      </div>
    </form>
  )
}
