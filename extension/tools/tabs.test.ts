import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tabTools } from './tabs.ts'
import type { ToolCall } from './tool.ts'

test('a page whose elements are too many, or too long, says that it was cut', async () => {
  let elements: { outerHTML: string }[] = []
  const tab = { id: 1, windowId: 1, url: 'https://shop.example/', status: 'complete' }
  Object.assign(globalThis, {
    chrome: {
      tabs: { get: async () => tab },
      scripting: {
        executeScript: async ({ func, args }: { func: (...args: unknown[]) => unknown; args: unknown[] }) => [
          { result: func(...args) },
        ],
      },
    },
    location: { href: tab.url },
    document: { querySelectorAll: () => elements },
  })
  const read = tabTools.find((t) => t.name === 'page_dom')!
  const truncated = async (count: number, length: number) => {
    elements = Array.from({ length: count }, () => ({ outerHTML: 'x'.repeat(length) }))
    const { structuredContent } = await read.run({ args: { tabId: 1, selector: 'p' } } as unknown as ToolCall)
    return (structuredContent as { truncated: boolean }).truncated
  }
  assert.deepEqual(
    [await truncated(1000, 1), await truncated(1001, 1), await truncated(1, 500_000), await truncated(1, 500_001)],
    [false, true, false, true],
  )
})
