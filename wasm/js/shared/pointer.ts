/** The step of a JSON pointer to a member (RFC 6901). */
export const step = (name: string | number): string => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`

/**
 * A JSON pointer made of steps, of which the first 1,000 UTF-16 units are kept: a server may send a key of a megabyte
 * with thousands of values below it.
 */
export const pointer = (steps: string): string => steps.slice(0, 1000)
