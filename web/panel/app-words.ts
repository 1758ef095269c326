import type { Message } from '../ui/translations.ts'

/** The messages of `<portolan-app>`, in English. The panel does not load them. */
export const appWords = {
  comma: ', ',
  app_of: 'App from {server}',
  app_loading: 'The app is loading…',
  app_full: 'Full screen',
  app_inline: 'Back to the page',
  app_close: 'Close the app',
  app_link: 'The app wants to open a page at',
  app_link_open: 'Open page',
  app_no: 'No',
  app_asks: 'This app asks for:',
  app_camera: 'the camera',
  app_microphone: 'the microphone',
  app_geolocation: 'your location',
  app_clipboardWrite: 'writing to the clipboard',
  app_allow: 'Allow',
  app_without: 'Go on without',
  app_changed: 'The server has changed this app since you last saw it.',
  app_new: 'You have not seen this app before.',
  app_approve: 'Show the app',
  app_retry: 'Try again',
  app_why_no_sandbox: 'Apps are not shown here: this page has no sandbox page on another origin for them.',
  app_why_bad_sandbox: 'Apps are not shown here: the sandbox page must have an address of another origin.',
  app_why_unreadable: 'The app could not be read from its server.',
  app_why_bad_type: 'The server sent something that is not an app.',
  app_why_too_large: 'The app is larger than 8 MiB.',
  app_why_silent: 'The app did not answer within 10 seconds.',
  app_why_flood: 'The app was closed because it sent too many messages.',
  app_why_left: 'The app was closed because it went to another page.',
  app_why_closed: 'The app is closed.',
} as const satisfies Record<string, Message>

export type AppKey = keyof typeof appWords
