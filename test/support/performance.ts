// An answer, or what a fault makes of it, as the chunks that a real model would give after its own retries.

import { CrabError, type ErrorCode, type ErrorDetails } from '../../src/core/errors.ts';
import type { ModelChunk } from '../../src/core/model.ts';
import type { Answer } from '../../src/dev/answer.ts';
import type { Fault } from '../../src/dev/scenario.ts';
import { signatureOf } from '../../src/dev/signature.ts';

/** What a request is answered with. After a stall nothing comes until the signal aborts. */
export interface Performance {
  readonly chunks: readonly ModelChunk[];
  readonly stalls?: boolean;
  readonly delayMs?: number;
}

/** A performance that ends with a failure, after the chunks that had arrived. */
export function failing(
  code: ErrorCode,
  message: string,
  details: ErrorDetails = {},
  arrived: readonly ModelChunk[] = [],
): Performance {
  const error = new CrabError(code, message, details);
  return { chunks: [...arrived, { type: 'failure', error }] };
}

export function perform(answer: Answer, model: string, fault: Fault | undefined): Performance {
  const said = saidBy(answer, model);
  const calls = callsOf(answer);
  const all = [...said, ...calls];
  if (fault === undefined || 'badJson' in fault) return { chunks: [...all, endOf(answer)] };
  if ('stallAfter' in fault) return { chunks: firstBytes(all, fault.stallAfter), stalls: true };
  if ('cutAfter' in fault) {
    const { cutAfter } = fault;
    if (typeof cutAfter !== 'number' && cutAfter !== 'call') throw ofTheWire(cutAfter);
    // The opening of the first call and the first half of its arguments.
    const arrived = cutAfter === 'call' ? [...said, ...calls.slice(0, 2)] : firstBytes(all, cutAfter);
    return failing('stream-cut', 'the connection broke in the middle of the answer', {}, arrived);
  }
  if ('noStop' in fault) return failing('stream-cut', 'the answer ended without a stop reason', {}, all);
  if ('refuse' in fault) return failing('content-refused', 'the model refused to answer', {}, all);
  if ('errorEvent' in fault) return failing('provider-failed', fault.errorEvent.message, {}, said);
  if ('status' in fault) return rejection(fault);
  if ('overflow' in fault) return failing('context-overflow', 'the prompt is too long', { status: 400 });
  if ('html' in fault) return failing('provider-protocol', 'a web page came instead of a stream');
  if ('reset' in fault) return failing('network', 'the connection was reset', { retryable: true });
  throw ofTheWire(Object.keys(fault).join());
}

function ofTheWire(fault: string): Error {
  return new Error(`${fault} is a fault of bytes: take the fake provider`);
}

function rejection({ status, headers, message }: Extract<Fault, { status: number }>): Performance {
  const seconds = Number(headers?.['retry-after']);
  return failing(codeOf(status), message ?? `scripted error ${status}`, {
    status,
    retryable: status === 429 || status >= 500,
    ...(seconds > 0 && { retryAfterMs: seconds * 1000 }),
  });
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'auth-refused';
  if (status === 429) return 'rate-limited';
  if (status === 503 || status === 529) return 'provider-overloaded';
  return status >= 500 ? 'provider-failed' : 'provider-request';
}

function saidBy({ turn, thinking, text }: Answer, model: string): readonly ModelChunk[] {
  const chunks: ModelChunk[] = [{ type: 'messageStart', id: `scripted_${turn}`, model }];
  let index = 0;
  if (thinking.length > 0) {
    for (const delta of thinking) chunks.push({ type: 'thinkingDelta', index, delta });
    chunks.push({ type: 'thinkingSignature', index, signature: signatureOf(thinking.join('')) });
    chunks.push({ type: 'contentBlockStop', index: index++ });
  }
  if (text.length > 0) {
    for (const delta of text) chunks.push({ type: 'contentDelta', index, delta });
    chunks.push({ type: 'contentBlockStop', index });
  }
  return chunks;
}

function callsOf({ thinking, text, calls }: Answer): readonly ModelChunk[] {
  const first = (thinking.length > 0 ? 1 : 0) + (text.length > 0 ? 1 : 0);
  return calls.flatMap(({ id, name, arguments: deltas }, position): readonly ModelChunk[] => {
    const index = first + position;
    return [
      { type: 'toolUseStart', index, id, name },
      ...deltas.map((delta) => ({ type: 'toolUseDelta' as const, id, delta })),
      { type: 'contentBlockStop', index },
    ];
  });
}

function endOf({ stop, usage }: Answer): ModelChunk {
  // A refusal never gets this far: it is a fault.
  return { type: 'end', stopReason: stop === 'refusal' ? 'error' : stop, tokens: usage };
}

/** The chunks whose deltas fit into so many bytes together. */
function firstBytes(chunks: readonly ModelChunk[], most: number): readonly ModelChunk[] {
  let bytes = 0;
  const past = chunks.findIndex((chunk) => {
    if ('delta' in chunk) bytes += Buffer.byteLength(chunk.delta);
    return bytes > most;
  });
  return past < 0 ? chunks : chunks.slice(0, past);
}
