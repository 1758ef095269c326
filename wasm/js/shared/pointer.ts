/** The step of a JSON pointer to a member (RFC 6901). */
export const step = (name: string | number): string => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`

const most = 1000

/**
 * Appends steps to a JSON pointer that is not long yet: a server may send a key of a megabyte with thousands of values
 * below it. Nothing is copied here, because engines join texts when they are read.
 */
export const pointer = (where: string, steps: string): string => where.length < most ? where + steps : where

/** A JSON pointer for a report: the first 1,000 UTF-16 units. */
export const shown = (where: string): string => where.slice(0, most)
