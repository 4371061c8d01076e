// What a wire format must answer so that the shared request path can carry it. A wire knows its vendor's
// JSON and nothing of HTTP, retries or other vendors.

import type { ErrorCode } from '../../core/errors.ts';
import type { ModelChunk, ModelRequest } from '../../core/model.ts';
import type { TokenCounts } from '../../core/usage.ts';
import type { SseEvent } from './sse.ts';

export interface Wire {
  /** The value of `ModelInfo.api`. */
  readonly api: string;
  /** Appended to the base URL, with a query where the wire needs one. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that only some requests need. */
  headersFor?(request: ModelRequest): Readonly<Record<string, string>>;
  /** Whether it understands `ModelRequest.output`. */
  readonly structured?: boolean;
  /**
   * What must be done before `encode`, such as bringing a large file to the provider. Undefined when there is nothing
   * to do, as a rule. Never rejects: what fails there must do no harm.
   */
  prepare?(request: ModelRequest, signal: AbortSignal): Promise<void> | undefined;
  /** How the body of an answer is cut into events; server-sent events when absent. */
  framing?(): Framing;
  /** The body of a request, in fragments that are sent one after the other. */
  encode(request: ModelRequest): Buffer[];
  /** Reads one answer to `request`. */
  decoder(request: ModelRequest): AnswerDecoder;
  /** What a JSON error body says, in this vendor's words; undefined for one it does not know. */
  explain(body: unknown): Complaint | undefined;
}

export interface Framing {
  /** The events that are complete with these reads. */
  push(reads: readonly Buffer[]): readonly SseEvent[];
  /** The beginning of a body that is no stream of events at all; undefined while it may be one. */
  readonly foreign: string | undefined;
  /** The body is over; as `foreign`. */
  end(): string | undefined;
}

export interface AnswerDecoder {
  /** `complete`: the answer may end here. `done`: nothing more will come. */
  readonly progress: 'open' | 'complete' | 'done';
  /** What the provider has counted so far; undefined before it did. */
  readonly tokens: TokenCounts | undefined;
  /**
   * Appends what the event means to `out`. `messageStart` waits for the first chunk of content, so that an
   * answer that fails before it can be asked for again. Throws `ComplaintError` and `SyntaxError`.
   */
  decode(event: SseEvent, out: ModelChunk[]): void;
  /** Appends what closes a complete answer: `end`, or the failure that the provider chose to end it with. */
  finish(out: ModelChunk[]): void;
}

/** An error in the provider's words, and what it means where its type says so. */
export interface Complaint {
  readonly message: string;
  /** The vendor's own name for it. */
  readonly type?: string;
  readonly code?: ErrorCode;
  /** The HTTP status that it stands for, when it arrives inside a stream. */
  readonly status?: number;
  /** Milliseconds that it asks us to wait; a header that says so wins. */
  readonly retryAfterMs?: number;
}

/** The provider reported an error inside an answer that had begun. */
export class ComplaintError extends Error {
  readonly complaint: Complaint;

  constructor(complaint: Complaint) {
    super(complaint.message);
    this.name = 'ComplaintError';
    this.complaint = complaint;
  }
}
