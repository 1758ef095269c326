import { html, nothing, type TemplateResult } from 'lit'
import { define, Piece } from './piece.ts'
import './bookmarks.ts'
import './clients.ts'
import './link.ts'
import './origins.ts'
import './pairing.ts'
import './profile.ts'
import './runs.ts'

/** The bridge has forgotten this browser, or has another key: only pairing helps. */
const estranged = new Set(['NOT_PAIRED', 'BAD_PROOF'])

/** The link to the bridge, what goes on, and who may do what. */
class Home extends Piece {
  protected override render(): TemplateResult {
    const { desk, state, now } = this
    const { link } = state
    const pairing = link.status === 'unpaired' || state.pairing !== null ||
      (link.status === 'refused' && estranged.has(link.error?.code ?? ''))
    // Before the first pairing nobody can call.
    const strangers = link.status === 'unpaired' && !state.clients.length && !state.origins.length
    return html`
      ${
      link.status === 'unpaired'
        ? nothing
        : html`<portolan-link .desk=${desk} .state=${state} .now=${now}></portolan-link>`
    }
      ${pairing ? html`<portolan-pairing .desk=${desk} .state=${state}></portolan-pairing>` : nothing}
      ${state.runs.length ? html`<portolan-runs .desk=${desk} .state=${state} .now=${now}></portolan-runs>` : nothing}
      <div class="pair">
        <div class="main">${
      strangers ? nothing : html`<portolan-clients .desk=${desk} .state=${state} .now=${now}></portolan-clients>`
    }
          <portolan-bookmarks .desk=${desk} .state=${state}></portolan-bookmarks></div>
        <div class="main">${
      strangers ? nothing : html`<portolan-origins .desk=${desk} .state=${state}></portolan-origins>`
    }
          <portolan-profile .desk=${desk} .state=${state}></portolan-profile></div>
      </div>`
  }
}

define('portolan-home', Home)
