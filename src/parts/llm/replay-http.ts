// Answers requests from a recording instead of a network. A request gets the answer that was recorded for the very same
// request; if there is none, the next one to the same address, since a date in a prompt must not make a recording useless.

import { CrabError } from '../../core/errors.ts';
import type { Cassette, Exchange } from './cassette.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';

export interface Player {
  /** Called with the times of the recording, as they were passed. */
  step(time: number): void;
  /** The request with this number (from 1) is not the one that was recorded. */
  differs(number: number): void;
  /** As on the recording. */
  redact(text: string): string;
}

export function replayHttp({ exchanges }: Cassette, player: Player): Http {
  const left = [...exchanges];
  let number = 0;
  return {
    async send(request, signal) {
      signal.throwIfAborted();
      number++;
      const exchange = take(left, request, player, number);
      player.step(exchange.sentAt);
      if (exchange.answer !== undefined) return new PlayedAnswer(exchange, player);
      player.step(exchange.endedAt);
      throw failureOf(exchange) ?? cut();
    },
  };
}

function take(
  left: Exchange[],
  { method, url, body }: HttpRequest,
  player: Player,
  number: number,
): Exchange {
  const text = body === undefined ? undefined : player.redact(Buffer.concat([...body]).toString());
  const path = addressOf(url.href);
  const fits = left.filter(({ request }) => request.method === method && addressOf(request.url) === path);
  const same = fits.find(({ request }) => request.body === text);
  const chosen = same ?? fits[0];
  if (chosen === undefined)
    throw new CrabError(
      'provider-protocol',
      `The recording has no answer for request ${number}: ${method} ${path}.`,
      {
        hint: 'Replay it with the prompt, the flags and the settings that it was recorded with.',
      },
    );
  if (same === undefined) player.differs(number);
  left.splice(left.indexOf(chosen), 1);
  return chosen;
}

/** Without the host, which a recording made elsewhere may not share. */
function addressOf(href: string): string {
  const { pathname, search } = new URL(href);
  return pathname + search;
}

class PlayedAnswer implements HttpAnswer {
  readonly status: number;
  readonly headers: HttpAnswer['headers'];
  readonly #exchange: Exchange;
  readonly #player: Player;
  readonly #reads: Buffer[];
  #over = false;

  constructor(exchange: Exchange, player: Player) {
    const { status = 0, headers = {}, reads = [] } = exchange.answer ?? {};
    this.status = status;
    this.headers = headers as HttpAnswer['headers'];
    this.#exchange = exchange;
    this.#player = player;
    let from = 0;
    const body = bytesOf(exchange);
    this.#reads = reads.map((length) => {
      from += length;
      return body.subarray(from - length, from);
    });
  }

  async read(): Promise<readonly Buffer[] | undefined> {
    const next = this.#reads.shift();
    if (next !== undefined) return [next];
    this.#end();
    const failure = failureOf(this.#exchange);
    if (failure !== undefined) throw failure;
    return undefined;
  }

  finish(): void {
    this.#end();
  }

  destroy(): void {
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#player.step(this.#exchange.endedAt);
  }
}

function bytesOf({ answer }: Exchange): Buffer {
  return answer?.base64 === undefined
    ? Buffer.from(answer?.text ?? '')
    : Buffer.from(answer.base64, 'base64');
}

function failureOf({ failure }: Exchange): CrabError | undefined {
  return failure && new CrabError(failure.code, failure.message, { retryable: failure.retryable });
}

function cut(): CrabError {
  return new CrabError('stream-cut', 'The recording ends before the answer.', { retryable: false });
}
