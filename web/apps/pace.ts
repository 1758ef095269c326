// The most messages of an app. The sandbox page holds it to this, and the host page does not rely on that.

/** Messages of an app in a second, in the long run. */
export const perSecond = 50
/** Messages of an app at once, beyond those of a second. An app that sends more is closed. */
export const burst = 200
/** One message of an app, in characters of its JSON. */
export const mostChars = 1 << 20
/** The most that a second may carry, in characters of JSON. A longer message counts as several. */
const charsPerSecond = 1 << 20

/** Counts the messages of an app, and forgets them at the allowed pace. */
export class Pace {
  private level = 0
  private since = 0

  /** Counts a message of that many characters at a time in ms. Reports whether the app is still within the bounds. */
  admits(chars: number, now: number): boolean {
    this.level = Math.max(0, this.level - (now - this.since) / 1000 * perSecond)
    this.since = now
    this.level += Math.max(1, chars / charsPerSecond * perSecond)
    return this.level <= burst + perSecond
  }
}
