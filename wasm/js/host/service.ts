import { parts } from '../page/parts.ts'
import { Host as ModuleHost } from './host.ts'

/** The host for service workers, which have no import(). It contains the parts that a page loads at first use. */
export class Host extends ModuleHost {
  static readonly parts = parts
}
