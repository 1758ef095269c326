/** Reads the text of a response. undefined: it has more than `maxBytes`, and the rest was not read. */
export async function boundedText(response: Response, maxBytes: number): Promise<string | undefined> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done || !value) return text + decoder.decode()
    bytes += value.length
    if (bytes > maxBytes) {
      void reader!.cancel().catch(() => {})
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}
