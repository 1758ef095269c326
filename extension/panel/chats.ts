import { html, type TemplateResult } from 'lit'
import { sites } from '../chats/drivermessages.ts'
import { define, Piece } from './piece.ts'
import './chat.ts'
import './options.ts'
import './runs.ts'

/** The chat sites, what is asked of them now, and how. */
class Chats extends Piece {
  protected override render(): TemplateResult {
    const { desk, state, now } = this
    return html`
      <portolan-runs .desk=${desk} .state=${state} .now=${now}></portolan-runs>
      <div class="pair"><div class="main">${
      sites.map((site) => html`<portolan-chat .desk=${desk} .state=${state} .site=${site}></portolan-chat>`)
    }</div>
        <portolan-options .desk=${desk} .state=${state}></portolan-options></div>`
  }
}

define('portolan-chats', Chats)
