// The line that is being typed, and output that comes meanwhile: the line is taken off the screen, the output is written
// above it by whole lines, and the line is drawn again. While nothing stands there, output passes through untouched.

import { clearScreenDown, cursorTo, type Interface, moveCursor } from 'node:readline';
import type { Sink } from '../core/host.ts';

export interface TypedLine {
  /** Puts another prompt before what is typed; an empty one shows nothing but that. */
  prompt(text: string): void;
  /** A key is about to change what stands on the screen. */
  onKey(name: string | undefined): void;
  /** The line was sent: the cursor is on a new row, and nothing stands there. */
  onSent(): void;
  /** What was typed is given up, visibly. */
  giveUp(): void;
  /** Takes it off the screen for good; the editor is not asked again. */
  close(): void;
  /** The sink with the typed line kept below what is written. */
  sink(below: Sink): Sink;
}

export function createTypedLine(reader: Interface, output: NodeJS.WriteStream): TypedLine {
  /** The prompt stands on the screen. */
  let drawn = false;
  /** Output stands in the middle of a row. */
  let midRow = false;
  /** The beginning of a row that is not complete; it waits while a line is being typed. */
  let held = '';
  /** A key ended the row before the output did; the line end that comes is the one that was written then. */
  let endedEarly = false;

  let closed = false;

  const stands = () => !closed && (drawn || reader.line !== '');

  function erase(): void {
    if (!stands()) return;
    moveCursor(output, 0, -reader.getCursorPos().rows);
    cursorTo(output, 0);
    clearScreenDown(output);
  }

  function draw(): void {
    // The rows above the cursor that the editor would go up first: here there are none. It has no public name for
    // them, and loses count of them by itself when much is typed at once.
    Object.assign(reader, { prevRows: 0 });
    reader.prompt(true);
    drawn = reader.getPrompt() !== '';
  }

  function endRow(): void {
    if (midRow) output.write('\n');
    midRow = false;
  }

  async function write(below: Sink, text: string): Promise<void> {
    const all = held + (endedEarly ? text.replace(/^\n/, '') : text);
    endedEarly = false;
    const end = stands() ? all.lastIndexOf('\n') + 1 : all.length;
    held = all.slice(end);
    if (end === 0) return;
    const wasStanding = stands();
    erase();
    const written = below.write(all.slice(0, end));
    midRow = all[end - 1] !== '\n';
    if (wasStanding) draw();
    await written;
  }

  return {
    prompt(text) {
      erase();
      const redraw = text !== '' || reader.line !== '';
      drawn = false;
      reader.setPrompt(text);
      endRow();
      if (redraw) draw();
    },
    onKey(name) {
      // Much at once is not drawn with care by the editor.
      if (name === 'paste-end' && stands()) {
        erase();
        draw();
      }
      if (stands() || !midRow) return;
      // The editor begins a row for this key by itself.
      if (name === 'return' || name === 'enter') midRow = false;
      else endRow();
      endedEarly = true;
    },
    onSent() {
      drawn = false;
      if (held === '') return;
      output.write(held);
      held = '';
      midRow = true;
    },
    giveUp() {
      reader.write(null, { ctrl: true, name: 'e' });
      output.write('^C\n');
      Object.assign(reader, { prevRows: 0 });
      reader.write(null, { ctrl: true, name: 'u' });
    },
    close() {
      // What was typed and never sent stays to be seen; an empty prompt would only be in the way of the shell's.
      if (reader.line === '') erase();
      else if (stands()) output.write('\n');
      closed = true;
      if (held !== '') output.write(held);
      held = '';
    },
    sink: (below) => ({ ...below, write: (text) => write(below, text) }),
  };
}
