// The values that the platform keeps for Go: tool definitions by page, and
// results until the host takes them.

import { type Answer, opened } from './answer.ts';
import type { Flag } from './types.ts';

/** A result that is longer than this in sum with others waits for nobody: the oldest is dropped. */
const UNTAKEN_BYTES = 64 << 20;

interface Result { readonly taken: Answer; readonly bytes: number }

/** What is known of a page's tools beside their definitions. */
export interface Marks { readonly pins: readonly string[]; readonly flags: ReadonlyMap<number, Flag[]> }

interface Page { readonly tools: readonly unknown[]; readonly marks: Marks | undefined; texts?: (() => readonly string[]) | undefined; source?: Source | undefined }

/** The JSON-RPC message that a page of tools came in, and where in its list each tool stands. */
export interface Source { readonly text: string; readonly places: readonly number[] }

export class Tables {
  readonly #pages = new Map<number, Page>();
  readonly #results = new Map<number, Result>(); // oldest first
  #untaken = 0;
  #last = 0;

  /** `texts`, if given, splits the page into the tools' own texts, which a double's digits would not give back. */
  addPage(tools: readonly unknown[], source: Source | undefined, texts?: () => readonly string[], marks?: Marks): number {
    const table = this.#next();
    this.#pages.set(table, { tools, source, texts, marks });
    return table;
  }

  /** The source of a page, once: whoever takes it keeps the text, or lets go of it. */
  takeSource(table: number): Source | undefined {
    const page = this.#pages.get(table);
    const source = page?.source;
    if (page) page.source = undefined;
    return source;
  }

  addResult(taken: Answer, bytes: number): number {
    const table = this.#next();
    this.#results.set(table, { taken, bytes });
    this.#untaken += bytes;
    for (const oldest of this.#results.keys()) {
      if (this.#untaken <= UNTAKEN_BYTES || oldest === table) break;
      this.release(oldest);
    }
    return table;
  }

  tool(table: number, index: number): unknown {
    return this.#pages.get(table)?.tools[index];
  }

  /** The pin and the flags of a tool. */
  marks(table: number, index: number): { pin?: string; flags?: Flag[] } {
    const marks = this.#pages.get(table)?.marks;
    const pin = marks?.pins[index]?.slice(0, 43), flags = marks?.flags.get(index);
    return { ...(pin && { pin }), ...(flags && { flags }) };
  }

  take(table: number): Answer | undefined {
    const taken = this.#results.get(table)?.taken;
    this.release(table);
    return taken;
  }

  release(table: number): void {
    this.#pages.delete(table);
    const result = this.#results.get(table);
    if (result && this.#results.delete(table)) this.#untaken -= result.bytes;
  }

  text(table: number, index: number): string | undefined {
    const page = this.#pages.get(table);
    if (page?.texts) {
      const texts = page.texts();
      page.texts = () => texts;
      return texts[index];
    }
    const tool = page?.tools[index];
    if (tool !== undefined) return JSON.stringify(tool);
    const taken = this.#results.get(table)?.taken;
    if (!taken) return undefined;
    const { value, raw } = opened(taken);
    return raw ?? JSON.stringify(value);
  }

  get size(): number {
    return this.#pages.size + this.#results.size;
  }

  // Table 0 is never used; numbers wrap far below 2^32, past tables that are still there.
  #next(): number {
    do this.#last = (this.#last % 0x7fffffff) + 1;
    while (this.#pages.has(this.#last) || this.#results.has(this.#last));
    return this.#last;
  }
}
