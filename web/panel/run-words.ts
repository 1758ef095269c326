import type { Message } from '../ui/translations.ts'
import { shared } from './shared-words.ts'

/** The messages of `<portolan-run>`, in English. The panel does not load them. */
export const runWords = {
  ...shared,
  run_prompt: 'What are you looking for?',
  run_start: 'Search',
  run_time: 'Time limit, in seconds',
  run_most: 'Most results',
  run_stage_health: 'Checking the servers',
  run_stage_plan: 'Planning',
  run_stage_search: 'Searching',
  run_stage_summarise: 'Writing the answer',
  run_is_done: 'done',
  run_is_failed: 'failed',
  run_percent: '{n} %',
  run_question: 'One question first:',
  run_reply: 'Reply',
  run_results: 'Results',
  run_results_of: '{n} of {total}',
  run_answer: 'Answer',
  run_answered: 'The answer is there.',
  run_summary: 'Summary',
  run_cases: 'Key cases',
  run_notes: 'Notes',
  run_partial: 'without a summary',
  run_removed: {
    one: '{n} link was taken out: no result has it.',
    other: '{n} links were taken out: no result has them.',
  },
  run_remaining: { one: '{n} search is left today.', other: '{n} searches are left today.' },
  run_copy: 'Copy link',
  run_share: 'Share…',
  run_resets: 'Searches are possible again at {time}.',
  run_error_unhealthy: 'The search cannot be reached now.',
  run_error_bad_plan: 'The request could not be turned into a search.',
  run_error_model_failed: 'The model does not answer.',
  run_error_search_failed: 'The search failed.',
  run_error_quota: 'The searches of today are used up.',
  run_error_timeout: 'The time was over before anything was found.',
  run_error_refused: 'The request was refused.',
} as const satisfies Record<string, Message>

export type RunKey = keyof typeof runWords
