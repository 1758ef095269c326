export const style = `
:root { color: #0d0d0d; font: 16px/1.6 system-ui, sans-serif; background: #fff }
body { margin: 0; height: 100vh; display: flex }
nav { width: 260px; background: #f9f9f9; padding: 12px; box-sizing: border-box; overflow: auto; flex: none }
nav a { display: block; padding: 6px 10px; border-radius: 8px; color: inherit; text-decoration: none; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 14px }
main { flex: 1; display: flex; flex-direction: column; min-width: 0; height: 100vh }
header { display: flex; justify-content: space-between; align-items: center; padding: 8px 16px; font-size: 18px }
header .button { margin-left: 8px }
.scroll { flex: 1; overflow-y: auto }
.thread, .timeline { max-width: 768px; margin: 0 auto; padding: 16px; width: 100%; box-sizing: border-box }
.scroller { flex: 1; overflow-y: auto; display: flex; flex-direction: column-reverse }
.timeline { display: flex; flex-direction: column }
.timeline.newest-first { flex-direction: column-reverse }
.sr-only { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.user-message-bubble-color, .bubble { background: #f4f4f4; border-radius: 18px; padding: 8px 16px; width: fit-content; max-width: 70%; margin: 12px 0 12px auto }
.whitespace-pre-wrap { white-space: pre-wrap; overflow-wrap: anywhere }
.composer { max-width: 768px; width: calc(100% - 32px); margin: 0 auto 16px; box-sizing: border-box; border: 1px solid #d9d9d9; border-radius: 28px; padding: 10px 12px 10px 20px; display: flex; align-items: center; box-shadow: 0 2px 8px #0001 }
.editor { flex: 1; max-height: 200px; overflow-y: auto }
.ProseMirror { outline: none; white-space: pre-wrap; overflow-wrap: anywhere; min-height: 1.6em; padding: 4px 0 }
.ProseMirror p { margin: 0 }
.placeholder::before { content: attr(data-placeholder); color: #8f8f8f; float: left; height: 0; pointer-events: none }
.composer-submit { width: 36px; height: 36px; border: 0; border-radius: 50%; background: #0d0d0d; color: #fff; display: grid; place-items: center; padding: 0 }
.composer-submit:disabled { opacity: .3 }
.composer-submit.speak { background: #ececec; color: #0d0d0d }
.actions { display: flex; gap: 4px; margin-bottom: 12px }
.actions button { border: 0; background: none; padding: 4px 8px; border-radius: 8px; color: #5d5d5d; font-size: 15px }
.thinking { color: #5d5d5d; display: flex; gap: 12px; flex-wrap: wrap }
.thinking button { border: 0; background: none; color: inherit; font: inherit; padding: 0 }
.thinking .skip { text-decoration: underline }
.thoughts { border-left: 2px solid #ddd; padding-left: 12px; width: 100%; font-size: 14px }
.trouble { border: 1px solid #e02e2a; background: #e02e2a0d; color: #b3261e; border-radius: 12px; padding: 10px 14px; display: flex; gap: 12px; justify-content: space-between }
.button, .trouble button { border: 1px solid #0003; border-radius: 18px; padding: 6px 14px; color: inherit; text-decoration: none; background: #fff; font-size: 14px }
.veil { position: fixed; inset: 0; background: #0008; display: grid; place-items: center }
[role=dialog] { background: #fff; border-radius: 16px; padding: 24px; max-width: 380px }
.code-block { border: 1px solid #e3e3e3; border-radius: 12px; position: relative; background: #f9f9f9; font-size: 14px }
.code-head { padding: 6px 16px; color: #5d5d5d; font: 12px system-ui }
.code-tools { position: absolute; right: 12px; top: 4px }
.code-tools button { border: 0; background: none; font-size: 12px; color: #5d5d5d }
.code-body { padding: 4px 16px 12px; overflow-x: auto; white-space: pre }
.hljs-keyword { color: #b4009e } .hljs-built_in { color: #1563c0 }
p code, li code, td code { background: #ececec; border-radius: 4px; padding: 1px 4px; font-size: .875em }
table { border-collapse: collapse } th, td { border-bottom: 1px solid #ddd; padding: 6px 12px; text-align: left }
blockquote { border-left: 3px solid #ddd; margin: 0; padding-left: 16px }
.pill { background: #f4f4f4; border-radius: 10px; padding: 1px 8px; font-size: 11px; color: #5d5d5d; text-decoration: none; margin-left: 4px }
.katex-mathml { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
.katex { font-family: serif; font-style: italic } .katex-display { display: block; text-align: center; margin: 12px 0 }
.result-streaming:empty::after { content: '●' }
.wall { margin: 20vh auto; text-align: center }
@media (max-width: 800px) { nav { display: none } }
`
