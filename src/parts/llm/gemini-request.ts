// Requests of Google's Gemini API (ai.google.dev/api/generate-content). The history is contents of alternating roles:
// the API wants all results of an answer's calls in the one content that follows it, and refuses two contents of the
// model in a row where the second one calls, so messages of one kind that follow each other become one content.

import type {
  AssistantContent,
  AssistantMessage,
  DocumentContent,
  ImageContent,
  InputContent,
  Message,
  ToolResultMessage,
} from '../../core/message.ts';
import type { Effort, ModelRequest, ToolSchema } from '../../core/model.ts';
import { jsonBytes, jsonText, listBytes, type Remembered, rememberEach, rememberLast } from './fragments.ts';
import { geminiSchema } from './gemini-schema.ts';
import { createPrefix } from './prefix.ts';
import type { GeminiFamily, ThinkingBudget } from './provider-row.ts';

export const API = 'google-generative-ai';

export interface GeminiModel {
  readonly provider: string;
  readonly id: string;
  readonly maxOutput: number | undefined;
  /** Undefined for a model that does not think. */
  readonly family: GeminiFamily | undefined;
}

/** Tokens for thinking, where it is not told by levels. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  off: 0,
  low: 2048,
  medium: 8192,
  high: 16_384,
  max: 32_768,
};
/** Tokens that thinking must leave for the answer. */
const LEAST_ANSWER = 1024;

/** Stands for the signature of a call that another model made (ai.google.dev/gemini-api/docs/thought-signatures). */
const NO_SIGNATURE = 'skip_thought_signature_validator';

const COMMA = Buffer.from(',');
const OPEN_CONTENTS = Buffer.from(',"contents":[');
const CLOSE_BODY = Buffer.from(']}');
const CLOSE_CONTENT = Buffer.from(']}');
const OPEN_USER = Buffer.from('{"role":"user","parts":[');
const OPEN_MODEL = Buffer.from('{"role":"model","parts":[');
const OPEN_SHOWN = Buffer.from(',{"role":"user","parts":[{"text":"What the tools returned beside text:"},');

/** The parts of one message; what a result shows beside text waits for the last result where it cannot stand within. */
interface Fragment {
  readonly parts: Buffer;
  readonly shown: Buffer;
}

type FragmentOf = Remembered<Message, Fragment>;

export function createRequestEncoder(model: GeminiModel): (request: ModelRequest) => Buffer[] {
  const fragmentOf: FragmentOf = rememberEach((message) => encodeMessage(message, model));
  const toolsOf = rememberEach(encodeTools);
  const systemOf = rememberLast((text) =>
    Buffer.from(`,"systemInstruction":${jsonText({ parts: [{ text }] })}`),
  );
  const prefix = createPrefix();
  return (request) => {
    const { messages, system, tools } = request;
    const parts: Buffer[] = [Buffer.from(jsonText(requestHead(request, model)).slice(0, -1))];
    if (system.trim() !== '') parts.push(systemOf(system));
    if (tools.length > 0) parts.push(toolsOf(tools));
    parts.push(OPEN_CONTENTS);
    const settle = (from: number, to: number) => settledContents(messages.slice(from, to), fragmentOf);
    const settled = settledCount(messages, fragmentOf);
    parts.push(...prefix.upTo(messages, settled, settle));
    addContents(parts, messages.slice(settled), fragmentOf);
    parts.push(CLOSE_BODY);
    return parts;
  };
}

/** How many messages no later request will encode in another way. What follows them begins with a content of the model. */
function settledCount(messages: readonly Message[], fragmentOf: FragmentOf): number {
  // The last message may still become another.
  for (let at = messages.length - 2; at > 0; at--) {
    const [before, message] = [messages[at - 1], messages[at]];
    if (message?.role !== 'assistant' || before === undefined || before.role === 'assistant') continue;
    if (fragmentOf(message).parts.length > 0 && fragmentOf(before).parts.length > 0) return at;
  }
  return 0;
}

/** Whole contents with a comma behind them, for what comes next. */
function settledContents(messages: readonly Message[], fragmentOf: FragmentOf): readonly Buffer[] {
  const parts: Buffer[] = [];
  addContents(parts, messages, fragmentOf);
  if (parts.length > 0) parts.push(COMMA);
  for (const message of messages) fragmentOf.forget(message);
  return parts;
}

function addContents(out: Buffer[], messages: readonly Message[], fragmentOf: FragmentOf): void {
  let open: Message['role'] | undefined;
  let shown: Buffer[] = [];
  const close = () => {
    out.push(CLOSE_CONTENT);
    if (shown.length > 0) out.push(OPEN_SHOWN, ...separated(shown), CLOSE_CONTENT);
    shown = [];
  };
  for (const message of messages) {
    const fragment = fragmentOf(message);
    if (fragment.parts.length === 0) continue;
    if (message.role !== open) {
      if (open !== undefined) {
        close();
        out.push(COMMA);
      }
      out.push(message.role === 'assistant' ? OPEN_MODEL : OPEN_USER);
      open = message.role;
    } else {
      out.push(COMMA);
    }
    out.push(fragment.parts);
    if (fragment.shown.length > 0) shown.push(fragment.shown);
  }
  if (open !== undefined) close();
}

