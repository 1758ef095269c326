import { estimateTokens } from '../../../wasm/js/shared/tokens.ts'
import type { ToolInfo } from '../../../wasm/js/shared/types.ts'
import type { Listed } from './ledger.ts'

/** Which tools to turn off so that the others fit the budget: the most expensive first. */
export function fit(
  tools: readonly ToolInfo[],
  budget: number,
  weigh: (tool: ToolInfo) => number,
): ToolInfo[] {
  const weighed = tools.map((tool) => ({ tool, tokens: weigh(tool) }))
    .sort((a, b) => b.tokens - a.tokens || (a.tool.name < b.tool.name ? -1 : a.tool.name > b.tool.name ? 1 : 0))
  let total = weighed.reduce((sum, w) => sum + w.tokens, 0)
  const off: ToolInfo[] = []
  for (const { tool, tokens } of weighed) {
    if (total <= budget) break
    off.push(tool)
    total -= tokens
  }
  return off
}

/** The tools that `getTools({ deferred })` gives at once without another option, in tokens. */
const usual = 8000

/** The tokens of the tools with which a model finds and calls the others. */
export const searchTokens = 181

/** The tokens that tools cost at first if the rest is left to a search. `total` are those of all. */
export function deferred(
  tools: readonly ToolInfo[],
  total: number,
  budget: number,
  weigh: (tool: ToolInfo) => number,
): number {
  if (total <= (budget || usual)) return total
  let left = budget || usual
  let tokens = searchTokens
  for (const tool of tools) {
    if ((left -= weigh(tool)) < 0) break
    tokens += weigh(tool)
  }
  return tokens
}

/** The longest time that one run of estimates keeps the page busy, in ms. */
const slice = 6

/** Estimates what tools cost a model in tokens, while the page has nothing else to do. */
export class TokenCounts {
  /** Grows when more is known. */
  version = 0
  private readonly weights = new WeakMap<object, number>()
  private waiting: ToolInfo[] = []
  private busy = false
  private readonly changed: () => void

  constructor(changed: () => void) {
    this.changed = changed
  }

  /** The tokens of a tool, or undefined until it is weighed. */
  of(tool: ToolInfo): number | undefined {
    return this.weights.get(tool.definition)
  }

  /** The tokens of tools; 0 until all are weighed. */
  total(tools: readonly ToolInfo[]): number {
    let sum = 0
    for (const tool of tools) {
      const n = this.of(tool)
      if (n === undefined) return 0
      sum += n
    }
    return sum
  }

  weigh(listed: Map<string, Listed[]>): void {
    this.waiting = [...listed.values()].flatMap((list) =>
      list.flatMap(({ info }) => (this.weights.has(info.definition) ? [] : [info]))
    )
    if (this.waiting.length && !this.busy) this.later()
  }

  private later(): void {
    this.busy = true
    const idle = globalThis.requestIdleCallback ?? ((fn: () => void) => setTimeout(fn, 20))
    idle(() => {
      this.busy = false
      const until = performance.now() + slice
      while (this.waiting.length && performance.now() < until) {
        const tool = this.waiting.pop()!
        this.weights.set(tool.definition, estimateTokens(tool))
      }
      if (this.waiting.length) return this.later()
      this.version++
      this.changed()
    }, { timeout: 500 })
  }
}
