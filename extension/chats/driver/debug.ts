import type { PageDebug } from '../drivermessages.ts'
import type { OpenedRun } from './context.ts'
import { redactedAddress, redactedText } from './snapshot.ts'

const longestSnippet = 200

/** Returns the state of the page in eight fields. Without `texts`, what people and chats wrote is left out. */
export function pageDebug({ dom, page: { layout } }: OpenedRun, texts: boolean): PageDebug {
  const { document } = dom
  const answers = dom.first(layout.answer)
  const last = answers.at(-1)
  const body = dom.trees(document.body).map(textOf).join(' ').replace(/\s+/g, ' ').trim()
  const shown = (text: string) => texts ? text : redactedText(text)
  return {
    debug_assistantMsgsCount: answers.length,
    debug_chatgptArticlesCount: dom.first(layout.userTurn).length,
    debug_markdownsInLast: last ? dom.first(layout.answerText, undefined, last).length : 0,
    debug_lastAssistantInnerTextLen: last instanceof HTMLElement ? last.innerText.length : 0,
    debug_bodySnippet: shown(body.slice(0, longestSnippet)),
    debug_bodyLen: body.length,
    debug_pageUrl: texts ? document.location.href : redactedAddress(document.location.href, document.baseURI),
    debug_pageTitle: shown(document.title.slice(0, longestSnippet)),
  }
}

/** Returns the text that a tree shows, without that of shadow trees in it. */
const textOf = (tree: ParentNode): string =>
  (tree instanceof HTMLElement ? [tree] : [...tree.children]).map((el) => el instanceof HTMLElement ? el.innerText : '')
    .join(' ')
