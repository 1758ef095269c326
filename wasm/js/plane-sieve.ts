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
    const end = chunk.length;
    let from = this.#skips ? -1 : 0;
    for (let at = 0; at < end; at++) {
      if (this.#inString) {
        at = this.#string(chunk, at);
        continue;
      }
      const c = chunk[at]!;
      if (c === QUOTE) this.#inString = true;
      else if (c === OPEN || c === OPEN_LIST) {
        this.values++;
        if (++this.#depth > this.deepest) this.deepest = this.#depth;
        if (this.#skips) continue;
        if (this.#depth === LISTED) this.#room = c === OPEN_LIST ? this.#bounds.elements : Infinity;
        if (this.#depth <= this.#bounds.depth) continue;
        kept.push(chunk.subarray(from, at + 1));
        this.#skips = this.#depth;
        from = -1;
      } else if (c === CLOSE || c === CLOSE_LIST) {
        if (this.#skips === this.#depth) {
          this.#skips = 0;
          from = at;
        }
        this.#depth--;
      } else if (c === COMMA) {
        this.values++;
        if (this.#depth !== LISTED || this.#skips || --this.#room > 0) continue;
        kept.push(chunk.subarray(from, at + 1), NULL);
        this.#skips = LISTED;
        from = -1;
      }
    }
    if (from === 0) return [chunk];
    if (from > 0) kept.push(chunk.subarray(from));
    return kept;
  }

  /** Passes over a string from `at` on; the result is where it ends, or the chunk does. */
  #string(chunk: Uint8Array, at: number): number {
    const end = chunk.length;
    if (this.#escaped) {
      this.#escaped = false;
      at++;
    }
    for (; at < end; at++) {
      const c = chunk[at]!;
      if (c === BACKSLASH) at++;
      else if (c === QUOTE) {
        this.#inString = false;
        return at;
      }
    }
    this.#escaped = at > end;
    return at;
  }
}
