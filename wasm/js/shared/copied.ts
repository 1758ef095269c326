/**
 * A copy of a text. Engines keep the whole of a text in memory while a part of it, as `slice` gives it, is in use. A
 * text that was joined of many short ones takes 20 to 32 bytes for each of them.
 */
export const copied = (text: string): string => JSON.parse(JSON.stringify(text)) as string
