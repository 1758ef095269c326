import { onBackgroundPort } from '../../browser.ts'
import type { PageScope } from '../drivermessages.ts'
import { fieldText } from './field.ts'
import { serve } from './serve.ts'
import { modifiers } from './takeover.ts'

// The background injects this file before each run. A tab that has it already keeps it.
const scope = globalThis as PageScope
if (!scope.portolanWords) {
  let typedIn: Element | undefined
  for (const type of ['keydown', 'paste'])
    addEventListener(type, (event) => {
      const at = event.composedPath()[0]
      const isField = at instanceof HTMLElement && (at.isContentEditable || at.matches('input, textarea'))
      if (event.isTrusted && isField && !modifiers.test((event as KeyboardEvent).key)) typedIn = at
    }, true)
  scope.portolanWords = () => !!typedIn?.isConnected && fieldText(typedIn).trim() !== ''
  onBackgroundPort('portolan-driver', (port) => serve(port, window))
}
