// The values that the platform keeps for Go: tool definitions by page, and
// results until the host takes them.

import { type Answer, opened } from './answer.ts';
import { pinOf } from './pin.ts';
import { elementTexts, type JsonObject, mayLoseDigits, memberText } from './plane-json.ts';
import type { ToolsReader } from './plane-tools.ts';
import type { Flag } from './types.ts';

/** A result that is longer than this in sum with others waits for nobody: the oldest is dropped. */
const UNTAKEN_BYTES = 64 << 20;

interface Result { readonly taken: Answer; readonly bytes: number }

interface Page {
  readonly list: ToolsReader;
  /** The tools' own texts, where a double's digits would not give them back. */
  exact?: (() => (index: number) => string | undefined) | undefined;
  source?: Source | undefined;
}

/** What a page of tools came as: the JSON-RPC message with where in its list each tool stands, or the tools' own texts. */
export type Source = { readonly text: string; readonly places: readonly number[] } | { readonly texts: readonly string[] };

export class Tables {
  readonly #pages = new Map<number, Page>();
  readonly #results = new Map<number, Result>(); // oldest first
  #untaken = 0;
  #last = 0;

  /** `text`: the message that the list came in, if it came as one text and as it is. */
  addPage(list: ToolsReader, text?: string): number {
    const table = this.#next();
    const page: Page = { list };
    if (list.texts.length > 0) page.source = { texts: list.texts };
    else if (text !== undefined && list.sent.size === 0) {
      const { places } = list;
      page.source = { text, places };
      if (mayLoseDigits(text)) page.exact = () => toolTexts(text, places);
    }
    this.#pages.set(table, page);
    return table;
  }

  /** The source of a page, once: whoever takes it keeps the text, or lets go of it. */
  takeSource(table: number): Source | undefined {
    const page = this.#pages.get(table);
    const source = page?.source;
    if (!page || !source) return undefined;
    page.source = undefined;
    if ('texts' in source) {
      const exact = new Map<number, string>();
      source.texts.forEach((text, i) => mayLoseDigits(text) && exact.set(i, text));
      page.exact = () => (i) => exact.get(i);
    }
    return source;
  }

  /** What a user approves a tool by; '' once its page was released. */
  pin(table: number, index: number): string {
    const list = this.#pages.get(table)?.list;
    const tool = list?.sent.get(index) ?? list?.tools[index];
    return tool === undefined ? '' : pinOf(tool as JsonObject);
  }

  /** Equal for pages whose tools are equal: the SHA-256 of what the server sent of them. '' where that cannot be had. */
  async fingerprint(table: number): Promise<string> {
    const page = this.#pages.get(table);
    const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined; // not in pages that came over plain HTTP
    if (!page || !subtle) return '';
    const { tools, sent, texts } = page.list;
    const same = page.source && 'texts' in page.source && sent.size === 0;
    const text = same ? texts.join() : JSON.stringify(tools.map((tool, i) => sent.get(i) ?? tool));
    const digest = new Uint8Array(await subtle.digest('SHA-256', new TextEncoder().encode(text)));
    return btoa(String.fromCharCode(...digest));
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
    return this.#pages.get(table)?.list.tools[index];
  }

  flags(table: number, index: number): Flag[] | undefined {
    return this.#pages.get(table)?.list.flags.get(index);
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
    if (page?.source && 'texts' in page.source) return page.source.texts[index];
    if (page?.exact) {
      const exact = page.exact();
      page.exact = () => exact;
      const text = exact(index);
      if (text !== undefined) return text;
    }
    const tool = page?.list.tools[index];
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

function toolTexts(text: string, places: readonly number[]): (index: number) => string | undefined {
  const all = elementTexts(memberText(memberText(text, 'result') ?? '{}', 'tools') ?? '[]');
  return (index) => all[places[index]!];
}
