// Reads the messages of a program that may send anything: a header section of bounded length, a body of bounded length
// that is JSON, one message at a time (Language Server Protocol 3.17, base protocol). The library's own reader has no
// bounds and takes what comes, so that a flood would fill the memory; this one is pulled, and stops a program that is
// faster than its listener.

import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc/node';

const MAX_HEADER_BYTES = 4096;

/** Bytes of one message: larger than the symbols of any file that a person wrote. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const HEADER_END = '\r\n\r\n';

export class BoundedMessageReader extends AbstractMessageReader {
  readonly #stream: AsyncIterable<Uint8Array>;

  constructor(stream: AsyncIterable<Uint8Array>) {
    super();
    this.#stream = stream;
  }

  /** An error is the last thing that it tells: behind what cannot be read nobody knows where a message begins. */
  listen(callback: DataCallback): Disposable {
    this.#deliver(callback)
      .catch((error: unknown) => this.fireError(error))
      .finally(() => this.fireClose());
    return { dispose() {} };
  }

  async #deliver(callback: DataCallback): Promise<void> {
    for await (const message of messagesIn(this.#stream)) {
      callback(message);
      // The connection takes one message from its queue at a time, in an immediate of its own.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

/** Throws an `Error` that says what is wrong with the stream. */
export async function* messagesIn(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Message> {
  let chunks: Buffer[] = [];
  let held = 0;
  /** Of the body that is being read; undefined in a header. */
  let wanted: number | undefined;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    held += chunk.byteLength;
    // Put together only when something may be complete, so that a long body is copied once.
    while (wanted === undefined ? held > 0 : held >= wanted) {
      let bytes = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
      if (wanted === undefined) {
        const end = bytes.indexOf(HEADER_END);
        if (end < 0) checkHeader(bytes);
        chunks = [bytes];
        if (end < 0) break;
        wanted = lengthIn(bytes.subarray(0, end));
        bytes = bytes.subarray(end + HEADER_END.length);
      } else {
        const body = bytes.subarray(0, wanted);
        bytes = bytes.subarray(wanted);
        wanted = undefined;
        yield parsed(body);
      }
      chunks = bytes.length > 0 ? [bytes] : [];
      held = bytes.length;
    }
  }
}

/** Of a header that goes on: what is no header is refused at once, not when it has become too long. */
function checkHeader(bytes: Buffer): void {
  const start = bytes.subarray(0, 64).toString('latin1');
  if (bytes.length > MAX_HEADER_BYTES || !/^[A-Za-z-]{1,40}(?::|$)/.test(start)) throw noMessage(bytes);
}

function lengthIn(header: Buffer): number {
  const [, digits] = /^content-length:[ \t]*(\d{1,12})[ \t]*$/im.exec(header.toString('latin1')) ?? [];
  if (header.length > MAX_HEADER_BYTES || digits === undefined) throw noMessage(header);
  const length = Number(digits);
  if (length > MAX_BODY_BYTES)
    throw new Error(`it sent a message of ${length} bytes; the limit is ${MAX_BODY_BYTES}`);
  return length;
}

function parsed(body: Buffer): Message {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new Error(`it sent a message that is no JSON: ${shown(body)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`it sent a message that is no object: ${shown(body)}`);
  return value as Message;
}

function noMessage(bytes: Buffer): Error {
  return new Error(`it wrote to its standard output what is no message: ${shown(bytes)}`);
}

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.subarray(0, 100).toString('utf8'));
}
