// portolan/worker: the module and all that a page loads at need, for realms that
// have no import().
import * as activity from '../page/activity.ts'
import * as asleep from '../page/unloaded.ts'
import * as integrity from '../page/integrity.ts'
import type { Parts } from '../page/parts.ts'
import * as results from '../page/results.ts'
import * as scan from '../page/scan.ts'
import * as secrets from '../page/secrets.ts'
import * as serve from '../page/serve.ts'
import * as signin from '../page/signin.ts'
import * as trust from '../page/trust.ts'
import * as validate from '../page/validate.ts'
import { Host } from './host.ts'

Host.parts = { activity, asleep, integrity, results, scan, secrets, serve, signin, trust, validate } satisfies Partial<
  Parts
>

export { Host }
