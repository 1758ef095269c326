import { en as settingsEnglish, type Key as SettingsKey } from '../../web/panel/translations.ts'
import {
  wordsFrom,
  type Message,
  type Messages as MessagesOf,
  type Words as WordsOf,
} from '../../web/ui/translations.ts'

export type Key = keyof typeof en | SettingsKey
export type Messages = MessagesOf<Key>
export type Words = WordsOf<Key>

/** The words of the extension's pages in a locale, a BCP 47 tag. What `messages` lacks is English. */
export const wordsOf = (tag: string, messages: Messages = {}): Words =>
  wordsFrom<Key>(tag, messages, { ...settingsEnglish, ...en })

export const isKey = (key: string): key is keyof typeof en => Object.hasOwn(en, key)

/** The messages of the extension's pages, in English. They also use those of the settings panel. */
export const en = {
  app: 'Portolan',
  places: 'Portolan’s pages',
  place_home: 'Home',
  place_chats: 'Chats',
  place_servers: 'Servers',
  place_activity: 'Activity',
  waking: 'Waking the extension…',
  away: 'The extension’s background does not answer. Trying again. This view may be out of date.',
  code: 'Code: {code}',
  saved: 'Saved.',
  error_background_gone: 'The extension’s background was restarted before it answered. Please try again.',
  error_permission_impossible: 'This browser cannot ask for this permission here.',
  copy_command: 'Copy: {command}',

  stop_all: 'Stop everything',
  stop_means: 'Ends all runs and calls, and the connection to the bridge, until you continue.',
  stopped_means: 'Everything is stopped: no runs, no calls, no connection.',
  go: 'Continue',

  bridge: 'Bridge',
  bridge_is: 'Bridge: {status}',
  link_unpaired: 'Not paired',
  link_connecting: 'Connecting…',
  link_connected: 'Connected',
  link_waiting: 'Waiting',
  link_waiting_for: 'Waiting · again in {time}',
  link_refused: 'Refused',
  link_stopped: 'Stopped',
  link_since: 'connected {ago}',
  link_ephemeral: 'only while this bridge runs',
  tools_offered: { one: '{n} tool offered', other: '{n} tools offered' },
  no_tools_yet: 'No tools are offered yet. Switch on a chat or add a server:',
  try_now: 'Try now',
  unpair: 'Unpair…',
  unpair_question: 'Unpair from this bridge? Desktop clients cannot use this browser’s tools until you pair again.',
  unpair_yes: 'Unpair',
  advice_not_paired: 'The bridge does not know this browser, or has revoked it. Pair again.',
  advice_replaced: 'Copies of a profile have the same identity. Unpair one of them, then pair it again.',
  advice_disconnected: 'The extension tries again automatically.',
  advice_bad_address: 'The address must be on this computer, with a port.',
  advice_not_pairing:
    'No pairing is open in the terminal. Run “portolan bridge pair”, then choose Pair within three minutes.',
  advice_bad_proof:
    'The digits or the key do not match. Run “portolan bridge pair” again and type the digits exactly. If it happens ' +
    'again, another program may intercept the connection to the bridge.',
  advice_bad_message:
    'The program at this address is not a Portolan bridge, or has another version. Update both, and check the address.',
  advice_declined: 'Run “portolan bridge pair” again, type the digits exactly, and answer “y” there.',
  advice_too_many: 'There were too many attempts. Wait a minute, then try again.',
  advice_wrong_target:
    'Another program answers at this address and forwards what is sent. Do not pair. Check the address and which ' +
    'program uses that port.',
  advice_no_bridge:
    'If the bridge runs, it may have another address, or another program may use its port. Compare with the address ' +
    'that the terminal shows.',

  pair_title: 'Pair with this computer’s bridge',
  pair_why: 'The bridge lets the MCP clients on this computer use this browser’s tools. Nothing leaves the computer.',
  pair_run: 'Run this in a terminal, then choose Pair.',
  pair_get: 'Not installed yet?',
  pair: 'Pair',
  pair_again: 'Try again',
  pair_looking: 'Looking for the bridge at {address}…',
  pair_digits: 'Type the six digits that the terminal shows.',
  pair_check: 'Check digits',
  pair_six: 'Type all six digits.',
  pair_yes: 'Say yes in the terminal.',
  pair_yes_now: 'The digits are right. Now say yes in the terminal.',
  pair_yes_only: 'Answer “y” there. Only this panel may tell you to.',
  paired: 'Paired. Your MCP clients can use this browser’s tools.',
  bridge_address: 'Address of the bridge',
  token: 'Token of an ephemeral bridge',
  token_help:
    'A bridge that runs with --ephemeral shows it in the terminal. It is valid for that run only, and is not shown ' +
    'again here.',
  token_use: 'Use token',

  asks_waiting: { one: '{n} question waits for you', other: '{n} questions wait for you' },
  asks_said: '{client} asks to use {tool}.',
  asks_wants: 'wants to use',
  asks_claimed: 'The client chose this name itself.',
  asks_left: 'Without an answer, it is denied in {time}.',
  answer_once: 'Allow once',
  answer_always: 'Always for this client',
  answer_deny: 'Deny',
  answer_never: 'Never for this client',

  runs: 'Running now',
  run_for: 'for {time}',
  asked_by: 'Asked by',
  show_tab: 'Show tab',
  resume: 'Resume',
  hand_over: 'Hand over',
  paused_means: 'Paused, because you typed or clicked in its tab. Resume when you are done.',
  handover_means: 'The prompt is in the field of {chat}. Send it there. When the answer is complete, hand it over.',
  run_phase_queued: 'Waiting for other runs',
  run_phase_paused: 'Paused',
  run_phase_opening: 'Opening the page',
  run_phase_input: 'Filling in',
  run_phase_sending: 'Sending',
  run_phase_handover: 'Your turn',
  run_phase_waiting: 'Waiting for the answer',
  run_phase_thinking: 'Thinking',
  run_phase_answering: 'Answering',
  run_phase_reading: 'Reading the answer',

  chat_off: 'Off',
  chat_use: 'Use {chat}',
  chat_missing: 'Permission missing',
  chat_missing_means: 'The browser no longer lets Portolan reach {hosts}. Portolan asks nothing there until it does.',
  chat_grant: 'Grant access',
  chat_refused:
    'The browser did not give Portolan access to {hosts}. {chat} stays off. Switch it on to be asked again.',
  chat_used: '{n} of {most} prompts this hour',
  chat_waiting: '{n} waiting',
  chat_open: 'Open {chat}',
  chat_settings: 'Mode and limit',
  mode: 'Mode',
  mode_auto: 'Automatic',
  mode_assist: 'Assisted',
  mode_auto_means: 'Portolan types the prompt, sends it and reads the answer.',
  mode_assist_means: 'Portolan only fills in the prompt. You send it, then hand over the answer with a click.',
  per_hour: 'Most prompts in an hour',
  per_hour_means: 'More prompts are refused, so that no program floods your account.',
  terms_title: 'Before you switch on {chat}',
  terms_may:
    'Portolan will use {chat} in your browser, as you, when a program on this computer asks it to. The terms of {by} ' +
    'may forbid automated use, and {by} may limit or close an account for it.',
  terms_yours:
    'It is your account and your decision. Assisted mode leaves the sending to you. You can switch it off again at ' +
    'any time. The browser will now ask for access to its pages.',
  terms_link: 'The terms of {by}',
  terms_accept: 'I accept, switch on',
  terms_leave: 'Leave it off',

  options: 'For all chats',
  option_reuseChats: 'Continue the last chat',
  option_reuseChats_means: 'Continue the last chat unless the client asks for another.',
  option_focus: 'Bring the tab to the front',
  option_focus_means: 'Otherwise Portolan uses chats in the background.',
  option_aliases: 'Also offer other tool names',
  option_aliases_means: 'Adds ask_chatgpt_web, ask_gemini_web and ask_chatgpt_gemini_web to the tools’ own names.',
  option_pages: 'Tools for tabs and pages',
  option_pages_means:
    'Clients can list your tabs, and read pages that Portolan may reach. The browser asks you for the permission.',
  pages_refused: 'Without the permission, the tools for tabs and pages stay off.',
  option_history: 'Keep questions and answers',
  option_history_means: 'In this browser profile only.',
  history_days: 'Forget after days',
  history_export: 'Export history',
  history_clear: 'Clear history…',
  history_question: 'Clear all stored questions and answers?',
  history_yes: 'Clear them',
  history_cleared: 'The history is empty.',
  trusted: 'Trusted input',
  trusted_on: 'on',
  trusted_off: 'not in this build',
  trusted_means:
    'Lets Portolan type like a keyboard, for pages that accept nothing else. It needs the browser’s debugger ' +
    'permission, which could read and change every page. The browser shows a bar while it is used.',
  trusted_build: 'Browsers give that permission at installation only. This build does not have it.',

  publish: 'Offer these tools to desktop clients',
  publish_means: 'Through the bridge, with the names that you see here.',
  servers_opening: 'Opening the servers…',
  server_refused: 'Without access to {host}, {name} is saved but stays off. Switch it on to be asked again.',

  clients: 'Clients',
  clients_claimed: 'Clients choose these names themselves.',
  clients_none: 'No client has called yet. Let an MCP client start',
  seen: 'seen {ago}',
  grants: { one: '{n} rule', other: '{n} rules' },
  grants_none: 'No rules',
  grant: 'Rule',
  grant_of: 'Rule for {tool}',
  grant_allow: 'Allow',
  grant_ask: 'Ask',
  grant_deny: 'Deny',
  grant_default: 'Default of the tool',
  grant_add: 'Add a rule for',
  grant_set: 'Set',
  grant_set_for: 'Set the rule for {name}',
  forget: 'Forget…',
  forget_of: 'Forget {name}…',
  forget_question: 'Forget {name} and its rules? If it calls again, you are asked again.',
  forget_yes: 'Forget',

  origins: 'Websites',
  origins_means: 'Let a website use the bridge. It needs the bridge’s token as well.',
  origin_add: 'Origin of a page',
  origin_approve: 'Approve',
  origin_remove: 'Remove',
  origin_remove_of: 'Remove {origin}',
  origin_question: 'Remove {origin}? Its pages are refused immediately.',
  origin_empty: 'Enter an origin, such as https://app.example.',
  origin_no_origin: 'An origin begins with https:// and names a host.',
  origin_scheme: 'Only https and http pages can be approved.',
  origin_more:
    'An origin is scheme, host and port only. You would approve all pages of this one: check it, then approve.',

  bookmarks: 'Bookmarks',
  bookmarks_on: 'Offer bookmark tools',
  bookmarks_means:
    'Clients can search, add, move and change bookmarks; removing asks you first. The browser asks you for the ' +
    'permission.',
  bookmarks_refused: 'Without the permission, the bookmark tools stay off.',

  profile: 'This browser',
  profile_label: 'Name of this profile',
  profile_means: 'What clients see when several browsers are paired.',
  about: 'About and troubleshooting',
  version: 'Version',
  install_id: 'Install id',
  open_options: 'Open in a tab',
  debug_bundle: 'Save debug bundle',
  debug_means: 'Recent states and codes, without prompts, answers or secrets.',

  log_show: 'Show',
  log_all: 'Everything',
  log_running: 'Under way',
  log_ok: 'Done',
  log_error: 'Failed',
  log_denied: 'Denied',
  log_cancelled: 'Cancelled',
  log_none: 'Calls, connections and decisions appear here as they happen.',
  log_none_such: 'There is nothing of this kind.',
  log_question: 'Clear the whole activity list?',
  log_yes: 'Clear it',
  log_kind_call: 'Call',
  log_kind_link: 'Bridge',
  log_kind_pairing: 'Pairing',
  log_kind_grant: 'Rule',
  log_kind_stop: 'Stop',
} as const satisfies Record<string, Message>
