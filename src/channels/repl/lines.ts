// Where typed lines come from, and how lines become prompts. Editing, history and the drawing of what is
// typed belong to whoever implements `Lines`; this room only says what stands before it.

export interface Lines {
  /** The next line without its end; undefined when there is no more. One read at a time. */
  read(): Promise<string | undefined>;
  /** What stands before what is typed, from here on; empty for nothing. */
  prompt(text: string): void;
  /** Puts text where it can be edited and sent; it may have several lines. */
  prefill(text: string): void;
}

export interface LineAssembler {
  /** The whole prompt, or undefined while more of it is to come. */
  add(line: string): string | undefined;
  /** What came so far, as it stands. Starts anew. */
  flush(): string;
}

const ESCAPE = String.fromCharCode(0x1b);

// Bracketed paste (xterm's mode 2004): what is pasted comes between these two.
const PASTE_START = `${ESCAPE}[200~`;
const PASTE_END = `${ESCAPE}[201~`;

/** A prompt of several lines: each but the last ends with a backslash, or all of it is pasted. */
export function createLineAssembler(): LineAssembler {
  let lines: string[] = [];
  let pasting = false;

  function flush(): string {
    const text = lines.join('\n');
    lines = [];
    pasting = false;
    return text;
  }

  return {
    add(line) {
      if (line.includes(PASTE_START)) pasting = true;
      if (line.includes(PASTE_END)) pasting = line.lastIndexOf(PASTE_START) > line.lastIndexOf(PASTE_END);
      const text = line.replaceAll(PASTE_START, '').replaceAll(PASTE_END, '');
      const goesOn = !pasting && endsInOpenBackslash(text);
      lines.push(goesOn ? text.slice(0, -1) : text);
      return pasting || goesOn ? undefined : flush();
    },
    flush,
  };
}

/** An even number of backslashes at the end is text: each pair is an escaped one. */
function endsInOpenBackslash(line: string): boolean {
  let count = 0;
  while (line[line.length - 1 - count] === '\\') count++;
  return count % 2 === 1;
}
