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

/** `output` is that of a command that failed. */
export function hintFor(output: string): string | undefined {
  return HINTS.find(({ evidence }) => evidence.test(output))?.hint;
}
