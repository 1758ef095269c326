import * as asleep from '../../wasm/js/page/unloaded.ts'
import { Host } from '../../wasm/js/host/host.ts'
import type { Parts } from '../../wasm/js/page/parts.ts'
import * as results from '../../wasm/js/page/results.ts'
import * as secrets from '../../wasm/js/page/secrets.ts'
import * as signin from '../../wasm/js/page/signin.ts'
import * as trust from '../../wasm/js/page/trust.ts'

// A service worker has no import(): the parts that registry.ts has a use for. Poison
// is looked for, and calls are observed, where somebody looks: the settings panel has those.
Host.parts = { asleep, results, secrets, signin, trust } satisfies Partial<Parts>

export { Host }
