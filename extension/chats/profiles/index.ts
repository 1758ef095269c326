import type { SiteProfile } from '../profile.ts'
import type { Site } from '../wire.ts'
import { aistudio } from './aistudio.ts'
import { chatgpt } from './chatgpt.ts'
import { gemini } from './gemini.ts'

export const profiles: Record<Site, SiteProfile> = { chatgpt, gemini, aistudio }
