import { conversationPath } from '../hosts.ts'
import { Scenario } from '../scenario.ts'
import type { ErrorKind, Event, Posted, StoredTurn } from '../state.ts'
import { boot } from './boot.ts'

/** A prompt and its answer so far. */
export interface Turn {
  id: string
  prompt: string
  answer: string
  /** `waiting`: nothing came yet. `silent`: no answer will come. */
  phase: 'waiting' | 'thinking' | 'answering' | 'silent' | 'stopped' | 'error' | 'done'
  skippable: boolean
  thought?: { seconds: number; text: string }
  error?: ErrorKind
  /** The model that was chosen when it was sent. */
  model?: string
  frozen?: boolean
  /** The stop button is gone, but the answer continues. */
  lull?: boolean
  /** Counts the elements that the page has made for the turn. */
  mount: number
}

/** The page's side of a conversation. It calls `changed` when its content changes. */
export class Chat {
  id: string | null = null
  turns: Turn[] = []
  changed: () => void = () => {}

  constructor() {
    const { conversation, state } = boot
    if (!conversation) return
    const show = (): void => {
      this.id = conversation.id
      this.turns = [...conversation.turns.map(kept), ...this.turns]
      this.changed()
    }
    // A conversation from the address is shown at once. A stale one comes later.
    if (state.old === false || location.pathname === conversationPath[boot.site](conversation.id)) show()
    else setTimeout(show, state.old)
  }

  /** The turn that has the stop button. */
  get running(): Turn | undefined {
    return this.turns.findLast((turn) =>
      turn.frozen || (['waiting', 'thinking', 'answering'].includes(turn.phase) && !turn.lull)
    )
  }

  async send(prompt: string, settings: Partial<Posted> = {}): Promise<void> {
    const turn: Turn = { id: crypto.randomUUID(), prompt, answer: '', phase: 'waiting', skippable: false, mount: 0 }
    if (settings.model) turn.model = settings.model
    this.turns.push(turn)
    this.changed()
    try {
      const response = await post('conversation', { prompt, conversation: this.id, ...settings })
      if (!response.ok) return this.#fail(turn, (await response.json()).error)
      for await (const event of events(response)) this.#take(turn, event)
    } catch {
      this.#fail(turn, 'network')
    }
  }

  stop(): void {
    const turn = this.running
    if (!turn) return
    if (turn.frozen) turn.frozen = false
    else turn.phase = 'stopped'
    void post('stop', { turn: turn.id })
    this.changed()
  }

  skip(): void {
    const turn = this.running
    if (turn) void post('skip', { turn: turn.id })
  }

  #take(turn: Turn, event: Event): void {
    switch (event.type) {
      case 'began':
        turn.id = event.turn
        this.id = event.conversation
        break
      case 'thinking':
        Object.assign(turn, { phase: 'thinking', skippable: event.skippable })
        break
      case 'thought':
        Object.assign(turn, {
          phase: 'waiting',
          skippable: false,
          thought: { seconds: event.seconds, text: event.text },
        })
        break
      case 'delta':
        if (turn.phase === 'stopped') return
        turn.phase = 'answering'
        turn.answer += event.text
        // Sites put the conversation's id into the address once its first answer begins.
        if (location.pathname !== conversationPath[boot.site](this.id!))
          history.pushState({}, '', conversationPath[boot.site](this.id!) + location.search)
        break
      case 'replace':
        turn.answer = event.text
        break
      case 'lull':
        turn.lull = event.on
        break
      case 'remount':
        turn.mount++
        break
      case 'silent':
        turn.phase = 'silent'
        return this.changed()
      case 'done':
        if (turn.phase !== 'stopped' && turn.phase !== 'silent') turn.phase = 'done'
        turn.frozen = event.frozen !== undefined
        break
    }
    this.changed()
  }

  #fail(turn: Turn, error: ErrorKind): void {
    Object.assign(turn, { phase: 'error', error })
    this.changed()
  }
}

function kept(turn: StoredTurn): Turn {
  return { ...turn, phase: new Scenario(turn.prompt).has('noresponse') ? 'silent' : 'done', skippable: false, mount: 0 }
}

function post(what: string, body: unknown): Promise<Response> {
  return fetch(`/backend/${what}${location.search}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function* events(response: Response): AsyncGenerator<Event> {
  let rest = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) yield JSON.parse(line)
  }
}
