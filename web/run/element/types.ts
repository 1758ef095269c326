import type { PanelMessages } from '../../panel/types.ts'
import type { Run, RunEvent, RunRequest } from '../types.ts'

/**
 * A search for a person, `<portolan-run>`. Importing `portolan/run-element` defines it. It has a field, the stages as
 * they happen, the question of a run, a preview of the results, and the answer.
 *
 * ```ts
 * import { remoteRun } from 'portolan/run-endpoint'
 * import 'portolan/run-element'
 * document.querySelector('portolan-run').start = (request) => remoteRun('/session/research', request)
 * ```
 *
 * Foreign words are shown as text. An answer's links are those of the preview. Its looks are those of the panel: the
 * custom properties `--portolan-*`, and `color-scheme`. CSS parts: `panel`, `stages`, `question`, `results`, `answer`.
 */
export declare class PortolanRun extends HTMLElement {
  /** Begins a run: `run()` with your options, or `remoteRun()`. Without it, the button is off. */
  start: ((request: RunStart) => Run) | undefined
  /** The text of the field. Attribute `prompt`. */
  prompt: string
  /** BCP 47 tag of the language; default: that of the nearest `lang`, else English. Attribute `locale`. */
  locale: string
  /** Words in another language, as those of the panel. */
  messages: PanelMessages | undefined
  /** Ends the run. The findings stay. */
  cancel(): void
  /** For the element's own event. */
  addEventListener<K extends keyof PortolanRunEvents>(
    type: K,
    listener: (this: PortolanRun, event: PortolanRunEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
  /** For every other event. */
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void
}

/** The person's input to a run. Give all of it to `run()` or `remoteRun()`. */
export interface RunStart extends RunRequest {
  signal: AbortSignal
}

/** They bubble and are composed. */
export interface PortolanRunEvents {
  /** An event of the run. */
  'run-event': CustomEvent<RunEvent>
}

declare global {
  interface HTMLElementTagNameMap {
    'portolan-run': PortolanRun
  }
}