function separated(fragments: readonly Buffer[]): readonly Buffer[] {
  return fragments.flatMap((fragment, at) => (at === 0 ? [fragment] : [COMMA, fragment]));
}

function encodeTools(tools: readonly ToolSchema[]): Buffer {
  const functionDeclarations = tools.map(({ name, description, input }) => ({
    name,
    description,
    parametersJsonSchema: input,
  }));
  return Buffer.concat([Buffer.from(',"tools":'), jsonBytes([{ functionDeclarations }])]);
}

function requestHead(request: ModelRequest, model: GeminiModel): object {
  const maxOutputTokens = Math.min(request.maxTokens, model.maxOutput ?? request.maxTokens);
  const { output, toolChoice } = request;
  return {
    generationConfig: {
      maxOutputTokens,
      ...(model.family && { thinkingConfig: thinkingConfig(request.effort, model.family, maxOutputTokens) }),
      ...(output !== undefined && {
        responseMimeType: 'application/json',
        responseJsonSchema: geminiSchema(output.schema),
      }),
    },
    ...(toolChoice !== undefined && {
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [toolChoice] } },
    }),
    ...(request.fast && { serviceTier: 'priority' }),
  };
}

function thinkingConfig(effort: Effort | undefined, { thinking }: GeminiFamily, maxTokens: number): object {
  if (effort === undefined) return { includeThoughts: true };
  if (thinking.kind === 'level') return { includeThoughts: true, thinkingLevel: thinking.levels[effort] };
  if (effort === 'off' && thinking.canStop) return { thinkingBudget: 0 };
  return { includeThoughts: true, thinkingBudget: budgetFor(effort, thinking, maxTokens) };
}

function budgetFor(effort: Effort, { least, most }: ThinkingBudget, maxTokens: number): number {
  return Math.max(least, Math.min(BUDGETS[effort], most, maxTokens - LEAST_ANSWER));
}

function encodeMessage(message: Message, model: GeminiModel): Fragment {
  switch (message.role) {
    case 'user':
      return whole(inputParts(message.content));
    case 'assistant':
      return whole(modelParts(message, model));
    case 'toolResult':
      return encodeResult(message, model);
  }
}

function whole(parts: readonly object[]): Fragment {
  return { parts: listBytes(parts), shown: Buffer.alloc(0) };
}

function encodeResult(message: ToolResultMessage, model: GeminiModel): Fragment {
  const { toolCallId: id, toolName: name, content, isError } = message;
  const text = content
    .flatMap((block) => (block.type === 'text' && block.text !== '' ? [block.text] : []))
    .join('\n');
  const shown = content.flatMap((block) => (block.type === 'text' ? [] : [shownPart(block)]));
  const within = model.family?.modern === true;
  const said = text === '' && shown.length > 0 && !within ? 'What it returned follows.' : text;
  const functionResponse = {
    id,
    name,
    response: isError ? { error: said } : { output: said },
    ...(within && shown.length > 0 && { parts: shown }),
  };
  return { parts: listBytes([{ functionResponse }]), shown: listBytes(within ? [] : shown) };
}

function inputParts(content: string | readonly InputContent[]): readonly object[] {
  if (typeof content === 'string') return inputParts([{ type: 'text', text: content }]);
  return content.flatMap((block): object[] => {
    if (block.type !== 'text') return [shownPart(block)];
    return block.text === '' ? [] : [{ text: block.text }];
  });
}

function shownPart({ mimeType, data }: ImageContent | DocumentContent): object {
  return { inlineData: { mimeType, data } };
}

/** A signature is of use to the model that gave it, and refused by every other. */
function modelParts(message: AssistantMessage, model: GeminiModel): readonly object[] {
  const { api, provider, model: author } = message;
  const own = api === API && provider === model.provider && author === model.id;
  const first = message.content.find((block) => block.type === 'toolCall');
  return message.content.flatMap((block) => {
    // Of calls side by side only the first is signed.
    const isUnsigned = block === first && model.family?.modern === true;
    return modelPart(block, own, isUnsigned ? NO_SIGNATURE : undefined) ?? [];
  });
}

function modelPart(block: AssistantContent, own: boolean, fallback: string | undefined): object | undefined {
  switch (block.type) {
    case 'text':
      return block.text === '' ? undefined : { text: block.text, ...signed(own && block.textSignature) };
    case 'toolCall': {
      const { id, name, arguments: args } = block;
      return { functionCall: { id, name, args }, ...signed((own && block.thoughtSignature) || fallback) };
    }
    case 'thinking': {
      const signature = own && block.thinkingSignature;
      if (!signature) return undefined;
      return { text: block.thinking, ...(block.thinking !== '' && { thought: true }), ...signed(signature) };
    }
  }
}

function signed(thoughtSignature: string | false | undefined): object {
  return thoughtSignature ? { thoughtSignature } : {};
}
