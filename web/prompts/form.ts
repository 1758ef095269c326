import type { RegistryContext } from '../panel/context.ts'
import { PromptForm } from '../panel/offers/prompt-form.ts'
import { define, focusSoon } from '../ui/part.ts'
import type { PromptInfo } from '../../wasm/js/shared/types.ts'

/** The menu, as far as the form uses it. */
export interface FormContext extends RegistryContext {
  /** Makes the messages, and tells the page. */
  use(prompt: PromptInfo, args: Record<string, string>, signal: AbortSignal): Promise<void>
}

/** The form for the arguments of a prompt that was picked. Its event `closed` says that it was closed. */
class PickedForm extends PromptForm<FormContext> {
  /** The person was typing, and goes on in the first field. */
  protected override firstUpdated(): void {
    super.firstUpdated()
    focusSoon(this, 'input')
  }

  protected get submitWord(): string {
    return this.panel.words('use_prompt')
  }

  protected async submit(args: Record<string, string>, signal: AbortSignal): Promise<void> {
    await this.panel.use(this.prompt, args, signal)
    this.close()
  }

  protected override closed(): void {
    this.dispatchEvent(new CustomEvent('closed'))
  }
}

define('portolan-picked-prompt', PickedForm)
