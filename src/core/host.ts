// Everything outside the program that a tool may use, as interfaces. Parts implement them, tests and
// editors replace them, and a tool that holds only these runs as well on another machine.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go back. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Where text goes: standard output, a pipe, a terminal. One write at a time: the next waits for the one before. */
export interface Sink {
  /** A person reads it as it comes. */
  readonly isTerminal: boolean;
  /** Colours are wanted. */
  readonly colour: boolean;
  /** Resolves when more may follow. Rejects with `CrabError`: `output-closed` when the reader is gone, else `output-failed`. */
  write(text: string): Promise<void>;
}

export interface FileInfo {
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** What an `other` is, in a word: `FIFO`, `socket`, `device`. */
  readonly what?: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Permission bits, such as 0o644. */
  readonly mode: number;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileInfo['kind'];
}

/** Paths are absolute. Failures are `ToolFailure` with a sentence that names the path and the reason. */
export interface Files {
  /** Follows links unless told not to. Undefined when nothing is there. */
  info(path: string, options?: { readonly follow?: boolean }): Promise<FileInfo | undefined>;
  /** The path with every link resolved; of what does not exist, the nearest existing folder is resolved. */
  resolve(path: string): Promise<string>;
  /** Whole file, or `length` bytes from `offset`. Never blocks on what is no regular file: that fails. */
  read(path: string, range?: { readonly offset: number; readonly length: number }): Promise<Uint8Array>;
  /** Replaces the file in one step (temporary file, sync, rename), keeps its mode, makes missing folders. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  list(path: string): Promise<readonly DirectoryEntry[]>;
}

export interface ExecRequest {
  /** The program and its arguments; no shell takes part unless it is the program. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Added to the declared environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string | Uint8Array;
  /** Milliseconds after which the whole process tree is killed. */
  readonly timeoutMs?: number;
  /** Valid UTF-8 as it arrives, both streams in order of arrival. */
  readonly onOutput?: (text: string) => void;
  /** Bytes kept of each end of the output; the rest is counted and spilled. Default 16 KiB each. */
  readonly keep?: { readonly head: number; readonly tail: number };
  /** Where the whole output goes when more arrives than is kept; capped at 64 MiB. */
  readonly spillTo?: string;
  /** Keep the two streams apart. Default: `stdout` holds both in order of arrival. */
  readonly separate?: boolean;
}

export interface Captured {
  /** Valid UTF-8: the head, and the tail behind a line that says how much is missing between them. */
  readonly text: string;
  /** All bytes that arrived, kept or not. */
  readonly bytes: number;
  readonly lines: number;
  readonly truncated: boolean;
  /** The file with the whole of it, when it was spilled. */
  readonly spilledTo?: string;
}

export interface ExecResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdout: Captured;
  /** Empty unless `separate` was asked for. */
  readonly stderr: Captured;
  readonly durationMs: number;
}

/**
 * Runs a program to its end. Rejects with `ToolFailure` when it cannot be started, and with the signal's
 * reason when aborted; by then the whole process tree is gone. Standard input is closed unless given.
 */
export type Exec = (request: ExecRequest, signal: AbortSignal) => Promise<ExecResult>;
