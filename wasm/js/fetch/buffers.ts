// Memory for response bodies. It is used again or freed at once. Buffers from the browser would be collected late: some
// seconds of a fast server are hundreds of MiB.

const READ_BYTES = 256 << 10
const SEGMENT_BYTES = 128 << 10

/** The buffers that are kept for later bodies. */
const SPARE_READS = 16

const reads: ArrayBuffer[] = []

/**
 * Each read takes about 8 KB in Chromium beside its bytes. Chromium collects them with dropped buffers, because those
 * count. So one buffer is dropped after so many reads that brought little. Otherwise a stream of small events takes 300
 * MB.
 */
const SMALL_READS = 16, SMALL_BYTES = 32 << 10

let smallReads = 0

/** Reads a body. */
export class BodyReader {
  /** The bytes that have arrived. */
  size = 0

  readonly #own: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #lent: ReadableStreamBYOBReader | undefined
  #buffer: ArrayBuffer | undefined

  /** `length` is the announced length in bytes, or NaN. */
  constructor(body: ReadableStream<Uint8Array>, length: number) {
    if (!(length <= READ_BYTES)) {
      try {
        this.#lent = body.getReader({ mode: 'byob' })
        this.#buffer = reads.pop() ?? new ArrayBuffer(READ_BYTES)
        return
      } catch {
        // Some browsers and some bodies have no such reader.
      }
    }
    this.#own = body.getReader()
  }

  /** The next bytes, valid until the next call. Undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    const bytes = await this.#next()
    this.size += bytes?.length ?? 0
    return bytes
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#own) return (await this.#own.read()).value
    const buffer = this.#buffer
    if (!buffer) return undefined
    this.#buffer = undefined
    const { done, value } = await this.#lent!.read(new Uint8Array(buffer))
    if (!done) {
      const drops = value.length < SMALL_BYTES && ++smallReads % SMALL_READS === 0
      this.#buffer = drops ? new ArrayBuffer(READ_BYTES) : value.buffer as ArrayBuffer
    } else if (value && reads.length < SPARE_READS) reads.push(value.buffer as ArrayBuffer)
    return done ? undefined : value
  }

  async cancel(): Promise<void> {
    await (this.#own ?? this.#lent!).cancel()
  }
}

/** Collects the bytes of one body. */
export class Gathered {
  size = 0
  #segments: Uint8Array<ArrayBuffer>[] = []

  add(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length;) {
      const at = this.size % SEGMENT_BYTES
      if (at === 0) this.#segments.push(new Uint8Array(SEGMENT_BYTES))
      const part = bytes.subarray(from, from + SEGMENT_BYTES - at)
      this.#segments.at(-1)!.set(part, at)
      from += part.length
      this.size += part.length
    }
  }

  /** All bytes, in a buffer of their own. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.size)
    this.#segments.forEach((segment, i) => {
      const at = i * SEGMENT_BYTES
      bytes.set(segment.subarray(0, this.size - at), at)
      free(segment.buffer)
    })
    this.#segments = []
    this.size = 0
    return bytes
  }

  clear(): void {
    for (const segment of this.#segments) free(segment.buffer)
    this.#segments = []
    this.size = 0
  }
}

/** Frees a buffer at once, if the platform can. */
function free(bytes: ArrayBuffer & { transfer?(length: number): ArrayBuffer }): void {
  bytes.transfer?.(0)
}
