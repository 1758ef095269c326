import type { RunEvent } from './types.ts'

/** Ends a run with an error. */
export class Failed {
  readonly event: Omit<Extract<RunEvent, { type: 'error' }>, 'type'>
  constructor(event: Failed['event']) {
    this.event = event
  }
}

export function fail(event: Failed['event']): never {
  throw new Failed(event)
}
