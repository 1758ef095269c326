/**
 * Markers in a prompt, `[[name key=value …]]`. They hold for this prompt only, so
 * that parallel runs share no state. The page and the backend both read them.
 */
export const scenarioNames = [
  'plain',
  'slow',
  'think',
  'outline',
  'pause',
  'long',
  'markdown',
  'image',
  'empty',
  'stuck',
  'noresponse',
  'frozen',
  'ratelimit',
  'network',
  'expire',
  'nosend',
  'deaf',
  'disabled',
  'virtual',
  'remount',
] as const
export type ScenarioName = (typeof scenarioNames)[number]

export class Scenario {
  #marks = new Map<string, Record<string, string>>()

  constructor(prompt: string) {
    for (const [, name, rest] of prompt.matchAll(/\[\[(\w+)((?:\s+\w+=[^\s\]]+)*)\s*\]\]/g)) {
      this.#marks.set(
        name!,
        Object.fromEntries([...rest!.matchAll(/(\w+)=([^\s\]]+)/g)].map(([, key, value]) => [key!, value!])),
      )
    }
  }

  has(name: ScenarioName): boolean {
    return this.#marks.has(name)
  }

  is(name: ScenarioName, key: string): boolean {
    return !['0', 'false', undefined].includes(this.#marks.get(name)?.[key])
  }

  number(name: ScenarioName, key: string, otherwise: number): number {
    const value = Number(this.#marks.get(name)?.[key])
    return Number.isFinite(value) ? value : otherwise
  }
}
