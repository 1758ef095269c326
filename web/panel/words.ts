import { en, type Message } from './messages.ts'

export type { Message }

export type Key = keyof typeof en
export type Messages = Partial<Record<Key, Message>>
export type Places = Record<string, string | number>

/** The panel's words in one language. */
export interface Words {
  (key: Key, places?: Places): string
  readonly locale: string
  number(n: number): string
  /** A duration in ms: "32 ms", "1.4 s", "2 min". */
  duration(ms: number): string
  /** A point in time, in ms since the epoch, as seen from another: "3 minutes ago". */
  ago(at: number, now: number): string
  /** The time of day, to the second. */
  time(at: number): string
}

/** Words of a locale, a BCP 47 tag; English for one that is none, and for what `messages` lacks. */
export function wordsOf(tag: string, messages: Messages = {}): Words {
  const locale = canonical(tag)
  const plural = new Intl.PluralRules(locale)
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  const units = new Map<string, Intl.NumberFormat>()
  const unit = (n: number, name: string, digits: number) => {
    const key = name + digits
    let format = units.get(key)
    if (!format)
      units.set(
        key,
        format = new Intl.NumberFormat(locale, {
          style: 'unit',
          unit: name,
          unitDisplay: 'short',
          maximumFractionDigits: digits,
        }),
      )
    return format.format(n)
  }
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
  const say = (key: Key, places: Places = {}) => {
    const message: Message = messages[key] ?? en[key] ?? key // a code that has no words yet is better than none
    const text = typeof message === 'string' ? message : message[plural.select(Number(places.n))] ?? message.other ?? ''
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = places[name]
      return value === undefined ? whole : typeof value === 'number' ? numbers.format(value) : value
    })
  }
  return Object.assign(say, {
    locale,
    number: (n: number) => numbers.format(n),
    duration: (ms: number) =>
      ms < 999.5
        ? unit(ms, 'millisecond', ms < 10 ? 1 : 0)
        : ms < 59_950
        ? unit(ms / 1000, 'second', 1)
        : unit(ms / 60_000, 'minute', 0),
    ago: (at: number, now: number) => {
      const s = (at - now) / 1000
      const [n, name] = s > -60
        ? [s, 'second'] as const
        : s > -3600
        ? [s / 60, 'minute'] as const
        : s > -86_400
        ? [s / 3600, 'hour'] as const
        : [s / 86_400, 'day'] as const
      return relative.format(Math.round(n), name)
    },
    time: (at: number) => clock.format(at),
  })
}

function canonical(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll('_', '-'))[0] ?? 'en'
  } catch {
    return 'en'
  }
}
