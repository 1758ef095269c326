import { channelOf, leftKey, type Left } from './signin.ts'

// The page that authorization pages send people back to. It says what is going
// on in words of its own: nothing of its address is shown.

const say = (text: string) => {
  document.getElementById('portolan')!.textContent = text
}

const ticket = location.hash.slice(1)
const here = location.href
const state = new URLSearchParams(location.search).get('state') ?? ''

// The page brings this twice: in itself, for bundlers take one file, and as a file, for
// hosts whose policy refuses scripts in pages.
const { dataset } = document.documentElement
if (!('portolan' in dataset)) {
  dataset.portolan = ''
  if (state) comeBack()
  else if (ticket) wait()
  else say('There is nothing to do here.')
}

/** A window that was opened before it was known where to. */
function wait(): void {
  say('Looking for the place to sign in…')
  const channel = channelOf(ticket)
  channel.onmessage = ({ data }: MessageEvent<{ go?: unknown }>) => {
    if (typeof data?.go !== 'string' || !/^https?:\/\//i.test(data.go)) return
    window.opener = null // what comes next has no business with the page that opened it
    location.replace(data.go)
  }
  channel.postMessage({ ready: true })
}

function comeBack(): void {
  history.replaceState(null, '', location.pathname)
  const left = leftHere()
  if (left?.state === state) {
    sessionStorage.setItem(leftKey, JSON.stringify({ ...left, url: here } satisfies Left))
    return location.replace(left.back)
  }
  say('Signing in…')
  const channel = channelOf(state)
  const timer = setTimeout(
    () => say('The page that began this is gone. Close this one, and sign in again there.'),
    3000,
  )
  channel.onmessage = ({ data }: MessageEvent<{ taken?: unknown }>) => {
    if (!data?.taken) return
    clearTimeout(timer)
    say('Done. This page can be closed.')
    window.close()
  }
  channel.postMessage({ url: here })
}

function leftHere(): Left | null {
  try {
    return JSON.parse(sessionStorage.getItem(leftKey) ?? 'null') as Left | null
  } catch {
    return null
  }
}
