// Writes down every exchange with a provider as it passes by. What is written is what was read: an answer that nobody
// read to its end is on the recording as far as it went.

import { asCrabError, type CrabError } from '../../core/errors.ts';
import { answerHeaders, type Exchange, keptHeaders } from './cassette.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';

export interface Recorder {
  write(exchange: Exchange): void;
  /** Milliseconds since the epoch; called at each end of an exchange, so that a run can be given the same times again. */
  step(): number;
  /** Without what must not be written down. */
  redact(text: string): string;
}

export function recordHttp(http: Http, recorder: Recorder): Http {
  return {
    async send(request, signal) {
      const pending = { request: requestOf(request, recorder), sentAt: recorder.step() };
      try {
        return new RecordedAnswer(await http.send(request, signal), pending, recorder);
      } catch (thrown) {
        const failure = failureOf(asCrabError(thrown), recorder);
        recorder.write({ type: 'exchange', ...pending, failure, endedAt: recorder.step() });
        throw thrown;
      }
    },
  };
}

type Pending = Pick<Exchange, 'request' | 'sentAt'>;

class RecordedAnswer implements HttpAnswer {
  readonly #answer: HttpAnswer;
  readonly #pending: Pending;
  readonly #recorder: Recorder;
  readonly #reads: Buffer[] = [];
  #over = false;

  constructor(answer: HttpAnswer, pending: Pending, recorder: Recorder) {
    this.#answer = answer;
    this.#pending = pending;
    this.#recorder = recorder;
  }

  get status(): number {
    return this.#answer.status;
  }

  get headers(): HttpAnswer['headers'] {
    return this.#answer.headers;
  }

  async read(): Promise<readonly Buffer[] | undefined> {
    try {
      const reads = await this.#answer.read();
      if (reads === undefined) this.#end();
      else this.#reads.push(Buffer.concat(reads));
      return reads;
    } catch (thrown) {
      this.#end(asCrabError(thrown));
      throw thrown;
    }
  }

  finish(): void {
    this.#end();
    this.#answer.finish();
  }

  destroy(): void {
    this.#end();
    this.#answer.destroy();
  }

  #end(error?: CrabError): void {
    if (this.#over) return;
    this.#over = true;
    const { status, headers } = this.#answer;
    const body = bodyOf(this.#reads, this.#recorder);
    this.#recorder.write({
      type: 'exchange',
      ...this.#pending,
      answer: { status, headers: answerHeaders(headers), ...body },
      ...(error && { failure: failureOf(error, this.#recorder) }),
      endedAt: this.#recorder.step(),
    });
  }
}

function requestOf({ method, url, headers, body }: HttpRequest, { redact }: Recorder): Exchange['request'] {
  return {
    method,
    url: redact(url.href),
    headers: keptHeaders(headers, 'request'),
    ...(body !== undefined && { body: redact(Buffer.concat([...body]).toString()) }),
  };
}

/** A body that held a secret comes in one piece: where it was cut is no longer true of what is left. */
function bodyOf(reads: readonly Buffer[], { redact }: Recorder) {
  const whole = Buffer.concat([...reads]);
  const text = whole.toString();
  const isText = Buffer.from(text).equals(whole);
  const clean = isText
    ? redact(text)
    : Buffer.from(redact(whole.toString('latin1')), 'latin1').toString('base64');
  const bytes = Buffer.from(clean, isText ? 'utf8' : 'base64');
  const same = bytes.length === whole.length;
  return {
    ...(isText ? { text: clean } : { base64: clean }),
    reads: same ? reads.map(({ length }) => length) : [bytes.length],
  };
}

function failureOf({ code, message, retryable }: CrabError, { redact }: Recorder): Exchange['failure'] {
  return { code, message: redact(message), retryable };
}
