import { launchFirefox } from './firefox.ts'
import type { Engine } from './harness.ts'
import { launchWebKit } from './webkit.ts'

/** The browsers beside Chromium. */
export const engines: Record<string, () => Promise<Engine>> = { Firefox: () => launchFirefox(), WebKit: launchWebKit }
