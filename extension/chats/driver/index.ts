import { onBackgroundPort } from '../../browser.ts'
import { drive } from './drive.ts'

// The file is put into a tab before each run; the tab keeps what it has.
const mark = Symbol.for('portolan.driver')
const scope = globalThis as { [mark]?: true }
if (!scope[mark]) {
  scope[mark] = true
  onBackgroundPort((port) => drive(port, window))
}
