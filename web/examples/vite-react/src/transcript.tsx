import { useLayoutEffect, useRef } from 'react'
import type { Call, Entry } from './conversation'

/** The conversation; it stays at its end unless somebody has scrolled up. */
export function Transcript({ entries, running }: { entries: Entry[]; running: boolean }) {
  const log = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  useLayoutEffect(() => {
    if (atEnd.current) log.current!.scrollTop = log.current!.scrollHeight
  }, [entries])
  const scrolled = () => {
    const { scrollTop, scrollHeight, clientHeight } = log.current!
    atEnd.current = scrollHeight - scrollTop - clientHeight < 40
  }
  return (
    <div
      ref={log}
      className='log'
      role='log'
      aria-label='Conversation'
      aria-busy={running}
      tabIndex={0}
      onScroll={scrolled}
    >
      {entries.map((entry) => <Item key={entry.id} entry={entry} />)}
      {running && entries.at(-1)?.kind !== 'assistant' && (
        <p className='thinking' aria-hidden='true'>
          <span />
          <span />
          <span />
        </p>
      )}
    </div>
  )
}

function Item({ entry }: { entry: Entry }) {
  switch (entry.kind) {
    case 'calls':
      return (
        <ul className='calls' aria-label='Tool calls'>
          {entry.calls.map((call) => (
            <li key={call.id}>
              <ToolCall call={call} />
            </li>
          ))}
        </ul>
      )
    case 'notice':
      return <p className='notice'>{entry.text}</p>
    case 'fault':
      return (
        <p className='fault' role='alert'>
          <strong>That did not work.</strong> {entry.text}
        </p>
      )
    default:
      return (
        <article className={entry.kind}>
          <h2>{entry.kind === 'user' ? 'You' : 'Model'}</h2>
          <p>{entry.text}</p>
        </article>
      )
  }
}

const words = { running: 'Running', ok: 'Done', error: 'Failed', cancelled: 'Cancelled' }
const shapes = { running: '◌', ok: '✓', error: '✕', cancelled: '–' }

function ToolCall({ call }: { call: Call }) {
  const { tool, args, state, progress, result, durationMs } = call
  return (
    <details data-state={state} open={state === 'error' || undefined}>
      <summary>
        <span className='shape' aria-hidden='true'>{shapes[state]}</span>
        <code>{tool}</code>
        <span className='state'>{words[state]}{state === 'running' && progress ? `, ${progress}` : ''}</span>
        {durationMs !== undefined && <span className='time'>{duration(durationMs)}</span>}
      </summary>
      <h3>Arguments</h3>
      <pre tabIndex={0}>{pretty(args)}</pre>
      {result !== undefined && (
        <>
          <h3>{state === 'error' ? 'Error' : 'Result'}</h3>
          <pre tabIndex={0}>{pretty(result)}</pre>
        </>
      )}
    </details>
  )
}

const duration = (ms: number) => ms < 1 ? '< 1 ms' : ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`

/** Indents JSON unless that would change its numbers, and leaves all else as it is. */
function pretty(text: string): string {
  if (/\d{16}/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
