/** Waits for the change that a radio button makes. If it fails, the button that has the attribute is chosen again. */
export async function chosen(event: Event, change: Promise<boolean>): Promise<void> {
  const group = (event.target as HTMLElement).closest('fieldset')!
  if (!await change) group.querySelector<HTMLInputElement>('[checked]')!.checked = true
}
