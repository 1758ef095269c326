import type { Failure, FailureCode } from '../drivermessages.ts'

/** Ends a run. The message says what the user can do. */
export class DriverFailure extends Error {
  readonly code: FailureCode
  readonly more: Pick<Failure, 'health' | 'kind' | 'models'>

  constructor(code: FailureCode, message: string, more: Pick<Failure, 'health' | 'kind' | 'models'> = {}) {
    super(message)
    this.code = code
    this.more = more
  }
}

/** Messages for the page's notices. */
export const noticeReasons = {
  AUTHENTICATION_FAILED: (label: string) =>
    `Authentication failed: ${label} refused the log-in. Log in there in this browser with the right details, then ask ` +
    'again.',
  LOGIN_REQUIRED: (label: string) => `Login required: log in to ${label} in this browser, then ask again.`,
  SESSION_EXPIRED: (label: string) => `Session expired: log in to ${label} again in this browser, then ask again.`,
  NETWORK_ERROR: (label: string) =>
    `Network error occurred at ${label}, or something went wrong there: check the connection, then ask again.`,
  RATE_LIMITED: (label: string) =>
    `${label} says that its usage limit is reached: wait until it allows more prompts, then ask again.`,
}

export const reasons = {
  layout: (label: string) =>
    `The page of ${label} has no field for a prompt that Portolan knows: open the page and look. ` +
    'If it shows a chat, Portolan needs an update (chat_snapshot tells what it saw).',
  conversation: (label: string) =>
    `This conversation at ${label} did not open. It may have been deleted: ` +
    'ask without a conversationId to begin a new chat.',
  stopButton: (label: string) =>
    `${label} still works on an earlier answer in this chat: stop it there or begin a new chat, then ask again.`,
  noResponse: (label: string) =>
    `${label} took the prompt but began no answer: look at the chat in its tab, then ask again.`,
  input: (label: string) =>
    `The prompt could not be put into the field of ${label} as it is: ` +
    "ask with a simpler text, or, in Chromium, use the extension's build with trusted input.",
  disabled: (label: string) =>
    `The send button of ${label} did not become available: look in its tab for the reason, then ask again.`,
  send: (label: string) =>
    `${label} did not show the prompt after it was sent: look in its tab whether it is there before you ask again.`,
  timeout: (label: string, seen: string) =>
    `The answer of ${label} was not complete in time (${seen}): ` +
    'ask again with more time, or look at the chat in its tab.',
  left: (label: string) =>
    `The tab of ${label} went to another conversation before the answer was complete: ` +
    'look at the chat whether the prompt is there before you ask again.',
  handover: (label: string) =>
    `The prompt in the field of ${label} was not sent in time: ask again, send it there, and hand the answer over.`,
  paused: (label: string) =>
    `You took over the tab of ${label} and did not give it back in time: ask again, or choose "resume" sooner.`,
  cancelled: () => 'The run was cancelled: ask again when you want an answer.',
  setting: (label: string, what: string, value: string) =>
    `${label} offers no ${what} "${value}" on its page: choose one that it lists, or leave it out.`,
  model: (label: string, value: string, models: string[]) =>
    models.length
      ? `${label} does not offer the model "${value}". Its page offers: ${models.join(', ')}.`
      : `The model "${value}" could not be chosen at ${label}, because its page shows no list of models: leave it out.`,
  unknown: (label: string, e: unknown) => {
    const reason = e instanceof Error ? e.message.slice(0, 200) : 'no reason given'
    return `Driving ${label} failed unexpectedly (${reason}): reload its tab, then ask again.`
  },
}
