// Lines from a terminal or a pipe, edited by Node's readline where a person types.

import { createInterface, type Key } from 'node:readline';
import type { Lines } from '../channels/repl/lines.ts';
import type { Sink } from '../core/host.ts';
import { createBracketedPaste } from './bracketed-paste.ts';
import { createTypedLine } from './typed-line.ts';

export interface TerminalLines {
  readonly lines: Lines;
  /** Calls the listener for every Ctrl-C that does not just clear a typed line; returns how to stop it. */
  onInterrupt(listener: () => void): () => void;
  /** The sink for output beside which somebody types. */
  sink(stdout: Sink): Sink;
  /** Leaves the terminal as it was. */
  close(): void;
}

export function createTerminal(isInteractive: boolean): TerminalLines {
  return isInteractive ? createEditor() : createPipe();
}

function createEditor(): TerminalLines {
  const { stdin, stdout } = process;
  const reader = createInterface({ input: stdin, output: stdout, terminal: true, historySize: 200 });
  const typed = createTypedLine(reader, stdout);
  const paste = createBracketedPaste((text) => stdout.isTTY && stdout.write(text));
  const queue = createQueue();
  const interrupts = createInterrupts();
  let closed = false;
  const onKey = (_text: string | undefined, key: Key) => {
    paste.onKey(key);
    if (!(key.ctrl === true && key.name === 'c')) typed.onKey(key.name);
  };
  // Before the editor's own listener, which was added first.
  stdin.prependListener('keypress', onKey);
  // However the process ends: the shell behind it must not meet our mode.
  process.once('exit', paste.disable);
  paste.enable();
  reader.on('line', (line) => {
    typed.onSent();
    queue.push(paste.mark(line));
  });
  reader.on('close', () => {
    closed = true;
    typed.close();
    queue.end();
  });
  reader.on('SIGCONT', paste.enable);
  reader.on('SIGINT', () => {
    // As in a shell: what was typed is given up, and nothing else happens.
    if (reader.line === '') interrupts.raise();
    else typed.giveUp();
  });
  return {
    lines: {
      read: queue.read,
      prompt: (text) => {
        if (!closed) typed.prompt(text);
      },
      // Readline edits one line: a line end in it would send it.
      prefill: (text) => {
        if (!closed) reader.write(text.replaceAll('\n', ' '));
      },
    },
    onInterrupt: interrupts.listen,
    sink: (sink) => (stdout.isTTY ? typed.sink(sink) : sink),
    close: () => {
      interrupts.close();
      stdin.off('keypress', onKey);
      paste.disable();
      process.off('exit', paste.disable);
      reader.close();
    },
  };
}

function createPipe(): TerminalLines {
  // A pipe must not be read ahead of the prompts that it feeds.
  const reader = createInterface({ input: process.stdin, historySize: 0 });
  const queue = createQueue();
  const interrupts = createInterrupts();
  reader.on('line', queue.push);
  reader.on('close', queue.end);
  return {
    lines: { read: queue.read, prompt: () => {}, prefill: () => {} },
    onInterrupt: interrupts.listen,
    sink: (sink) => sink,
    close: () => {
      interrupts.close();
      reader.close();
    },
  };
}

interface LineQueue {
  push(line: string): void;
  end(): void;
  /** The next line; undefined when there is no more. */
  read(): Promise<string | undefined>;
}

function createQueue(): LineQueue {
  const waiting: ((line: string | undefined) => void)[] = [];
  const ready: string[] = [];
  let ended = false;
  return {
    push(line) {
      const next = waiting.shift();
      if (next === undefined) ready.push(line);
      else next(line);
    },
    end() {
      ended = true;
      for (const next of waiting.splice(0)) next(undefined);
    },
    read() {
      const line = ready.shift();
      if (line !== undefined || ended) return Promise.resolve(line);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

interface Interrupts {
  raise(): void;
  listen(listener: () => void): () => void;
  close(): void;
}

/** Ctrl-C, whether the editor saw it or the system did. */
function createInterrupts(): Interrupts {
  const listeners = new Set<() => void>();
  const raise = () => {
    for (const listener of [...listeners]) listener();
  };
  process.on('SIGINT', raise);
  return {
    raise,
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => process.off('SIGINT', raise),
  };
}
