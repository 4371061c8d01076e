// What a run waits for, told from its events alone: the model, its tools, a person, or the pause before
// another try. A channel that knows this can say why nothing happens, and can tell a stuck provider from a
// tool that takes its time.

import type { Event } from '../core/event.ts';

export type Waiting =
  | { readonly kind: 'model'; readonly since: number }
  | { readonly kind: 'tools'; readonly names: readonly string[]; readonly since: number }
  | { readonly kind: 'person'; readonly since: number }
  | { readonly kind: 'retry'; readonly since: number; readonly until: number };

export interface Activity {
  /** Takes note of what arrived. Times are milliseconds of one clock that never goes back. */
  see(events: readonly Event[], now: number): void;
  /** `since` is when that last began, or when something last arrived from it. */
  waiting(): Waiting;
}

export function createActivity(now: number): Activity {
  let since = now;
  let retryUntil: number | undefined;
  const tools = new Map<string, { readonly name: string; readonly since: number }>();
  const questions = new Map<string, number>();

  function note(event: Event, at: number): void {
    switch (event.type) {
      case 'retry':
        retryUntil = at + event.delayMs;
        break;
      case 'messageStart':
        retryUntil = undefined;
        break;
      case 'toolStart':
        tools.set(event.id, { name: event.name, since: at });
        break;
      case 'toolResult':
        tools.delete(event.message.toolCallId);
        break;
      case 'shellStart':
        tools.set(SHELL, { name: 'the command', since: at });
        break;
      case 'compactStart':
        tools.set(COMPACTION, { name: 'a compaction', since: at });
        break;
      case 'compactEnd':
        tools.delete(COMPACTION);
        break;
      case 'shellEnd':
        tools.delete(SHELL);
        break;
      case 'question':
        questions.set(event.question.id, at);
        break;
      case 'questionAnswered':
        questions.delete(event.id);
        break;
    }
  }

  return {
    see(events, at) {
      since = at;
      for (const event of events) note(event, at);
    },
    waiting() {
      const [asked] = questions.values();
      if (asked !== undefined) return { kind: 'person', since: asked };
      const running = [...tools.values()];
      const oldest = running[0];
      if (oldest) return { kind: 'tools', names: running.map((tool) => tool.name), since: oldest.since };
      if (retryUntil !== undefined) return { kind: 'retry', since, until: retryUntil };
      return { kind: 'model', since };
    },
  };
}

/** A shell line has no call id, and a run has one shell line at most. */
const SHELL = '';

/** No call id begins so, and one compaction runs at a time. */
const COMPACTION = '\ncompaction';
