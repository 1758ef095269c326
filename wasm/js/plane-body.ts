// Reading response bodies under a cap.

import { isCrowded } from './plane-json.ts';

const decoder = new TextDecoder('utf-8');

/** Thrown when a body is larger than it may be. */
export class BodyTooLarge extends Error {}

export const crowded = (values: number) => `response of more than ${values} values`;

/** Thrown when a body is not JSON. */
export class NotJson extends Error {}

export interface Json { text: string; value: unknown }

export type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** Parses the response's body; throws BodyTooLarge beyond `max` bytes or `values` elements and members, and NotJson. */
export async function readJson({ headers }: Response, reader: BodyReader | undefined, max: number, values: number): Promise<Json> {
  const length = Number(headers.get('content-length') ?? -1);
  if (!reader) throw new NotJson();
  if (length > max) {
    await reader.cancel().catch(() => {});
    throw new BodyTooLarge(`response over ${max} bytes`);
  }
  const chunks: Uint8Array[] = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return parse(join(chunks, size), values) ?? fail();
    chunks.push(value);
    size += value.length;
    if (size > max) {
      reader.cancel().catch(() => {});
      throw new BodyTooLarge(`response over ${max} bytes`);
    }
    if (size !== length) continue;
    // All that was announced is here; that the stream ends is one more task away
    // and not waited for. (If the body was compressed this may be a beginning
    // that is as long by chance: then it does not parse, and reading goes on.)
    const json = parse(join(chunks, size), values);
    if (!json) continue;
    reader.read().catch(() => {});
    return json;
  }
}

function parse(bytes: Uint8Array, values: number): Json | undefined {
  const text = decoder.decode(bytes);
  if (isCrowded(text, values)) throw new BodyTooLarge(crowded(values));
  try {
    return { text, value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function fail(): never {
  throw new NotJson();
}

/** The first `max` bytes of the body as text, or none of it if it cannot be read. */
export async function readStart(reader: BodyReader | undefined, max: number): Promise<string> {
  if (!reader) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.length;
      if (size <= max) continue;
      reader.cancel().catch(() => {});
      break;
    }
  } catch {
    return '';
  }
  return decoder.decode(join(chunks, size).subarray(0, max));
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
