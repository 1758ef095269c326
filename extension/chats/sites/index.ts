import { aistudio } from './aistudio.ts'
import { chatgpt } from './chatgpt.ts'
import { claude } from './claude.ts'
import { copilot } from './copilot.ts'
import { deepseek } from './deepseek.ts'
import { gemini } from './gemini.ts'
import { grok } from './grok.ts'
import { mistral } from './mistral.ts'
import { perplexity } from './perplexity.ts'
import type { Site, SiteSpec } from './site.ts'

export const siteSpecs: Record<Site, SiteSpec> = {
  chatgpt,
  gemini,
  aistudio,
  claude,
  perplexity,
  grok,
  deepseek,
  mistral,
  copilot,
}

/** Marks text of sites as data, for `_meta`. */
export const untrusted = (...sites: Site[]) => ({
  'portolan/untrusted': sites.map((site) => new URL(siteSpecs[site].newChat).host),
})
