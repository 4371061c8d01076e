// Lines from a terminal or a pipe, edited by Node's readline where a person types.

import { createInterface } from 'node:readline';
import type { Lines } from '../channels/repl/lines.ts';

export interface TerminalLines {
  readonly lines: Lines;
  /** Calls the listener for every Ctrl-C that does not just clear a typed line; returns how to stop it. */
  onInterrupt(listener: () => void): () => void;
  close(): void;
}

export function createTerminal(isInteractive: boolean): TerminalLines {
  const { stdin, stdout } = process;
  const reader = createInterface({
    input: stdin,
    ...(isInteractive && { output: stdout, terminal: true }),
    // A pipe must not be read ahead of the prompts that it feeds.
    historySize: isInteractive ? 200 : 0,
  });
  const waiting: ((line: string | undefined) => void)[] = [];
  const ready: string[] = [];
  const listeners = new Set<() => void>();
  let closed = false;
  const interrupt = () => {
    for (const listener of [...listeners]) listener();
  };
  reader.on('line', (line) => {
    const next = waiting.shift();
    if (next === undefined) ready.push(line);
    else next(line);
  });
  reader.on('close', () => {
    closed = true;
    for (const next of waiting.splice(0)) next(undefined);
  });
  reader.on('SIGINT', () => {
    if (reader.line === '') return interrupt();
    // As in a shell: what was typed is given up, and nothing else happens.
    stdout.write('^C\n');
    reader.write(null, { ctrl: true, name: 'e' });
    reader.write(null, { ctrl: true, name: 'u' });
    reader.prompt();
  });
  process.on('SIGINT', interrupt);
  return {
    lines: {
      read: () => {
        const line = ready.shift();
        if (line !== undefined || closed) return Promise.resolve(line);
        return new Promise((resolve) => waiting.push(resolve));
      },
      prompt: (text) => {
        reader.setPrompt(text);
        if (isInteractive && text !== '' && !closed) reader.prompt(true);
      },
      // Readline edits one line: a line end in it would send it.
      prefill: (text) => {
        if (!closed) reader.write(text.replaceAll('\n', ' '));
      },
    },
    onInterrupt: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => {
      process.off('SIGINT', interrupt);
      reader.close();
    },
  };
}
