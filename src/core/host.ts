// Everything outside the program that a tool may use, as interfaces. Parts implement them, tests and
// editors replace them, and a tool that holds only these runs as well on another machine.

import type { JudgedPath } from './permission.ts';

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
  /**
   * Replaces the file in one step (temporary file, sync, rename), keeps its mode, makes missing folders. `resolved`: the
   * path comes from `resolve` and was judged; a link that has come into its way since makes this fail.
   */
  write(path: string, bytes: Uint8Array, options?: { readonly resolved?: boolean }): Promise<void>;
  /** Takes a file away, or a link and not what it leads to. Folders are refused. */
  remove(path: string): Promise<void>;
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /**
   * The same files for one call: a judged path, and what lies below it, is where it was when it was judged, and what
   * leads elsewhere meanwhile fails. Absent where links cannot be swapped, as in an editor's buffers.
   */
  bound?(paths: readonly JudgedPath[]): Files;
}

/**
 * The program that is started only keeps another one: it confines it, and ends when that one ends. So it is asked to end
 * last, and killing it kills what it keeps.
 */
export interface Keeper {
  /** What it finds open from descriptor 3 on. */
  readonly descriptors: readonly Descriptor[];
}

export type Descriptor =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** Both directions of a pipe. The stream is the host's own kind, on this machine a Duplex of Node. */
  | { readonly kind: 'channel'; connect(stream: unknown): void };

/** What a program and all that it starts may take together. Kept on Linux; elsewhere nobody sees whole trees. */
export interface Bounds {
  /** MiB, without what can be read again from files. Absent: nearly all that the machine has. */
  readonly memoryMib?: number;
  /** Processes and threads. */
  readonly processes?: number;
}

/** How a program is started, for whoever confines programs. */
export interface Confinable {
  /** Whoever goes over them is killed with its whole tree. */
  readonly bounds?: Bounds;
  readonly keeper?: Keeper;
  /** To be run outside the sandbox, which a person has allowed for this call. */
  readonly unconfined?: boolean;
}

export interface ExecRequest extends Confinable {
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
  /** It went over its bounds and was killed: a sentence with both figures. */
  readonly exceeded?: string;
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

export interface ProcessRequest extends Confinable {
  /** The program and its arguments; no shell takes part unless it is the program. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Added to the declared environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A terminal in place of pipes: `stdout` then holds both streams. Sizes in characters. */
  readonly terminal?: { readonly columns: number; readonly rows: number };
  /** Two more pipes: the program reads its descriptor 3 and writes its descriptor 4. */
  readonly channel?: boolean;
}

/** What a program is told and tells beside its standard streams. */
export interface ProcessChannel {
  /** As `RunningProcess.write`. */
  write(data: string | Uint8Array): Promise<void>;
  /** As it arrives; what is not pulled stops the program. */
  readonly output: AsyncIterable<Uint8Array>;
}

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** As in `ExecResult`; the program's output says it, too. */
  readonly exceeded?: string;
}

/** A child that lives on: a server, a background command. Its whole tree is gone when `ended` resolves. */
export interface RunningProcess {
  readonly pid: number;
  /** Resolves when more may follow. Rejects with `ToolFailure` when the program no longer reads. */
  write(data: string | Uint8Array): Promise<void>;
  /** Ends its standard input. */
  end(): void;
  /** As it arrives; what is not pulled stops the program. */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Of a program that was given one. */
  readonly channel?: ProcessChannel;
  readonly ended: Promise<ProcessEnd>;
  /** Of a terminal. */
  resize(columns: number, rows: number): void;
  /** SIGTERM, and SIGKILL when that does not help. Resolves when nothing of the tree is left. */
  kill(): Promise<void>;
}

/** Starts a program that outlives the call. Aborting the signal kills its tree. Rejects with `ToolFailure`. */
export type OpenProcess = (request: ProcessRequest, signal: AbortSignal) => Promise<RunningProcess>;
