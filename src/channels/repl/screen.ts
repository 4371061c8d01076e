// What the REPL writes. All of it goes through one chain of writes, because a run and the clock that reports
// waits speak at the same time; a batch of events is one write.

import type { Event, RunEnd } from '../../core/event.ts';
import type { Sink } from '../../core/host.ts';
import { messageText } from '../../core/message.ts';
import type { Question } from '../../core/question.ts';
import { errorOf } from '../../faces/exit-code.ts';
import { createLayout } from '../../faces/layout.ts';
import { type Paint, paintFor } from '../../faces/paint.ts';
import { questionText } from '../../faces/question-text.ts';
import { BELL, eventText } from '../../faces/text.ts';
import { visible } from '../../faces/visible.ts';

export interface Screen {
  readonly paint: Paint;
  /** Resolves when the sink wants more. Rejects with `CrabError` when it is gone. */
  show(events: readonly Event[]): Promise<void>;
  /** Questions wait for their turn: the one that stands on the screen is the one that is answered. */
  ask(question: Question): Promise<void>;
  /** A line of the REPL's own. */
  say(line: string): Promise<void>;
  /** The last line, if there is one: nothing that a run still says comes behind it. */
  close(line: string): Promise<void>;
}

export function createScreen(stdout: Sink): Screen {
  const layout = createLayout();
  const paint = paintFor(stdout.colour);
  const look = { colour: stdout.colour };
  let answer = '';
  let thinking = '';
  let streaming: 'answer' | 'thinking' | undefined;
  let streamed = false;
  let closed = false;
  let tail = Promise.resolve();

  function write(): Promise<void> {
    const text = layout
      .take()
      .map((piece) => piece.text)
      .join('');
    // The chain stays broken once a write has failed: every later one rejects like the first.
    if (text !== '' && !closed) tail = tail.then(() => stdout.write(text));
    return tail;
  }

  function flush(): void {
    if (thinking !== '') stream('thinking', paint.dim(visible(thinking)));
    if (answer !== '') stream('answer', stdout.isTerminal ? visible(answer) : answer);
    answer = '';
    thinking = '';
  }

  function stream(kind: 'answer' | 'thinking', text: string): void {
    if (streaming !== undefined && streaming !== kind) layout.endLine();
    streaming = kind;
    layout.stream('out', text);
  }

  function line(text: string): void {
    if (text === '') return;
    streaming = undefined;
    layout.line('out', text);
  }

  /** Where the conversation simply goes on, the advice for a new command line would mislead. */
  function endText(end: RunEnd): string {
    if (end.outcome === 'cancelled') {
      const isTerminated = end.error?.code === 'terminated';
      const how = isTerminated ? end.error.message.replace(/\.$/, '') : 'Interrupted';
      return `${paint.dim(`${how}; what came so far is kept.`)}\n`;
    }
    // The refusal stands above, with what would allow it.
    if (end.error?.code === 'permission-refused') return '';
    if (end.outcome === 'turnLimit') return `${paint.yellow('!')} ${errorOf(end)?.message ?? ''}\n`;
    return eventText(end, look);
  }

  function see(event: Event): void {
    switch (event.type) {
      case 'contentDelta':
        if (thinking !== '') flush();
        answer += event.delta;
        streamed = true;
        return;
      case 'thinkingDelta':
        if (answer !== '') flush();
        thinking += event.delta;
        return;
    }
    flush();
    switch (event.type) {
      case 'messageStart':
        streamed = false;
        return;
      case 'messageEnd':
        if (!streamed) answer += messageText(event.message);
        flush();
        streamed = false;
        streaming = undefined;
        layout.endLine();
        return;
      case 'shellOutput':
        stream('answer', stdout.isTerminal ? visible(event.delta) : event.delta);
        return;
      case 'toolOutputDelta':
      case 'requestEnd':
      case 'question':
        return;
      case 'notification':
        line(`${stdout.isTerminal && event.urgent ? BELL : ''}${eventText(event, look)}`);
        return;
      case 'runEnd':
        layout.endLine();
        line(endText(event));
        return;
      default:
        line(eventText(event, look));
    }
  }

  return {
    paint,
    show(events) {
      for (const event of events) see(event);
      flush();
      return write();
    },
    ask(question) {
      line(questionText(question, stdout.colour));
      return write();
    },
    say(text) {
      line(`${text}\n`);
      return write();
    },
    close(text) {
      layout.endLine();
      if (text !== '') line(`${text}\n`);
      const written = write();
      closed = true;
      return written;
    },
  };
}
