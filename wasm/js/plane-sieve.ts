// What becomes of a large JSON text before it is parsed: what no bound would let
// pass is left out as the bytes come, so that neither it nor its values are ever held.

export interface SieveBounds {
  /** Arrays and objects that lie deeper are empty. */
  depth: number;
  /** Elements of an array in the result of a message; null stands for those that follow. */
  elements: number;
}

const QUOTE = 34, COMMA = 44, OPEN_LIST = 91, BACKSLASH = 92, CLOSE_LIST = 93, OPEN = 123, CLOSE = 125;

/** The level of what is in an array that is a member of a message's result. */
const LISTED = 3;

const NULL = new TextEncoder().encode('null');

/** Goes over one JSON text. It knows brackets and strings; whether the rest is JSON is for JSON.parse. */
export class Sieve {
  /** How many arrays and objects lie in each other at most. */
  deepest = 0;
  /** Elements and members, about. */
  values = 0;

  readonly #bounds: SieveBounds;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #skips = 0; // until what is open at this depth closes
  #room = Infinity;

  constructor(bounds: SieveBounds) {
    this.#bounds = bounds;
  }

  /** Every bracket and string that was opened is closed. */
  get whole(): boolean {
    return this.#depth === 0 && !this.#inString && this.deepest > 0;
  }

  /** What stays of the next bytes: they themselves, or parts of them. */
  push(chunk: Uint8Array): Uint8Array[] {
    const kept: Uint8Array[] = [];
    const end = chunk.length, most = this.#bounds.depth;
    let depth = this.#depth, deepest = this.deepest, values = this.values, skips = this.#skips; // what is looked at for each byte
    let from = skips ? -1 : 0;
    for (let at = this.#inString ? this.#string(chunk, 0) + 1 : 0; at < end; at++) {
      const c = chunk[at]!;
      if (c === QUOTE) at = this.#string(chunk, at + 1);
      else if (c === OPEN || c === OPEN_LIST) {
        values++;
        if (++depth > deepest) deepest = depth;
        if (skips) continue;
        if (depth === LISTED) this.#room = c === OPEN_LIST ? this.#bounds.elements : Infinity;
        if (depth <= most) continue;
        kept.push(chunk.subarray(from, at + 1));
        skips = depth;
        from = -1;
      } else if (c === CLOSE || c === CLOSE_LIST) {
        if (skips === depth) {
          skips = 0;
          from = at;
        }
        depth--;
      } else if (c === COMMA) {
        values++;
        if (depth !== LISTED || skips || --this.#room > 0) continue;
        kept.push(chunk.subarray(from, at + 1), NULL);
        skips = LISTED;
        from = -1;
      }
    }
    this.#depth = depth;
    this.deepest = deepest;
    this.values = values;
    this.#skips = skips;
    if (from === 0) return [chunk];
    if (from > 0) kept.push(chunk.subarray(from));
    return kept;
  }

  /** Passes over a string from behind its quote; the result is where it ends, or no less than the end of the chunk. */
  #string(chunk: Uint8Array, at: number): number {
    const end = chunk.length;
    if (this.#escaped) at++;
    for (; at < end; at++) {
      const c = chunk[at]!;
      if (c === BACKSLASH) at++;
      else if (c === QUOTE) {
        this.#inString = this.#escaped = false;
        return at;
      }
    }
    this.#inString = true;
    this.#escaped = at > end;
    return at;
  }
}
