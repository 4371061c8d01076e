// One more line for failures that come from running without a person: only where the output itself shows
// it, because a wrong hint leads a model further astray than none.

const HINTS: readonly { readonly evidence: RegExp; readonly hint: string }[] = [
  {
    evidence: /problem with the editor|Terminal is dumb, but EDITOR unset/,
    hint: 'Hint: no editor opens here. Give the text as an argument (git commit -m), or set GIT_EDITOR or GIT_SEQUENCE_EDITOR to a command that edits the file.',
  },
  {
    evidence:
      /terminal prompts disabled|sudo: (?:a terminal|a password|no askpass|no tty)|read_passphrase|Permission denied \([a-z,-]*(?:publickey|password)|Host key verification failed/,
    hint: 'Hint: nobody can type a password or confirm a key here. Use credentials that are already set up, or ask the person to run it.',
  },
  {
    evidence: /\/dev\/std(?:out|err): No such device or address/,
    hint: 'Hint: /dev/stdout and /dev/stderr cannot be opened here. Write to >&1 or >&2.',
  },
  {
    evidence:
      /\/dev\/tty\b.*(?:No such device|cannot open|not configured)|not a t(?:ty|erminal)|Inappropriate ioctl/i,
    hint: 'Hint: there is no terminal here. Use the flags of the program that make it run unattended.',
  },
  {
    evidence: /EOFError: EOF when reading a line/,
    hint: 'Hint: standard input is empty. Pass the answers as arguments, or with a here-document.',
  },
];

/** How a line ends that asks for an answer. */
const QUESTION = /(?:[:?>]|[)\]]|\bpassword)\s*$/i;

/** `output` is that of a command that failed, or that ran out of time. */
export function hintFor(output: string, timedOut = false): string | undefined {
  const known = HINTS.find(({ evidence }) => evidence.test(output))?.hint;
  if (known !== undefined || !timedOut) return known;
  const last = output.slice(output.lastIndexOf('\n') + 1).trim();
  // A program that waits for an answer has not ended its line.
  if (output.endsWith('\n') || last.length > 200 || !QUESTION.test(last)) return undefined;
  return `Hint: it seems to wait for an answer to ${JSON.stringify(last)}. Give it as a flag (such as --yes) or by a pipe; to answer step by step, run it with pty and run_in_background and type with task_input.`;
}

const QUOTED = /'[^']*'|"(?:\\[\s\S]|[^"\\])*"/g;

/** A `&` that starts something beside the rest, and what makes it outlive a shell elsewhere. */
const DETACHED = /(?:^|[^&|<>\\])&(?![&>\d])\s*(?:$|[\s;)\w])|\b(?:nohup|disown|setsid)\b/m;

/** Undefined for a command that starts nothing beside itself, or waits for it. */
export function detachedHint(command: string): string | undefined {
  const code = command.replace(QUOTED, "''");
  if (!DETACHED.test(code) || /(?:^|[\s;&])wait\b/.test(code)) return undefined;
  return 'What it left running, if anything, was ended with it: use run_in_background, without &, for what is to go on.';
}
