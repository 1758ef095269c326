import { onBackgroundPort } from '../../browser.ts'
import { serve } from './serve.ts'

// The background injects this file before each run. A tab that has it already keeps it.
const loaded = Symbol.for('portolan.driver')
const scope = globalThis as { [loaded]?: true }
if (!scope[loaded]) {
  scope[loaded] = true
  onBackgroundPort('portolan-driver', (port) => serve(port, window))
}
