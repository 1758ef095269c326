import * as asleep from '../../wasm/js/asleep.ts'
import { Host } from '../../wasm/js/host.ts'
import type { Parts } from '../../wasm/js/parts.ts'
import * as results from '../../wasm/js/results.ts'
import * as secrets from '../../wasm/js/secrets.ts'
import * as signin from '../../wasm/js/signin.ts'
import * as trust from '../../wasm/js/trust.ts'

// A service worker has no import(): the parts that registry.ts has a use for. Poison
// is looked for, and calls are observed, where somebody looks: the settings panel has those.
Host.parts = { asleep, results, secrets, signin, trust } satisfies Partial<Parts>

export { Host }
