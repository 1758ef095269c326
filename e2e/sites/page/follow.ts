/** Keeps a scroller at its end while it grows, unless the user has scrolled up. */
export function follow(scroller: HTMLElement): () => void {
  let follows = true
  let last = 0
  scroller.addEventListener('scroll', () => {
    const { scrollTop, scrollHeight, clientHeight } = scroller
    // Growth below the view is not the user's scrolling.
    follows = scrollTop >= last && (follows || scrollHeight - scrollTop - clientHeight < 80)
    last = scrollTop
  })
  return () => {
    if (follows) scroller.scrollTop = scroller.scrollHeight
  }
}
