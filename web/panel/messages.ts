import type { Message } from './words.ts'

/**
 * All that the panel says, in English. {places} are filled in; a message with
 * plural categories (Unicode CLDR) is chosen by {n}.
 */
export const en = {
  panel: 'MCP servers', view_servers: 'Servers', view_tools: 'Tools', view_activity: 'Activity',
  connected_of: '{n} of {total} connected', tokens: { one: '≈ {n} token', other: '≈ {n} tokens' },
  close: 'Close', cancel: 'Cancel', save: 'Save', undo: 'Undo', dismiss: 'Dismiss', copy: 'Copy', copied: 'Copied.', details: 'Details', show: 'Show', name: 'Name', type: 'Type', description: 'Description', required: 'required', optional: 'optional',
  server: 'Server', url: 'URL', export: 'Export', clear: 'Clear', pause: 'Pause', save_file: 'Save file', show_rest: { one: 'Show {n} more', other: 'Show {n} more' },

  empty_title: 'No servers on the chart yet', empty_text: 'Add one above by its address, take the built-in demo, or look through the public catalogue.',
  add_demo: 'Add the built-in demo', browse: 'Browse catalogue',

  add_server: 'Add a server', add_help: 'A URL, mcp.json, server.json, install link, “claude mcp add …” or a curl command. Files can be dropped here.',
  read_as: { one: 'Read as {what}: {n} server.', other: 'Read as {what}: {n} servers.' }, at_line: 'Line {n}, column {column}.',
  kind_url: 'a URL', 'kind_mcp-json': 'mcp.json', kind_vscode: 'a VS Code configuration', kind_continue: 'a Continue configuration', 'kind_server-json': 'server.json', 'kind_install-link': 'an install link', 'kind_claude-command': 'a command line', kind_curl: 'a curl command', kind_unknown: 'unknown',
  problem_too_large: 'This is too long to be a configuration.', problem_too_many: 'Only the first {n} servers are read.', problem_no_servers: 'No server is described in this.',
  problem_bad_link: 'The install link is damaged: copy the whole of it.', problem_open_quote: 'A quotation mark is not closed.', problem_no_url: 'There is no URL in this command.', problem_not_recognized: 'This is not an address or a configuration that Portolan knows.',
  problem_yaml: 'This looks like YAML. Please paste it as JSON, or just the URL.', problem_toml: 'This looks like TOML. Please paste just the URL.',
  problem_json_unexpected: 'This is not valid JSON: something unexpected.', problem_json_unclosed: 'This is not valid JSON: something is not closed.', problem_json_string: 'This is not valid JSON: a text is damaged.', problem_json_quotes: 'JSON wants straight double quotation marks.', problem_json_depth: 'This JSON is nested too deeply.', problem_json_rest: 'Something follows the end of the JSON.',
  add_servers: { one: 'Add server', other: 'Add {n} servers' }, added: 'Added {names}.', and_more: 'and {n} more', take: 'Add {name}', name_taken: 'Name is taken', clash_rename: 'Add under another name', clash_overwrite: 'Overwrite', clash_skip: 'Skip',
  local_process: 'local process', stdio_why: 'A web page cannot start programs. This one would be run as:', stdio_how: 'Start it behind an HTTP bridge, such as supergateway, and add the address of that, or see whether its maker runs it as a remote server.',
  secrets_found: { one: 'Secret in {names}, kept out of sight', other: 'Secrets in {names}, kept out of sight' }, default_is: 'Default: {value}',
  level_error: 'Cannot work:', level_warning: 'Careful:', level_info: 'Note:',

  lint_websocket: 'WebSocket addresses are not an MCP transport for pages. Use the https address.', lint_bad_url: 'This is not an address.', lint_no_url: 'There is no address.', lint_http_public_host: 'http to {host} is not encrypted. Use https.', lint_localhost_from_public: '{host} is this computer. Your browser may ask before a page of {page} reaches it.', lint_private_address: '{host} is in a private network. Your browser may ask before it is reached.',
  lint_secret_in_url: 'The address holds a secret ({where}). Addresses end up in logs: use a header.', lint_placeholder_left: 'A placeholder is still in {where}.', lint_inspector_proxy_url: 'This is the MCP Inspector’s own proxy. Add the server behind it.', lint_path_is_docs: 'This looks like a page to read, not an endpoint.', lint_path_looks_like_homepage: 'The path is empty. Endpoints often end in /mcp or /sse.', lint_transport_mismatch: 'The path {path} does not go with the transport {transport}.',
  lint_empty_bearer: '{header} says Bearer, but no token follows.', lint_empty_header: '{header} is empty.', lint_bearer_missing_scheme: '{header} has no scheme. Most servers want “Bearer ” before the token.', lint_invalid_header_value: '{header} has characters that headers cannot hold.', lint_invalid_header_name: '{header} is not a header name; it is left out.', lint_forbidden_header: 'Browsers do not let pages set {header}; it is left out.', lint_header_too_long: '{header} is too long; it is left out.', lint_trailing_space: 'Spaces around {header} were removed.', lint_duplicate_header: '{header} is given twice; the last one counts.',
  lint_disabled: 'It is switched off in this configuration, and is added like that.', lint_ignored_field: 'The field {field} means nothing here.', lint_unknown_transport: 'The transport {transport} is not known; it is found out.', lint_wrapped_remote: '{wrapper} only forwards to this server, which is added itself.',

  standing_connected: 'Connected', standing_connected_in: 'Connected · {time}', standing_connecting: 'Connecting…', standing_sign_in: 'Sign-in needed', standing_paused: 'Paused', standing_paused_until: 'Paused after {n} failures · retry in {time}', standing_cors: 'Blocked by CORS', standing_local_network: 'Needs local-network permission', standing_failed: 'Not working', standing_idle: 'Not connected yet', standing_off: 'Off',
  latency_trend: 'Latency: last {last}, median {median}', contacts: { one: '{failed} of the last contact failed', other: '{failed} of the last {n} contacts failed' },
  use_server: 'Use {name}', menu_of: 'More for {name}', retry: 'Retry now', edit: 'Edit…', clone: 'Clone…', copy_config: 'Copy configuration', remove: 'Remove', removed: '{name} was removed.',
  transport_http: 'Streamable HTTP', transport_sse: 'HTTP+SSE', transport_auto: 'Transport found by itself', through_proxy: 'through the proxy', tools_of: { one: '{n} of {total} tools', other: '{n} of {total} tools' }, claimed: 'What the server calls itself',
  warnings: { one: '{n} remark about the tool list', other: '{n} remarks about the tool list' },

  held: { one: '{n} tool is held back.', other: '{n} tools are held back.' }, held_why: 'Nobody has approved what the server says of it now. Models do not see it until you do.', review: 'Review…',
  review_title: 'Changed tools of', review_why: 'This is what the server wants to be called from now on. Approve what you would have added yourself.', review_done: 'Nothing is held back any more.', review_later: 'Not now', approve: 'Approve', approve_all: { one: 'Approve {n} tool', other: 'Approve all {n}' },
  held_changed: 'It differs from what was approved.', held_new: 'It was not there before.', held_renamed: 'It was called {from}.', held_before_unknown: 'What was approved is not kept any more. These parts differ: {parts}.',
  part_name: 'Name', part_title: 'Title', part_description: 'Description', part_inputSchema: 'Parameters', part_outputSchema: 'Result', part_annotations: 'Claims', part__meta: 'User interface',
  trust: 'Trust', 'trust_ask-on-change': 'Ask when a tool changes', 'trust_ask-on-change_means': 'The first list is taken as it is. Later changes are held back until you approve them.', 'trust_ask-always': 'Ask about everything', 'trust_ask-always_means': 'Every tool is held back until you approve it, and every call is asked about where this page asks.', trust_trust: 'Trust it', trust_trust_means: 'Nothing is held back, and what the server claims of its tools is believed.', hold_new: 'Hold back new tools, too', remembered: { one: '{n} answer about its calls is remembered.', other: '{n} answers about its calls are remembered.' }, forget_answers: 'Forget',
  approve_title: 'May the model do this?', approve_why: 'The model wants to call', approve_more: { one: '{n} more call waits.', other: '{n} more calls wait.' }, approval_once: 'Allow once', approval_always: 'Always allow', approval_deny: 'Deny', approval_never: 'Never allow', approval_bound: 'Always and never hold for this tool of this server as it is now. If it changes, you are asked again.',

  cause_cors: 'The server does not let web pages in.', cause_cors_why: '{host} answers without CORS headers for {origin}. Portolan can go through its proxy instead.',
  cause_dns: 'There is no such host.', cause_dns_why: 'The name {host} cannot be found. Check the address for a typing error.',
  cause_tls: 'The connection is not secure.', cause_tls_why: 'The certificate of {host} is refused, so nothing was sent.',
  cause_down: 'The server is down.', cause_down_why: '{host} does not take connections at this address.',
  cause_timeout: 'The server takes too long.', cause_timeout_why: '{host} did not answer in time.',
  cause_path: 'There is no MCP endpoint at this address.', cause_path_why: '{host} is there, but not at this path. It often ends in /mcp or /sse.',
  cause_local_network: 'Your browser guards the local network.', cause_local_network_why: 'To reach {host}, allow {origin} to connect to devices on your network when the browser asks, or in its site settings.',
  cause_sign_in: 'The server wants you to sign in.', cause_sign_in_why: '{host} asks who you are. A window of its sign-in page opens.', cause_sign_in_at: '{host} asks who you are. A window of {at} opens: go on only if that is where you have an account.',
  signing_in: 'Waiting for you to sign in…', signing_in_why: 'Finish in the window of {at}. If there is none, allow this page to open windows, and try again.', signed_in: 'Signed in', sign_out: 'Sign out',
  cause_credentials: 'The server wants to know you.', cause_credentials_why: '{host} asks for credentials. Add an Authorization header.',
  cause_forbidden: 'The server refuses.', cause_forbidden_why: '{host} does not accept these credentials, or requests from {origin}.',
  cause_proxy: 'The proxy refuses.', cause_proxy_why: 'It does not pass requests to {host} for {origin}. Its operator can allow them; or try without it.',
  cause_server: 'The server has a fault.', cause_server_why: '{host} answers, but with an error.',
  cause_rate: 'Too many requests.', cause_rate_why: '{host} asks to slow down.',
  cause_protocol: 'This does not speak MCP.', cause_protocol_why: '{host} answers something else. Check the path.',
  cause_redirect: 'The server sends elsewhere.', cause_redirect_why: '{host} redirects. Portolan does not follow, for your data would go along. If you trust where it leads, enter that address.',
  cause_config: 'The configuration cannot be used.', cause_config_why: 'Please correct it.',
  cause_crash: 'Portolan had to start again.', cause_crash_why: 'Its module stopped. What was under way is lost; your settings are not.',
  cause_network: 'No answer came.', cause_network_why: '{host} may be down, or may not allow web pages (CORS). The browser does not say which; the proxy can find out.',
  cause_other: 'Something went wrong.', cause_other_why: 'The details say what.',
  fix_retry: 'Try again', fix_edit: 'Edit', fix_sign_in: 'Sign in', fix_credentials: 'Add credentials', fix_proxy: 'Go through the proxy', fix_ask_proxy: 'Find out why', fix_direct: 'Try without the proxy', copy_for_owner: 'Copy a note for its owner',

  edit_title: 'Edit', headers: 'Headers', headers_to: 'Sent to {host} with every request, and nowhere else.', header_n: 'Header {n}', header_name: 'Name', header_value: 'Value', header_kept: 'Set, and not shown', replace: 'Replace', reveal: 'Show', reveal_held: 'Show while held', add_header: 'Add header', add_authorization: 'Add Authorization', remove_header: 'Remove header {name}',
  auth: 'Sign-in', auth_help: 'Only needed if whoever runs the server gave you these.', client_id: 'Client ID', client_secret: 'Client secret', scopes: 'Scopes, separated by spaces',
  moved: 'The kept header values belong to {host} and are dropped with this address.',
  proxy: 'CORS proxy', proxy_off: 'Off', proxy_off_means: 'Requests go straight to the server.', proxy_auto: 'Automatic', proxy_auto_means: 'Straight, and through the proxy where the server does not let pages in and no headers would go along.', proxy_on: 'On', proxy_on_means: 'Everything goes through the proxy, headers included.',
  advanced: 'Advanced', transport: 'Transport', timeout_s: 'Time limit, in seconds', timeout_help: 'For connecting and for listing tools. Empty: the default.',

  search_tools: 'Search tools', show_all: 'All', show_on: 'Offered', show_off: 'Not offered', show_flagged: 'Flagged', found: { one: '{n} tool', other: '{n} tools' }, no_match: 'Nothing matches.', no_tools: 'Tools of your servers appear here.',
  all_tools_of: 'All tools of {name}', offer: 'Offer {name} to models', weighing: 'Weighing tools…',
  budget: 'Budget, in tokens', budget_meter: 'Tokens used by tools', budget_used: { one: 'Tools take about {n} token of each request.', other: 'Tools take about {n} tokens of each request.' }, budget_used_of: 'Tools take about {n} of {budget} tokens.', fit_text: { one: 'Turn this off to fit:', other: 'Turn these {n} off to fit:' }, fit: { one: 'Turn off {n} tool', other: 'Turn off {n} tools' },
  flag_changed: 'changed', flag_duplicate: 'duplicate', flag_suspicious: 'suspicious text', flags_title: 'Flags',
  flag_duplicate_same_name: 'Another server has a tool of this name:', flag_duplicate_similar_name: 'The name looks like that of another server’s tool:', flag_duplicate_same_description: 'The description is that of another server’s tool:',
  flag_suspicious_hidden_text: 'Text that people cannot see and models read:', flag_suspicious_lookalike: 'Letters that look like others:', flag_suspicious_override: 'Tells the model to ignore instructions:', flag_suspicious_concealment: 'Tells the model to keep things from you:', flag_suspicious_pseudo_tag: 'Marks text as if it came from the system:', flag_suspicious_sensitive_path: 'Speaks of files with secrets:', flag_suspicious_exfiltration: 'May carry data out:', flag_suspicious_data_url: 'An address that data could go along with:', flag_suspicious_parameter: 'A parameter that asks for more than it should:', flag_suspicious_shadowing: 'Meddles with another server’s tool:', flag_suspicious_blob: 'Text that only a machine reads:', flag_suspicious_else: 'Looks like poison:',
  flag_changed_name: 'Its title changed since the panel was opened.', flag_changed_description: 'Its description changed since the panel was opened.', flag_changed_schema: 'Its parameters changed since the panel was opened.', flag_changed_annotations: 'Its claims changed since the panel was opened.',

  tool_views: 'Views of the tool', tool_about: 'What models see', tool_try: 'Try it', tool_gone: 'This tool is not there any more.', withheld: 'not offered to models', no_description: 'No description.', no_parameters: 'No parameters.', parameters: 'Parameters', claims: 'Claimed by the server:', seen_as: 'As seen by', not_seen: 'Models do not see this tool while it is off.', as_listed: 'As the server lists it',
  dialect_openai: 'OpenAI', 'dialect_openai-responses': 'OpenAI Responses', dialect_anthropic: 'Anthropic', dialect_gemini: 'Gemini',
  readOnlyHint_true: 'only reads', readOnlyHint_false: 'may change things', destructiveHint_true: 'may destroy', destructiveHint_false: 'destroys nothing', idempotentHint_true: 'safe to repeat', idempotentHint_false: 'not safe to repeat', openWorldHint_true: 'reaches the outside world', openWorldHint_false: 'stays inside',

  arguments: 'Arguments', edit_as: 'Give arguments', as_json: 'As JSON', as_form: 'As a form', call: 'Call tool', calling: 'Calling…', progress: 'Progress', copy_ts: 'Copy as TypeScript', copy_curl: 'Copy as curl', off_try: 'Switch the tool on to try it.', choose: 'Choose…', none: 'none', add_item: 'Add item', remove_item: 'Remove item {n}', item_n: 'Item {n}', variant: 'Kind', json_here: 'Edited as JSON, because a form would lose something.', set_field: 'Give {name}',
  no_form_json: 'This is not valid JSON yet.', no_form_big_number: 'A number has more digits than a form keeps.', no_form_type: 'A value is of another type than the form’s.', no_form_unknown_member: 'There is a member that the form does not have.', no_form_no_option: 'A value is none of the choices.',
  field_required: 'Please fill this in.', field_not_a_number: 'This is not a number.', field_not_whole: 'This is not a whole number.', field_min: 'At least {n}.', field_max: 'At most {n}.', field_above: 'More than {n}.', field_below: 'Less than {n}.', field_multiple_of: 'A multiple of {n}.', field_min_length: 'At least {n} characters.', field_max_length: 'At most {n} characters.', field_format: 'This is not of the format {n}.', field_not_json: 'This is not valid JSON.', field_min_items: 'At least {n} items.', field_max_items: 'At most {n} items.', field_not_unique: 'Two items are the same.',
  result: 'Result', answered: 'Answered', answered_error: 'The tool reports an error', truncated: 'text cut', no_content: 'An empty answer.', structured: 'Structured content', save_result: 'Save as JSON', resource: 'Resource', resource_link: 'Link', as_text: 'As text', play: 'Play', stop: 'Stop', media_image: 'Image ({type})', media_audio: 'Audio ({type})', media_file: 'File ({type})', media_unreadable: 'cannot be shown', kilobytes: '{n} kB',

  search_activity: 'Search activity', activity_all: 'Everything', activity_call: 'Calls', activity_connection: 'Connections', activity_failed: 'Failures', no_activity: 'Calls and connections appear here as they happen.', column_time: 'Time', column_what: 'What', column_outcome: 'Outcome', column_took: 'Took', connection_to: 'Connect to {name}', outcome_ok: 'OK', outcome_running: 'Under way', outcome_tool_error: 'Tool error', outcome_error: 'Failed', outcome_cancelled: 'Cancelled', error_code: 'Error code', message: 'Message', phase_waiting: 'Waiting', phase_server: 'Server', phase_connect: 'Connect', phase_list: 'List tools',

  export_title: 'Export configuration', export_for: 'Format', export_mcpServers: 'mcp.json (Claude, Cursor, Windsurf and others)', export_vscode: 'VS Code', export_secrets: 'Header values are left out; placeholders stand in their place.',

  catalogue_title: 'Catalogue', search_catalogue: 'Search the catalogue', catalogue_from: 'From {host}', loading: 'Loading…', more: 'More', catalogue_none: 'No server with a remote address matches.', catalogue_offline: 'The catalogue cannot be reached.', catalogue_http: 'The catalogue answered with status {n}.', catalogue_shape: 'This is not a catalogue that Portolan can read.', catalogue_url: 'The address of the catalogue cannot be used.', catalogue_text: 'Servers can still be added by their address.', catalogue_found: { one: '{n} server', other: '{n} servers' }, choose_entry: 'Choose', choose_entry_of: 'Choose {name}', deprecated: 'deprecated', back: 'Back', website: 'Website',
} as const satisfies Record<string, Message>
