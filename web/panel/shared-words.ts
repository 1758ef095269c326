import type { Message } from '../ui/translations.ts'

/** The words that the panel and `<portolan-run>` share, in English. */
export const shared = {
  cancel: 'Cancel',
  undo: 'Undo',
  dismiss: 'Dismiss',
  copied: 'Copied.',
  advanced: 'Advanced',
  progress: 'Progress',
  cancelled: 'Cancelled.',
  no_match: 'Nothing matches.',
  matches: { one: '{n} match', other: '{n} matches' },
} as const satisfies Record<string, Message>
