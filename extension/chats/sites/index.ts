import { aistudio } from './aistudio.ts'
import { chatgpt } from './chatgpt.ts'
import { gemini } from './gemini.ts'
import type { Site, SiteSpec } from './site.ts'

export const siteSpecs: Record<Site, SiteSpec> = { chatgpt, gemini, aistudio }
