// One assistant message while it arrives: chunks go in, the message comes out, whole or cut short. Blocks are kept
// by the index that the provider gave them, so that a stream may interleave them.

import { messageOf } from '../core/errors.ts';
import type { AssistantContent, AssistantMessage, StopReason, ToolCallContent } from '../core/message.ts';
import type { ModelChunk, ModelInfo } from '../core/model.ts';
import type { JsonObject } from '../core/schema.ts';
import { type TokenCounts, usageOf } from '../core/usage.ts';

type Block =
  | { readonly type: 'text'; text: string; signature?: string; citations?: JsonObject[] }
  | { readonly type: 'thinking'; text: string; signature?: string; redacted?: boolean }
  | {
      readonly type: 'toolCall';
      readonly id: string;
      readonly name: string;
      json: string;
      signature?: string;
      /** Set when the block is complete. */
      call?: ToolCallContent | BadCall;
    };

/** A call whose arguments are no JSON object: it is answered with an error and never run. */
export interface BadCall {
  readonly type: 'badCall';
  readonly id: string;
  readonly name: string;
  readonly reason: string;
}

export class Answer {
  readonly #info: ModelInfo;
  readonly #blocks = new Map<number, Block>();
  readonly #callIndex = new Map<string, number>();
  #text = '';

  constructor(info: ModelInfo) {
    this.#info = info;
  }

  /** All text so far, whatever block it stands in. */
  get text(): string {
    return this.#text;
  }

  /** All that was written, in whatever block. */
  written(): string {
    const blocks = [...this.#blocks.values()];
    return blocks.map((block) => (block.type === 'toolCall' ? block.json : block.text)).join('');
  }

  /** Takes a chunk; returns the call that it completed, if it did. */
  take(chunk: ModelChunk): ToolCallContent | BadCall | undefined {
    switch (chunk.type) {
      case 'contentDelta':
        this.#text += chunk.delta;
        this.#textBlock(chunk.index).text += chunk.delta;
        return undefined;
      case 'thinkingDelta':
        this.#thinkingBlock(chunk.index).text += chunk.delta;
        return undefined;
      case 'thinkingSignature': {
        const block = this.#thinkingBlock(chunk.index);
        block.signature = (block.signature ?? '') + chunk.signature;
        if (chunk.redacted === true) block.redacted = true;
        return undefined;
      }
      case 'textSignature':
        this.#textBlock(chunk.index).signature = chunk.signature;
        return undefined;
      case 'citation': {
        const block = this.#textBlock(chunk.index);
        block.citations ??= [];
        block.citations.push(chunk.citation);
        return undefined;
      }
      case 'thoughtSignature': {
        const block = this.#blocks.get(chunk.index);
        if (block?.type === 'toolCall') block.signature = chunk.signature;
        return undefined;
      }
      case 'toolUseStart':
        this.#blocks.set(chunk.index, {
          type: 'toolCall',
          id: chunk.id,
          name: allowed(chunk.name),
          json: '',
        });
        this.#callIndex.set(chunk.id, chunk.index);
        return undefined;
      case 'toolUseDelta': {
        const block = this.#blocks.get(this.#callIndex.get(chunk.id) ?? -1);
        if (block?.type === 'toolCall') block.json += chunk.delta;
        return undefined;
      }
      case 'contentBlockStop':
        return this.#stopBlock(chunk.index);
      default:
        return undefined;
    }
  }

  /** The message so far. One that was cut short holds only the calls that were complete. */
  message(how: {
    readonly stopReason: StopReason;
    readonly tokens: TokenCounts;
    readonly costUsd?: number;
    readonly timestamp: number;
    readonly errorMessage?: string;
  }): AssistantMessage {
    const { api, provider, id, price } = this.#info;
    return {
      role: 'assistant',
      content: this.#inOrder().flatMap(finished),
      api,
      provider,
      model: id,
      usage: usageOf(how.tokens, price, how.costUsd),
      stopReason: how.stopReason,
      ...(how.errorMessage !== undefined && { errorMessage: how.errorMessage }),
      timestamp: how.timestamp,
    };
  }

  #stopBlock(index: number): ToolCallContent | BadCall | undefined {
    const block = this.#blocks.get(index);
    if (block?.type !== 'toolCall' || block.call !== undefined) return undefined;
    block.call = readCall(block);
    return block.call;
  }

  #inOrder(): readonly Block[] {
    return [...this.#blocks.entries()].sort(([a], [b]) => a - b).map(([, block]) => block);
  }

  #textBlock(index: number): Extract<Block, { type: 'text' }> {
    const block = this.#blocks.get(index);
    if (block?.type === 'text') return block;
    const made: Extract<Block, { type: 'text' }> = { type: 'text', text: '' };
    this.#blocks.set(index, made);
    return made;
  }

  #thinkingBlock(index: number): Extract<Block, { type: 'thinking' }> {
    const block = this.#blocks.get(index);
    if (block?.type === 'thinking') return block;
    const made: Extract<Block, { type: 'thinking' }> = { type: 'thinking', text: '' };
    this.#blocks.set(index, made);
    return made;
  }
}

/**
 * A model may name a tool as no provider allows it; the name goes back with every later request, and each of them
 * would be refused (law 1). There is no tool of such a name, so nothing is lost by writing it another way.
 */
function allowed(name: string): string {
  if (TOOL_NAME.test(name)) return name;
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_TOOL_NAME) || 'unnamed';
}

const MAX_TOOL_NAME = 64;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function finished(block: Block): readonly AssistantContent[] {
  switch (block.type) {
    case 'text':
      if (block.text === '') return [];
      return [
        {
          type: 'text',
          text: block.text,
          ...(block.signature !== undefined && { textSignature: block.signature }),
          ...(block.citations !== undefined && { citations: block.citations }),
        },
      ];
    case 'thinking':
      return [
        {
          type: 'thinking',
          thinking: block.text,
          ...(block.signature !== undefined && { thinkingSignature: block.signature }),
          ...(block.redacted === true && { redacted: true }),
        },
      ];
    case 'toolCall':
      if (block.call === undefined) return [];
      // The history must hold the call that its error answers; its arguments were never an object.
      if (block.call.type === 'badCall')
        return [
          {
            type: 'toolCall',
            id: block.id,
            name: block.name,
            arguments: {},
            ...(block.signature !== undefined && { thoughtSignature: block.signature }),
          },
        ];
      return [block.call];
  }
}

function readCall(block: {
  readonly id: string;
  readonly name: string;
  readonly json: string;
  readonly signature?: string;
}): ToolCallContent | BadCall {
  const { id, name, signature } = block;
  const bad = (reason: string): BadCall => ({ type: 'badCall', id, name, reason });
  try {
    const value: unknown = block.json.trim() === '' ? {} : JSON.parse(block.json);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return bad('The arguments must be a JSON object.');
    if (isTooDeep(value)) return bad(`The arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep.`);
    return {
      type: 'toolCall',
      id,
      name,
      arguments: value as Record<string, unknown>,
      ...(signature !== undefined && { thoughtSignature: signature }),
    };
  } catch (error) {
    return bad(`The arguments are not valid JSON: ${messageOf(error)}`);
  }
}

/** What is nested deeper can be parsed, and then neither checked nor written: both call themselves for each level. */
const MAX_ARGUMENT_DEPTH = 64;

function isTooDeep(value: object): boolean {
  let level: readonly object[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= MAX_ARGUMENT_DEPTH) return true;
    level = level.flatMap((parent) => Object.values(parent).filter(isParent));
  }
  return false;
}

function isParent(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
