/** The style sheet of the document and of each shadow root. */
export const style = `
:host, :root { color: #1f1f1f; font: 16px/1.6 system-ui, sans-serif }
body { margin: 0; background: #fff }
chat-app { display: flex; height: 100vh }
.side { width: 260px; background: #f0f4f9; padding: 16px; box-sizing: border-box; overflow: auto; flex: none }
.side a { display: block; color: inherit; text-decoration: none; padding: 6px 12px; border-radius: 16px; font-size: 14px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.window { flex: 1; display: flex; flex-direction: column; min-width: 0; height: 100vh }
:host(chat-window) { flex: 1; min-width: 0; display: block; height: 100vh }
:host(chat-app), .app { display: flex; width: 100%; height: 100vh }
:host(user-query), :host(model-response), :host(input-area-v2) { display: block }
.top { display: flex; justify-content: space-between; padding: 12px 20px; font-size: 20px; color: #575b5f }
.top a { font-size: 14px; background: #0b57d0; color: #fff; padding: 8px 20px; border-radius: 20px; text-decoration: none }
infinite-scroller { flex: 1; overflow-y: auto; display: block }
.history { max-width: 760px; margin: 0 auto; padding: 16px; box-sizing: border-box }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.query-content { background: #e9eef6; border-radius: 24px 4px 24px 24px; padding: 12px 16px; width: fit-content; max-width: 70%; margin: 16px 0 16px auto; box-sizing: border-box }
.query-text p { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
input-area-v2 { max-width: 760px; width: calc(100% - 32px); margin: 0 auto 20px }
.input-area { border: 1px solid #c4c7c5; border-radius: 28px; padding: 10px 12px 10px 24px; display: flex; align-items: center }
.text-input-field { flex: 1; min-width: 0; max-height: 200px; overflow-y: auto; min-height: 26px }
.ql-container { position: relative }
.ql-editor { outline: none; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4 }
.ql-editor p { margin: 0 }
.ql-editor.ql-blank::before { content: attr(data-placeholder); color: #747775; position: absolute; pointer-events: none }
.ql-clipboard { left: -100000px; height: 1px; overflow-y: hidden; position: absolute; top: 50% }
.send-button, .speech_dictation_mic_button { width: 40px; height: 40px; border: 0; border-radius: 50%; background: #d3e3fd; display: grid; place-items: center; padding: 0 }
.send-button[aria-disabled=true] { opacity: .4 }
.actions { display: flex; gap: 4px; margin: 8px 0 }
.actions button, .buttons button, .table-footer button { border: 0; background: none; padding: 6px; border-radius: 50% }
.thoughts-header-button, .skip { border: 0; background: none; color: #575b5f; font: inherit; font-size: 14px; padding: 4px 0 }
.thoughts-content { border-left: 2px solid #ddd; padding-left: 12px; white-space: pre-wrap; font-size: 14px; color: #575b5f }
.status { color: #575b5f } .stopped { color: #575b5f; font-style: italic }
.error-card { background: #fce8e6; color: #8c1d18; border-radius: 12px; padding: 12px 16px; display: flex; justify-content: space-between; gap: 12px }
.code-block { background: #f0f4f9; border-radius: 16px; margin: 12px 0 }
.code-block-decoration { display: flex; justify-content: space-between; padding: 8px 16px 0; font-size: 14px; color: #575b5f }
pre { margin: 0; padding: 8px 16px 16px; overflow-x: auto; font-size: 14px }
p code, li code, td code { background: #e9eef6; border-radius: 6px; padding: 1px 6px; font-size: .875em }
table { border-collapse: collapse } th, td { border: 1px solid #dde3ea; padding: 8px 12px; text-align: left }
blockquote { border-left: 3px solid #c4c7c5; margin: 0; padding-left: 16px }
.superscript button { border: 0; background: #e9eef6; border-radius: 50%; font-size: 9px }
.katex-mathml { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
.katex { font-family: serif; font-style: italic } .katex-display { display: block; text-align: center; margin: 12px 0 }
.markdown[aria-busy=true]:empty::after { content: '✦'; color: #4285f4 }
.wall { margin: 20vh auto; text-align: center }
@media (max-width: 900px) { .side { display: none } }
`
