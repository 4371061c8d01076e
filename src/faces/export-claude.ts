// The branch of a session as Claude Code keeps its own (`~/.claude/projects/<folder>/<uuid>.jsonl`): a chain of
// messages of the Anthropic API, each line with a uuid and that of its parent. Only what the model still sees after the
// last compaction counts there, so a compaction is followed by the messages that it kept, told again.

import { ANCHOR_ENTRY, type Anchor, SHELL_ENTRY, type ShellRecord } from '../core/custom.ts';
import {
  type AssistantMessage,
  type Message,
  toolCalls,
  type UserMessage,
  userMessage,
} from '../core/message.ts';
import type { Entry, TapeReader } from '../core/tape.ts';
import { apiAssistant, apiInput, apiToolResult } from './api-message.ts';
import { jsonLine } from './json-line.ts';
import type { Redact } from './redaction.ts';

/** What writes lines says in each which version it is; readers only compare it with others of the same file. */
const VERSION = '2.0.0';

export interface ClaudeExport {
  readonly reader: TapeReader;
  readonly edited: (entry: Entry) => Entry;
  readonly redact: Redact;
}

export function* exportClaude({ reader, edited, redact }: ClaudeExport): Generator<string> {
  const chain = new Chain(reader.header.id, reader.header.cwd);
  for (const whole of reader.branch()) {
    const entry = edited(whole);
    if (entry.type === 'compaction') {
      yield* chain.boundary(entry, entry.summary, entry.tokensBefore);
      const kept = { from: entry.firstKeptEntryId, to: entry.parentId };
      for (const before of reader.branch(kept)) yield* chain.take(edited(before));
    } else if (entry.type === 'custom' && entry.customType === ANCHOR_ENTRY) {
      const { name, summary } = entry.data as Anchor;
      yield* chain.boundary(
        entry,
        summary === '' ? `The conversation starts afresh here (${name}).` : summary,
        0,
      );
    } else {
      yield* chain.take(entry);
    }
  }
  yield* chain.closeCalls();
  const { name } = reader.info();
  if (name !== undefined) yield chain.title(redact(name));
}

class Chain {
  readonly #session: string;
  readonly #cwd: string;
  #last: string | null = null;
  #count = 0;
  #open = new Map<string, string>();

  constructor(id: string, cwd: string) {
    this.#session = uuidOf(id);
    this.#cwd = cwd;
  }

  *take(entry: Entry): Generator<string> {
    const { id } = entry;
    const message = messageOf(entry);
    if (message === undefined) return;
    if (message.role === 'toolResult') {
      // Without its call the provider would refuse the whole history (law 1).
      if (!this.#open.delete(message.toolCallId)) return;
      yield this.#line(id, entry.timestamp, 'user', { role: 'user', content: [apiToolResult(message)] });
      return;
    }
    yield* this.closeCalls(entry.timestamp);
    if (message.role === 'user') {
      yield this.#line(id, entry.timestamp, 'user', { role: 'user', content: userContent(message) });
      return;
    }
    const said = sayable(message);
    if (said.content.length === 0) return;
    for (const call of toolCalls(said)) this.#open.set(call.id, call.name);
    yield this.#line(id, entry.timestamp, 'assistant', apiAssistant(said, `msg_${id}`));
  }

  /** Nothing before it is seen any more; the summary is. */
  *boundary({ id, timestamp }: Entry, summary: string, preTokens: number): Generator<string> {
    yield* this.closeCalls(timestamp);
    const before = this.#last;
    this.#last = null;
    yield this.#line(id, timestamp, 'system', undefined, {
      logicalParentUuid: before,
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      compactMetadata: { trigger: 'manual', preTokens },
    });
    yield this.#line(id, timestamp, 'user', { role: 'user', content: summary }, { isCompactSummary: true });
  }

  /** Answers what was never answered. */
  *closeCalls(timestamp = new Date(0).toISOString()): Generator<string> {
    for (const id of this.#open.keys()) {
      const content = [
        {
          type: 'tool_result',
          tool_use_id: id,
          content: 'This call was interrupted before it ended.',
          is_error: true,
        },
      ];
      yield this.#line(id, timestamp, 'user', { role: 'user', content });
    }
    this.#open = new Map();
  }

  title(name: string): string {
    return jsonLine({ type: 'summary', summary: name, leafUuid: this.#last });
  }

  #line(id: string, timestamp: string, type: string, message?: object, more: object = {}): string {
    const uuid = uuidOf(`${this.#session}/${id}/${this.#count++}`);
    const parentUuid = this.#last;
    this.#last = uuid;
    return jsonLine({
      parentUuid,
      ...{ isSidechain: false, userType: 'external', cwd: this.#cwd, sessionId: this.#session },
      ...{ version: VERSION, gitBranch: '', type },
      ...(message !== undefined && { message }),
      ...more,
      uuid,
      timestamp,
    });
  }
}

function messageOf(entry: Entry): Message | undefined {
  const time = Date.parse(entry.timestamp);
  switch (entry.type) {
    case 'message':
      return ['user', 'assistant', 'toolResult'].includes(entry.message.role) ? entry.message : undefined;
    case 'branch_summary':
      return userMessage(entry.summary, time);
    case 'custom_message':
      return userMessage(entry.content, time);
    case 'custom': {
      if (entry.customType !== SHELL_ENTRY) return undefined;
      const { command, output } = entry.data as ShellRecord;
      return userMessage(`$ ${command}\n${output}`, time);
    }
    default:
      return undefined;
  }
}

function userContent({ content }: UserMessage): string | readonly object[] {
  return typeof content === 'string' ? content : content.map(apiInput);
}

/** Thinking of another provider has no signature that Anthropic would take back. */
function sayable(message: AssistantMessage): AssistantMessage {
  const content = message.content.filter((block) =>
    block.type === 'thinking'
      ? message.api === 'anthropic-messages' && Boolean(block.thinkingSignature)
      : block.type !== 'text' || block.text.trim() !== '',
  );
  return { ...message, content };
}

/** A uuid that the same text always has (FNV-1a of 128 bits; isthe.com/chongo/tech/comp/fnv), marked as version 8. */
function uuidOf(text: string): string {
  let hash = 0x6c62272e07bb014262b821756295c58dn;
  for (const letter of new TextEncoder().encode(text))
    hash = BigInt.asUintN(128, (hash ^ BigInt(letter)) * 0x0000000001000000000000000000013bn);
  const digits = [...hash.toString(16).padStart(32, '0')];
  digits[12] = '8';
  digits[16] = '8';
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
