import { useId, type KeyboardEvent, type Ref } from 'react'

interface Props {
  ref: Ref<HTMLTextAreaElement>
  value: string
  running: boolean
  ready: boolean
  onChange(text: string): void
  onSend(): void
  onCancel(): void
}

/** Where a message is written. Enter sends it. */
export function Composer({ ref, value, running, ready, onChange, onSend, onCancel }: Props) {
  const id = useId()
  const keys = (e: KeyboardEvent) => {
    // Of the key that ends a word of an input method, Safari has only the code 229.
    if (e.key !== 'Enter' || e.shiftKey || e.nativeEvent.isComposing || e.keyCode === 229) return
    e.preventDefault()
    onSend()
  }
  return (
    <form
      className='composer'
      onSubmit={(e) => {
        e.preventDefault()
        onSend()
      }}
    >
      <label htmlFor={id}>Message</label>
      <div>
        <textarea
          ref={ref}
          id={id}
          rows={1}
          value={value}
          onChange={(e) => onChange(e.target.value)}
          onKeyDown={keys}
          aria-describedby={`${id}-help`}
        />
        {running
          ? <button type='button' className='primary' onClick={onCancel}>Stop</button>
          : <button className='primary' disabled={!ready || !value.trim()}>Send</button>}
      </div>
      <small id={`${id}-help`}>Enter sends, Shift+Enter begins a new line.</small>
    </form>
  )
}
