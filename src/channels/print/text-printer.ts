// The `text` format. A pipe gets the result and nothing else: the text of the last message, which is certain
// only when the run ends, so it is written then and deltas cost nothing. A terminal gets the text as it
// comes, and standard error gets what else happens, if somebody looks at it or asked for it.

import type { Event, RunEnd } from '../../core/event.ts';
import type { Sink } from '../../core/host.ts';
import { messageText } from '../../core/message.ts';
import { createLayout } from '../../faces/layout.ts';
import { paintFor } from '../../faces/paint.ts';
import { BELL, eventText } from '../../faces/text.ts';
import { visible } from '../../faces/visible.ts';
import type { Printer } from './printer.ts';

export interface TextOptions {
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Show what happens even if standard error is no terminal. */
  readonly verbose: boolean;
}

export function createTextPrinter({ stdout, stderr, verbose }: TextOptions): Printer {
  const live = stdout.isTerminal;
  const activity = verbose || stderr.isTerminal;
  const errLook = { colour: stderr.colour };
  const outLook = { colour: stdout.colour };
  const paint = paintFor(stderr.colour);
  const layout = createLayout();
  let answer = '';
  let thinking = '';
  let streamed = false;
  let printedResult = false;
  let printedError = false;

  /** Deltas are joined first, so that a batch of them is sanitised and laid out once. */
  function flush(): void {
    if (answer !== '') layout.stream('out', visible(answer));
    if (thinking !== '') layout.stream('err', paint.dim(visible(thinking)));
    answer = '';
    thinking = '';
  }

  function see(event: Event): void {
    switch (event.type) {
      case 'contentDelta':
        if (!live) return;
        if (thinking !== '') flush();
        answer += event.delta;
        streamed = true;
        return;
      case 'thinkingDelta':
        if (!activity) return;
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
        if (live && !streamed) layout.stream('out', visible(messageText(event.message)));
        streamed = false;
        layout.endLine();
        return;
      case 'shellOutput':
        printedResult = true;
        layout.stream('out', live ? eventText(event, outLook) : event.delta);
        return;
      case 'shellEnd':
        // A pipe gets what the line printed and nothing else, even when that was nothing.
        printedResult = true;
        if (activity) layout.line('err', eventText(event, errLook));
        return;
      case 'commandResult':
        command(event);
        return;
      case 'runEnd':
        end(event);
        return;
      case 'notice':
        if (event.level === 'warning' || activity) layout.line('err', eventText(event, errLook));
        return;
      case 'notification':
        layout.line('err', `${stderr.isTerminal && event.urgent ? BELL : ''}${eventText(event, errLook)}`);
        return;
      case 'requestEnd':
        if (verbose) layout.line('err', eventText(event, errLook));
        return;
      case 'permissionDenied':
      case 'sandboxViolation':
        layout.line('err', eventText(event, errLook));
        return;
      case 'toolOutputDelta':
      case 'question':
        return;
      default:
        if (activity) layout.line('err', eventText(event, errLook));
    }
  }

  function command(event: Extract<Event, { type: 'commandResult' }>): void {
    if (event.effect.kind === 'error') {
      printedError = true;
      layout.line('err', eventText(event, errLook));
    } else if (event.effect.kind !== 'channel') {
      printedResult = true;
      layout.line('out', live ? eventText(event, outLook) : lineOf(event.effect.text));
    }
  }

  function end(event: RunEnd): void {
    layout.endLine();
    const result = event.structured === undefined ? event.text : JSON.stringify(event.structured);
    const shown = (live && event.structured === undefined) || (event.turns === 0 && printedResult);
    if (!shown) layout.line('out', lineOf(live ? visible(result) : result));
    if (!(printedError && event.error?.code === 'command-failed'))
      layout.line('err', eventText(event, errLook));
    printedResult = false;
    printedError = false;
  }

  return {
    async print(events) {
      for (const event of events) see(event);
      flush();
      for (const { to, text } of layout.take()) {
        // Nobody loses a result because the log of the run went nowhere.
        if (to === 'out') await stdout.write(text);
        else await stderr.write(text).catch(() => {});
      }
    },
  };
}

/** The text with one line end at its end; empty text stays empty. */
function lineOf(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end--;
  return end === 0 ? '' : `${text.slice(0, end)}\n`;
}
