import { launchFirefox } from './firefox.ts'
import type { Engine } from './harness.ts'
import { soak } from './soak.ts'
import { launchWebKit } from './webkit.ts'

/** The browsers beside Chromium. */
export const engines: Record<string, () => Promise<Engine>> = { Firefox: () => launchFirefox(), WebKit: launchWebKit }

/** The same, and none outside the soak. */
export const soakEngines = soak ? engines : {}
