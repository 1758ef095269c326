export const style = `
:root { color: #1a1c1e; font: 14px/1.6 system-ui, sans-serif; background: #fff }
body { margin: 0 }
ms-app { display: flex; height: 100vh }
ms-navbar { width: 200px; background: #f8f9fa; padding: 16px; box-sizing: border-box; overflow: auto; flex: none }
ms-navbar a { display: block; color: inherit; text-decoration: none; padding: 4px 8px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
ms-chunk-editor { flex: 1; display: flex; flex-direction: column; min-width: 0 }
ms-toolbar { display: flex; justify-content: space-between; padding: 12px 24px; font-size: 16px; border-bottom: 1px solid #e8eaed }
ms-autoscroll-container { flex: 1; overflow-y: auto; display: block; padding: 16px 24px }
ms-chat-turn { display: block; max-width: 860px; margin: 0 auto 12px }
.chat-turn-container { border-radius: 12px; padding: 12px 16px; position: relative }
.chat-turn-container.user { background: #f1f3f4 }
.author-label { font-weight: 500; color: #5f6368; font-size: 12px }
.user-chunk { white-space: pre-wrap; overflow-wrap: anywhere }
.turn-footer { display: flex; gap: 4px } .turn-footer button { border: 0; background: none; padding: 4px 8px }
ms-prompt-input-wrapper { display: block; padding: 0 24px 20px }
.prompt-input-wrapper-container { max-width: 860px; margin: 0 auto; border: 1px solid #dadce0; border-radius: 20px; padding: 12px 16px; display: flex; align-items: center; gap: 12px }
ms-autosize-textarea { flex: 1 } textarea { width: 100%; border: 0; outline: 0; resize: none; font: inherit; field-sizing: content; max-height: 200px }
.run-button { border: 0; border-radius: 18px; background: #0b57d0; color: #fff; padding: 8px 20px; font: inherit } .run-button[aria-disabled=true] { opacity: .4 }
ms-run-settings { width: 280px; border-left: 1px solid #e8eaed; padding: 16px; box-sizing: border-box; flex: none }
.model-selector-card { display: block; width: 100%; text-align: left; border: 1px solid #dadce0; border-radius: 12px; background: #fff; padding: 12px; font: inherit }
.model-selector-card .title, .model-title-text { display: block; font-weight: 500 } .subtitle, .model-subtitle { color: #5f6368; font-size: 12px }
ms-slider { display: flex; gap: 8px } ms-slider input[type=range] { flex: 1; min-width: 0 } .slider-number-input { width: 64px }
.cdk-overlay-container { position: fixed; inset: 0; background: #0006; display: grid; place-items: center }
mat-dialog-container { background: #fff; border-radius: 16px; padding: 16px; width: 360px } .content-button { display: block; width: 100%; text-align: left; border: 0; background: none; padding: 8px; font: inherit }
.thought-panel { display: block; border: 1px solid #dadce0; border-radius: 12px; padding: 8px 12px; margin: 8px 0; color: #5f6368 } .mat-expansion-panel-header, .skip { border: 0; background: none; font: inherit; color: inherit }
.model-error { background: #fce8e6; color: #8c1d18; border-radius: 12px; padding: 10px 14px }
.code-panel { border: 1px solid #dadce0; border-radius: 12px } .code-header { display: flex; justify-content: space-between; padding: 6px 12px; background: #f1f3f4; border-radius: 12px 12px 0 0 } .toolbar button { border: 0; background: none }
pre { margin: 0; padding: 12px; overflow-x: auto } ms-code-block footer { padding: 4px 12px; font-size: 11px }
p code, li code, td code { background: #f1f3f4; border-radius: 4px; padding: 1px 4px }
table { border-collapse: collapse } th, td { border: 1px solid #dadce0; padding: 6px 12px; text-align: left }
blockquote { border-left: 3px solid #dadce0; margin: 0; padding-left: 16px }
.katex-mathml { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
.katex { font-family: serif; font-style: italic; font-size: 16px } .katex-display { display: block; text-align: center; margin: 12px 0 }
.wall { margin: 20vh auto; text-align: center }
.button { background: #0b57d0; color: #fff; border-radius: 18px; padding: 8px 20px; text-decoration: none }
@media (max-width: 900px) { ms-navbar, ms-run-settings { display: none } }
`
