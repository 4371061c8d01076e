// Two streams that usually share one screen. The layout remembers which of them stands in the middle of a
// line, so that whatever comes next starts on a line of its own, and holds back the line ends of streaming
// text until more of it follows, so that output ends with exactly one.

export interface Piece {
  readonly to: 'out' | 'err';
  readonly text: string;
}

export interface Layout {
  /** Text that may go on where it stopped. */
  stream(to: Piece['to'], text: string): void;
  /** Whole lines. */
  line(to: Piece['to'], text: string): void;
  endLine(): void;
  /** What is to be written, in order, neighbours for the same stream joined. */
  take(): readonly Piece[];
}

export function createLayout(): Layout {
  let pieces: Piece[] = [];
  let open: Piece['to'] | undefined;
  let lineEnds = '';

  function push(to: Piece['to'], text: string): void {
    const last = pieces.at(-1);
    if (last?.to === to) pieces[pieces.length - 1] = { to, text: last.text + text };
    else pieces.push({ to, text });
  }

  function endLine(): void {
    if (open !== undefined) push(open, '\n');
    open = undefined;
    lineEnds = '';
  }

  return {
    stream(to, text) {
      if (open !== undefined && open !== to) endLine();
      let end = text.length;
      while (end > 0 && text[end - 1] === '\n') end--;
      if (end > 0) {
        push(to, lineEnds + text.slice(0, end));
        open = to;
        lineEnds = text.slice(end);
      } else if (open !== undefined) {
        lineEnds += text;
      }
    },
    line(to, text) {
      if (text === '') return;
      endLine();
      push(to, text);
    },
    endLine,
    take() {
      const taken = pieces;
      pieces = [];
      return taken;
    },
  };
}
