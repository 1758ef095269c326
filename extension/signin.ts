import { channelOf } from '../wasm/js/page/signin.ts'
import type { AuthorizeRequest } from '../wasm/js/shared/types.ts'
import { awakeDuring, closeTab, extensionUrl, isTabOpen, openFrontTab } from './browser.ts'

/**
 * The page of the extension that authorization servers send people back to: the
 * package's own. It may be navigated to from the web, and says only what it always says.
 */
export const redirectUrl = extensionUrl('callback.html')

/** How often it is looked whether the tab is still there, in ms. */
const look = 1000

/** Shows an authorization page in a tab, and resolves to the address that the person came back to. */
export function authorize({ url, signal }: AuthorizeRequest): Promise<string> {
  return awakeDuring(async () => {
    const tab = await openFrontTab(url)
    const channel = channelOf(new URL(url).searchParams.get('state')!)
    let watch: ReturnType<typeof setInterval> | undefined
    try {
      return await new Promise<string>((resolve, reject) => {
        channel.onmessage = ({ data }: MessageEvent<{ url?: unknown }>) => {
          if (typeof data?.url !== 'string') return
          channel.postMessage({ taken: true })
          resolve(data.url)
        }
        watch = setInterval(async () => {
          if (!await isTabOpen(tab)) reject(new Error('the tab was closed'))
        }, look)
        signal.addEventListener('abort', () => reject(new Error('nobody waits any more')))
      })
    } finally {
      clearInterval(watch)
      channel.close()
      await closeTab(tab)
    }
  })
}
