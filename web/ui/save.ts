import type { Panel } from './part.ts'

/** Offers a text or bytes as a file. */
export function download(name: string, content: string | Blob): void {
  const url = URL.createObjectURL(
    typeof content === 'string' ? new Blob([content], { type: 'application/json' }) : content,
  )
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Copies a text to the clipboard, and says so. Safari wants the call in the click, before the text is there. */
export async function copy(panel: Panel<'copied'>, text: string | Promise<string>): Promise<void> {
  await panel.run(async () => {
    if (typeof text === 'string') await navigator.clipboard.writeText(text)
    else await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text })])
    panel.tell(panel.words('copied'))
  })
}
