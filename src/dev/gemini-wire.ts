// Google Gemini, streaming (ai.google.dev/api/generate-content). Parts arrive whole or as more text, calls always whole;
// from the third generation on, the first call of an answer is signed and calls have ids.

import type { JsonObject } from '../core/schema.ts';
import type { Answer, AnswerCall } from './answer.ts';
import { textOf } from './bytes.ts';
import { readGeminiHistory, signsCalls } from './gemini-history.ts';
import { googleCode, googleErrorBody } from './google-error.ts';
import { signatureOf } from './signature.ts';
import type { Asked, Wire, WireEvent } from './wire.ts';

const FINISH_REASONS: Readonly<Record<Answer['stop'], string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  toolUse: 'STOP',
  refusal: 'SAFETY',
};

export const geminiWire: Wire = {
  name: 'gemini',
  contentType: 'text/event-stream',
  countsCacheWrites: false,
  refusesToStream: ({ query }) =>
    new URLSearchParams(query).get('alt') === 'sse' ? undefined : 'ask :streamGenerateContent with ?alt=sse',
  history: ({ model, body }) => readGeminiHistory(model, body),

  render(answer, asked) {
    const chunk = chunkWriter(answer, asked);
    const signs = signsCalls(asked.model);
    const sealed = signs && answer.thinking.length > 0 && answer.calls.length === 0;
    const last = { text: '', ...(sealed && { thoughtSignature: callSignature('text') }) };
    return {
      said: [
        ...answer.thinking.map((text) => chunk([{ text, thought: true }])),
        ...answer.text.map((text) => chunk([{ text }])),
      ],
      calls: answer.calls.map((call, index) =>
        callEvent(call, { signed: signs && index === 0, signs, chunk }),
      ),
      closing: [chunk([last], { finishReason: FINISH_REASONS[answer.stop] })],
    };
  },

  frame: sse,
  ping: ': keep-alive\r\n\r\n',
  errorEvent: (type, message) => sse(googleErrorBody({ status: googleCode(type), type, message })),
  errorBody: googleErrorBody,
  overflow: {
    status: 400,
    message: 'The input token count (1210000) exceeds the maximum number of tokens allowed (1048576).',
  },
};

/** Google ends lines as HTTP does. */
function sse(event: WireEvent): string {
  return `data: ${textOf(event)}\r\n\r\n`;
}

type ChunkWriter = (parts: readonly JsonObject[], fields?: JsonObject) => JsonObject;

function chunkWriter(answer: Answer, { model }: Asked): ChunkWriter {
  const usageMetadata = usageOf(answer);
  return (parts, fields = {}) => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...fields }],
    usageMetadata,
    modelVersion: model,
    responseId: `fake-response-${answer.turn}`,
  });
}

/** Arguments that are no JSON can only be written by breaking the event that holds them. */
function callEvent(
  call: AnswerCall,
  how: { readonly signed: boolean; readonly signs: boolean; readonly chunk: ChunkWriter },
): WireEvent {
  const { signed, signs, chunk } = how;
  const json = call.arguments.join('');
  const id = signs ? { id: call.id } : {};
  const proof = signed ? { thoughtSignature: callSignature(call.name) } : {};
  const functionCall = { ...id, name: call.name, args: PLACE };
  return textOf(chunk([{ functionCall, ...proof }])).replace(JSON.stringify(PLACE), () => json);
}

const PLACE = '\u0000arguments';

/** Of the call of this name. Base64, as bytes are in Google's JSON. */
export function callSignature(name: string): string {
  return Buffer.from(signatureOf(name)).toString('base64');
}

/** On this wire, prompt tokens include what came from the cache. */
function usageOf({ usage, thinking }: Answer): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const thoughts = thinking.length > 0 ? Math.floor(usage.output / 2) : 0;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: usage.output - thoughts,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    totalTokenCount: prompt + usage.output,
  };
}
