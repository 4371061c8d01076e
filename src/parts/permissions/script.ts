// The shape in which a command line is judged: its simple commands in the order in which they may run, with
// what is known of their words beforehand.

export interface Word {
  /** As it stands in the text. */
  readonly raw: string;
  /** With quotes and escapes removed and known variables put in; other expansions stay as they are written. */
  readonly value: string;
  readonly quoted: boolean;
  /** Holds an unquoted `*`, `?` or `[`, or stands for what one matched. */
  readonly glob: boolean;
  /** Part of its value is not known before it runs: `text` is one word whatever it holds, `words` any number of them. */
  readonly open?: 'text' | 'words';
  /** How many letters at the start of `value` are known although it is open. */
  readonly known?: number;
  /** A pattern that matches nothing that could be taken for an option. */
  readonly settled?: true;
  /** Stands for the output of a command, as `<(…)` does. */
  readonly fed?: true;
}

export interface Redirect {
  /** The target of `<<` is the text of the here-document, that of `<<<` what is handed over. */
  readonly operator: '<' | '>' | '<<' | '<<<' | '<>';
  readonly target: Word;
}

export interface SimpleCommand {
  readonly assignments: readonly Word[];
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  /** It reads something else than what is piped to it. */
  readonly isFed?: true;
  /** Something in it expands: its text is not what runs. */
  readonly expands: boolean;
  /** Absolute folders in which it may run. */
  readonly folders: readonly string[];
  /** Its input is what another command prints. */
  readonly piped: boolean;
  /** The words of the commands before it in its pipeline; undefined where one of them is no simple command. */
  readonly upstream: readonly (readonly Word[])[] | undefined;
  /** It stands beside others, where a person reads over it. */
  readonly chained: boolean;
  /** It calls a function that the text defines before. */
  readonly calls: boolean;
  /** The functions in whose bodies it stands. */
  readonly within: readonly string[];
  /** What the text hands to the programs that it starts, as `NAME=value`. */
  readonly exported: readonly Word[];
}

export interface Script {
  readonly commands: readonly SimpleCommand[];
  /** Why the text cannot be judged as it stands, as the end of a sentence: it … */
  readonly doubt: string | undefined;
}

export interface Circumstances {
  /** Absolute; where relative paths begin. */
  readonly cwd: string;
  readonly home?: string;
  /** Whether there is a folder of this absolute path, where that can be told. */
  readonly isFolder?: ((path: string) => boolean) | undefined;
  /** The links among what a pattern stands for in a folder, where that can be told; undefined where there are too many. */
  readonly linksIn?: ((folder: string, pattern: string) => readonly string[] | undefined) | undefined;
  /** Whether no name in the folder of this absolute path could be taken for an option, where that can be told. */
  readonly hasPlainNames?: ((path: string) => boolean) | undefined;
}

export const MAX_COMMAND_BYTES = 10_000;
export const MAX_COMMAND_PARTS = 50;

/** A word of our own making: quoted, so that nothing in it expands. */
export function textWord(value: string): Word {
  return { raw: value, value, quoted: true, glob: false };
}

/** A pattern that may turn into a name which begins with a dash, and so into an option. */
export function startsWithGlob({ glob, value, settled }: Word): boolean {
  return glob && settled !== true && /^[*?[]/.test(value);
}
