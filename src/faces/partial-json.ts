// A message as it arrives, as the events of the Anthropic streaming API
// (platform.claude.com/docs/en/build-with-claude/streaming). That format opens a block before its first delta
// and closes what it opened; our events leave the opening out, so this face remembers which blocks are open.

import type { Event } from '../core/event.ts';
import type { StopReason } from '../core/message.ts';
import { NO_USAGE, type Usage } from '../core/usage.ts';
import { apiStopReason, apiUsage } from './api-message.ts';

export interface PartialMessage {
  /** What one event adds; nothing for events that are not part of a message. */
  see(event: Event): readonly object[];
  /** Closes the blocks that are still open. */
  endBlocks(): readonly object[];
  /** Closes the message; nothing when none is open. */
  end(reason: StopReason, usage: Usage): readonly object[];
}

const NOTHING: readonly object[] = [];

export function createPartialMessage(): PartialMessage {
  let open = false;
  const blocks = new Set<number>();
  const calls = new Map<string, number>();

  function start(index: number, block: object): readonly object[] {
    blocks.add(index);
    return [{ type: 'content_block_start', index, content_block: block }];
  }

  function delta(index: number, fields: object, block: object): readonly object[] {
    const event = { type: 'content_block_delta', index, delta: fields };
    return blocks.has(index) ? [event] : [...start(index, block), event];
  }

  function see(event: Event): readonly object[] {
    switch (event.type) {
      case 'messageStart': {
        const before = [...endBlocks(), ...end('error', NO_USAGE)];
        open = true;
        return [...before, messageStart(event.id, event.model)];
      }
      case 'contentDelta':
        return delta(event.index, { type: 'text_delta', text: event.delta }, { type: 'text', text: '' });
      case 'thinkingDelta':
        return delta(event.index, { type: 'thinking_delta', thinking: event.delta }, EMPTY_THINKING);
      case 'toolUseStart':
        calls.set(event.id, event.index);
        return start(event.index, { type: 'tool_use', id: event.id, name: event.name, input: {} });
      case 'toolUseDelta': {
        const index = calls.get(event.id);
        if (index === undefined) return NOTHING;
        const fields = { type: 'input_json_delta', partial_json: event.delta };
        return [{ type: 'content_block_delta', index, delta: fields }];
      }
      case 'contentBlockStop':
        return blocks.delete(event.index) ? [{ type: 'content_block_stop', index: event.index }] : NOTHING;
      default:
        return NOTHING;
    }
  }

  function endBlocks(): readonly object[] {
    const stops = [...blocks].map((index) => ({ type: 'content_block_stop', index }));
    blocks.clear();
    calls.clear();
    return stops;
  }

  function end(reason: StopReason, usage: Usage): readonly object[] {
    if (!open) return NOTHING;
    open = false;
    const stop = { stop_reason: apiStopReason(reason), stop_sequence: null };
    return [{ type: 'message_delta', delta: stop, usage: apiUsage(usage) }, { type: 'message_stop' }];
  }

  return { see, endBlocks, end };
}

const EMPTY_THINKING = { type: 'thinking', thinking: '', signature: '' };

function messageStart(id: string, model: string): object {
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: apiUsage(NO_USAGE),
  };
  return { type: 'message_start', message };
}
