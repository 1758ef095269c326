// Server-sent events, as the HTML standard frames them (section 9.2.6), from
// the bytes of a response. Lines are found in the chunks as they come; only the
// data of an event that is wanted is decoded, once.

const LF = 10, CR = 13, COLON = 58, SPACE = 32;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const bytesOf = (s: string): Uint8Array => new TextEncoder().encode(s);
const DATA = bytesOf('data'), EVENT = bytesOf('event'), ID = bytesOf('id'), RETRY = bytesOf('retry');

/** Splits one response into events. A scanner that has met its limit takes nothing more. */
export class SseScanner {
  /** The id of the last whole event that had one. */
  lastId = '';
  /** The last retry field, in milliseconds; -1 if there was none. */
  retry = -1;
  /** Set it to stop: what follows, in this chunk too, is ignored. */
  stopped = false;

  readonly #maxBytes: number;
  readonly #onEvent: (event: string, data: string) => void;
  #tail: Uint8Array[] = []; // the beginning of a line whose end has not come
  #data: Uint8Array[] = [];
  #owned = 0; // of #data, those that are no parts of the chunk
  #bytes = 0; // kept in #tail and #data
  #event = '';
  #id: string | undefined;
  #skipLf = false; // the last chunk ended with CR
  #first = true;

  /** `maxBytes` bounds one event. `onEvent` gets the event's name, '' if it has none, and its data. */
  constructor(maxBytes: number, onEvent: (event: string, data: string) => void) {
    this.#maxBytes = maxBytes;
    this.#onEvent = onEvent;
  }

  /** Takes the next bytes, which may be others after. False once an event is larger than allowed. */
  push(chunk: Uint8Array): boolean {
    const end = chunk.length;
    let from = 0;
    if (this.#skipLf && end > 0) {
      this.#skipLf = false;
      if (chunk[0] === LF) from = 1;
    }
    let lf = chunk.indexOf(LF, from);
    let cr = chunk.indexOf(CR, from);
    while (from < end && !this.stopped) {
      const to = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
      if (to < 0) {
        this.#tail.push(chunk.slice(from));
        this.#bytes += end - from;
        break;
      }
      this.#line(chunk, from, to);
      if (this.#bytes > this.#maxBytes) break;
      from = to + 1;
      if (to === cr) {
        if (from === end) this.#skipLf = true;
        else if (chunk[from] === LF) from++;
      }
      if (lf >= 0 && lf < from) lf = chunk.indexOf(LF, from);
      if (cr >= 0 && cr < from) cr = chunk.indexOf(CR, from);
    }
    for (; this.#owned < this.#data.length; this.#owned++) this.#data[this.#owned] = this.#data[this.#owned]!.slice();
    if (this.#bytes <= this.#maxBytes) return true;
    this.stopped = true;
    this.#tail = [];
    this.#data = [];
    return false;
  }

  /**
   * Ends the stream. An event that lacks its blank line is handed over all the
   * same (some servers forget it; JSON tells whether it is whole), but its id
   * does not count, so that resuming does not skip it.
   */
  end(): void {
    if (this.stopped) return;
    if (this.#tail.length > 0) this.#line(new Uint8Array(0), 0, 0);
    this.#id = undefined;
    this.#dispatch();
  }

  #line(chunk: Uint8Array, from: number, to: number): void {
    let buf = chunk;
    if (this.#tail.length > 0) {
      buf = join(this.#tail, chunk.subarray(from, to));
      for (const part of this.#tail) this.#bytes -= part.length;
      this.#tail = [];
      from = 0;
      to = buf.length;
    }
    if (this.#first) {
      this.#first = false;
      if (to - from >= 3 && buf[from] === 0xef && buf[from + 1] === 0xbb && buf[from + 2] === 0xbf) from += 3;
    }
    if (from === to) this.#dispatch();
    else this.#field(buf, from, to);
  }

  #field(buf: Uint8Array, from: number, to: number): void {
    let at = value(buf, from, to, DATA);
    if (at >= 0) {
      this.#data.push(buf.subarray(at, to));
      this.#bytes += to - at + 1;
    } else if ((at = value(buf, from, to, EVENT)) >= 0) {
      this.#event = decoder.decode(buf.subarray(at, Math.min(to, at + 64)));
    } else if ((at = value(buf, from, to, ID)) >= 0) {
      const id = decoder.decode(buf.subarray(at, Math.min(to, at + 4096)));
      if (!id.includes('\0')) this.#id = id;
    } else if ((at = value(buf, from, to, RETRY)) >= 0) {
      const digits = decoder.decode(buf.subarray(at, Math.min(to, at + 16)));
      if (/^\d+$/.test(digits)) this.retry = Number(digits);
    }
  }

  #dispatch(): void {
    const data = this.#data, event = this.#event;
    if (this.#id !== undefined) this.lastId = this.#id;
    this.#id = undefined;
    this.#event = '';
    if (data.length === 0) return;
    this.#data = [];
    this.#owned = 0;
    this.#bytes = 0;
    if (event !== '' && event !== 'message' && event !== 'endpoint') return;
    let text = decoder.decode(data[0]);
    for (let i = 1; i < data.length; i++) text += '\n' + decoder.decode(data[i]);
    if (text !== '') this.#onEvent(event, text);
  }
}

/** Where the value begins if the line's field is `name`, else -1. */
function value(buf: Uint8Array, from: number, to: number, name: Uint8Array): number {
  const n = name.length;
  if (to - from < n) return -1;
  for (let i = 0; i < n; i++) if (buf[from + i] !== name[i]) return -1;
  const at = from + n;
  if (at === to) return to;
  if (buf[at] !== COLON) return -1;
  return at + 1 < to && buf[at + 1] === SPACE ? at + 2 : at + 1;
}

function join(parts: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  if (parts.length === 1 && last.length === 0) return parts[0]!;
  let size = last.length;
  for (const part of parts) size += part.length;
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  all.set(last, at);
  return all;
}
