/** A text with {places}, or one for each plural category (Unicode CLDR), chosen by {n}. */
export type Message = string | { [category in Intl.LDMLPluralRule]?: string }
export type Messages<Key extends string = string> = Partial<Record<Key, Message>>
export type Places = Record<string, string | number>

/** The messages of one language. */
export interface Say<Key extends string> {
  (key: Key, places?: Places): string
  readonly locale: string
}

/** The messages of a panel in one language, and the language's numbers and times. */
export interface Words<Key extends string> extends Say<Key> {
  number(n: number): string
  /** A duration in ms: "32 ms", "1.4 s", "2 min". */
  duration(ms: number): string
  /** A point in time, in ms since the epoch, as seen from another: "3 minutes ago". */
  ago(at: number, now: number): string
  /** The time of day, to the second. */
  time(at: number): string
}

/** Messages of a locale, a BCP 47 tag; English if it is none. A message comes from the first table that has it. */
export function sayFrom<Key extends string>(tag: string, ...tables: readonly Messages<Key>[]): Say<Key> {
  const locale = canonical(tag)
  const plural = new Intl.PluralRules(locale)
  const numbers = numbersOf(locale)
  const say = (key: Key, places: Places = {}) => {
    const message: Message = tables.find((table) => table[key] !== undefined)?.[key] ?? key
    const text = typeof message === 'string' ? message : message[plural.select(Number(places.n))] ?? message.other ?? ''
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = places[name]
      return value === undefined ? whole : typeof value === 'number' ? numbers.format(value) : value
    })
  }
  return Object.assign(say, { locale })
}

/** As {@link sayFrom}, with the language's numbers and times. */
export function wordsFrom<Key extends string>(tag: string, ...tables: readonly Messages<Key>[]): Words<Key> {
  const say = sayFrom(tag, ...tables)
  const { locale } = say
  const numbers = numbersOf(locale)
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
  return Object.assign(say, {
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

const numbersOf = (locale: string) => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })

function canonical(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll('_', '-'))[0] ?? 'en'
  } catch {
    return 'en'
  }
}

/** The direction of the script in which a locale is written. */
export const directionOf = (locale: string): 'rtl' | 'ltr' =>
  /Arab|Hebr|Thaa|Syrc|Nkoo|Adlm/.test(new Intl.Locale(locale).maximize().script!) ? 'rtl' : 'ltr'

/** English with accents, a third longer: shows what is not translated, and what does not fit. */
export function pseudo<Key extends string>(english: Record<Key, Message>): Messages<Key> {
  const odd = (text: string) => {
    const accented = text.replace(/\{\w+\}|[aceginosuyAEIOSU]/g, (m) => (m.length > 1 ? m : `${m}\u0301`.normalize()))
    return `⟦${accented}${' ···'.repeat(Math.ceil(text.length * 0.08))}⟧`
  }
  return Object.fromEntries(
    Object.entries<Message>(english).map(([key, message]) => [
      key,
      typeof message === 'string'
        ? odd(message)
        : Object.fromEntries(Object.entries(message).map(([category, text]) => [category, odd(text)])),
    ]),
  ) as Messages<Key>
}
