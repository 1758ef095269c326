import { channelOf, leftKey, type Left } from './signin.ts'

// The redirect page of sign-in. It shows its own texts only, and nothing of its address.

const say = (text: string) => {
  document.getElementById('portolan')!.textContent = text
}

const ticket = location.hash.slice(1)
const here = location.href
const state = new URLSearchParams(location.search).get('state') ?? ''

// The script is in the page, because bundlers copy one file. It is also a file, for policies that forbid inline
// scripts.
const { dataset } = document.documentElement
if (!('portolan' in dataset)) {
  dataset.portolan = ''
  if (state) comeBack()
  else if (ticket) wait()
  else say('There is nothing to do here.')
}

/** A window that was opened before its URL was known. */
function wait(): void {
  say('Looking for the place to sign in…')
  const channel = channelOf(ticket)
  channel.onmessage = ({ data }: MessageEvent<{ go?: unknown }>) => {
    if (typeof data?.go !== 'string' || !/^https?:\/\//i.test(data.go)) return
    window.opener = null // the authorization page gets no access to the opener
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
