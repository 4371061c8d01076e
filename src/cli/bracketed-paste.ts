// Bracketed paste (xterm's mode 2004): the terminal says where pasted text begins and ends, so that its line ends
// do not send it. Node's readline passes the two marks over; they are put back into the lines, whose reader joins what
// stands between them.

import type { Key } from 'node:readline';

const ESCAPE = String.fromCharCode(0x1b);
const ENABLE = `${ESCAPE}[?2004h`;
const DISABLE = `${ESCAPE}[?2004l`;
const START = `${ESCAPE}[200~`;
const END = `${ESCAPE}[201~`;

export interface BracketedPaste {
  /** Call it with every key before the line editor sees it. */
  onKey(key: Key): void;
  /** A line of the editor with the marks that belong to it. */
  mark(line: string): string;
  enable(): void;
  disable(): void;
}

/** @param write to the terminal, at once */
export function createBracketedPaste(write: (text: string) => void): BracketedPaste {
  let pasting = false;
  /** A line of the paste has been handed on, and the end of it has not. */
  let open = false;
  let enabled = false;

  const enable = () => {
    if (!enabled) write(ENABLE);
    enabled = true;
  };
  const disable = () => {
    if (enabled) write(DISABLE);
    enabled = false;
  };
  return {
    enable,
    disable,
    onKey({ name, ctrl }) {
      if (name === 'paste-start') pasting = true;
      if (name === 'paste-end') pasting = false;
      // The shell that we are suspended to has a mode of its own.
      if (name === 'z' && ctrl === true) disable();
    },
    mark(line) {
      const wasOpen = open;
      open = pasting;
      if (wasOpen === pasting) return line;
      return pasting ? START + line : END + line;
    },
  };
}
