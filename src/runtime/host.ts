// What the front door hands the runtime: everything that touches the world. The runtime itself opens no file, starts
// no process and reads no clock, so that a test, a daemon and a command line build the same thing from it.

import type { Address } from '../core/conversation.ts';
import type { Event } from '../core/event.ts';
import type { Extension, TrustState } from '../core/extension.ts';
import type { Clock, Exec, Files, OpenProcess } from '../core/host.ts';
import type { Models } from '../core/model.ts';
import type { ShellSettings } from '../core/settings.ts';
import type { Tapes } from '../core/tape.ts';
import type { Histories } from '../parts/history/histories.ts';
import type { Memories } from '../parts/memory/scopes.ts';
import type { OpenJobs } from '../parts/process/jobs.ts';
import type { Confinement, ConfineOptions } from '../parts/sandbox/confine.ts';
import type { Ledger } from '../parts/usage/ledger.ts';

/** Folders for output that is too long to show, each made on first use with mode 0700. */
export interface Scratch {
  /** Where the folder of that name would be; it need not exist. */
  path(name: string): string;
  make(name: string): Promise<string>;
  write(name: string, file: string, text: string): Promise<string>;
  remove(name: string): Promise<void>;
}

export interface DelegatedTask {
  /** Who carried it out. */
  readonly agent: string;
  /** Its last words; empty when it came to nothing. */
  readonly result: string;
  /** The conversation that the first task came from. */
  readonly origin: Address;
}

/** What a conversation knows of its own confinement; the host knows the rest. */
export type ConfineRequest = Pick<
  ConfineOptions,
  'policy' | 'cwd' | 'directories' | 'scratch' | 'kept' | 'isPermitted'
>;

export interface RuntimeHost {
  readonly clock: Clock;
  /** ULIDs. */
  readonly newId: () => string;
  readonly models: Models;
  /** Where every request is written down, and what others spent is read. */
  readonly ledger: Ledger;
  readonly tapes: Tapes;
  /** For conversations that leave nothing behind. */
  readonly memoryTapes: Tapes;
  /** Where summaries are archived. */
  readonly memories: Memories;
  readonly files: Files;
  readonly exec: Exec;
  readonly open: OpenProcess;
  /** For the lines that the person types. */
  readonly shell?: ShellSettings | undefined;
  /** The background work of one conversation, with its output in `folder`. */
  readonly jobs: (folder: () => Promise<string>) => OpenJobs;
  /** Ends what escaped from its call; called when a run ends. */
  readonly sweep: () => Promise<void>;
  /** Confines what a conversation starts and writes. */
  readonly confine: (request: ConfineRequest) => Promise<Confinement>;
  /** Takes the secrets that are known at this moment out of a text (law 10). */
  readonly redact?: (text: string) => string;
  readonly scratch: Scratch;
  /** What files were before the runs that changed them; absent where none is kept. */
  readonly histories?: Histories;
  /** The person's home folder, for rules and paths that begin with `~/`. */
  readonly homeFolder: string | undefined;
  /** Folders that no permission rule opens for writing: Crab's own home. Absolute. */
  readonly guardedFolders?: readonly string[];
  /** Whether the person trusts the project of a folder, after `decision` if there is one. Throws `CrabError` (`storage-failed`). */
  readonly trust?: (cwd: string, decision: boolean | undefined) => Promise<TrustState>;
  /** Keeps a rule that the person always allows in a folder. Throws `CrabError` (`storage-failed`). */
  readonly keepRule?: (cwd: string, rule: string) => Promise<void>;
  /** Told when a task that an agent gave to another is over. Waits for nothing, and does not throw. */
  readonly delegated?: (task: DelegatedTask) => void;
  /** Told of everything that is said in a conversation which carries out a task. Waits for nothing, and does not throw. */
  readonly overheard?: (address: Address, events: readonly Event[]) => void;
  /** In order; the built-in ones among them. */
  readonly extensions: readonly Extension[];
}
