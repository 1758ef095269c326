/** Waits for the change that a radio button makes. If it fails, the button of `before` is chosen again. */
export async function chosen(event: Event, before: string, change: Promise<boolean>): Promise<void> {
  const buttons = (event.target as HTMLElement).closest('fieldset')!.querySelectorAll('input')
  if (!await change) { for (const button of buttons) button.checked = button.value === before }
}
