// Reading response bodies under a cap.

const decoder = new TextDecoder('utf-8');

/** Thrown when a body is larger than it may be. */
export class BodyTooLarge extends Error {}

/** The body as text; throws BodyTooLarge beyond `max` bytes. */
export async function readText(response: Response, max: number): Promise<string> {
  const { body, headers } = response;
  if (!body) return '';
  const length = headers.get('content-length');
  if (length !== null && Number(length) > max) {
    await body.cancel().catch(() => {});
    throw new BodyTooLarge();
  }
  // A length says how much text() will hold only if nothing is compressed,
  // which a cross-origin response does not tell.
  if (length !== null && response.type !== 'cors' && !headers.has('content-encoding')) return response.text();
  const { bytes, whole } = await readBytes(body, max);
  if (!whole) throw new BodyTooLarge();
  return decoder.decode(bytes);
}

/** The first `max` bytes of the body as text, or none of it if it cannot be read. */
export async function readStart(response: Response, max: number): Promise<string> {
  if (!response.body) return '';
  try {
    const { bytes } = await readBytes(response.body, max);
    return decoder.decode(bytes);
  } catch {
    return '';
  }
}

async function readBytes(body: ReadableStream<Uint8Array>, max: number): Promise<{ bytes: Uint8Array; whole: boolean }> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0, whole = true;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.length;
    if (size > max) {
      whole = false;
      reader.cancel().catch(() => {});
      break;
    }
  }
  if (chunks.length === 1) return { bytes: whole ? chunks[0]! : chunks[0]!.subarray(0, max), whole };
  const bytes = new Uint8Array(Math.min(size, max));
  let at = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(0, bytes.length - at);
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, whole };
}
