// portolan/worker: the module and all that a page loads at need, for realms that
// have no import().
import * as activity from './activity.ts'
import * as asleep from './asleep.ts'
import * as integrity from './integrity.ts'
import type { Parts } from './parts.ts'
import * as results from './results.ts'
import * as scan from './scan.ts'
import * as secrets from './secrets.ts'
import * as serve from './serve.ts'
import * as signin from './signin.ts'
import * as trust from './trust.ts'
import * as validate from './validate.ts'
import { Host } from './host.ts'

Host.parts = { activity, asleep, integrity, results, scan, secrets, serve, signin, trust, validate } satisfies Partial<
  Parts
>

export { Host }
