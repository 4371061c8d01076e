// What the front door hands the runtime: everything that touches the world. The runtime itself opens no file, starts
// no process and reads no clock, so that a test, a daemon and a command line build the same thing from it.

import type { Extension } from '../core/extension.ts';
import type { Clock, Exec, Files } from '../core/host.ts';
import type { Models } from '../core/model.ts';
import type { Tapes } from '../core/tape.ts';
import type { Histories } from '../parts/history/histories.ts';
import type { Memories } from '../parts/memory/memory-tools.ts';
import type { Ledger } from '../parts/usage/ledger.ts';

/** Folders for output that is too long to show, each made on first use with mode 0700. */
export interface Scratch {
  /** Where the folder of that name would be; it need not exist. */
  path(name: string): string;
  make(name: string): Promise<string>;
  write(name: string, file: string, text: string): Promise<string>;
  remove(name: string): Promise<void>;
}

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
  /** Ends what escaped from its call; called when a run ends. */
  readonly sweep: () => Promise<void>;
  /** Takes the secrets that are known at this moment out of a text (law 10). */
  readonly redact?: (text: string) => string;
  readonly scratch: Scratch;
  /** What files were before the runs that changed them; absent where none is kept. */
  readonly histories?: Histories;
  /** The person's home folder, for rules and paths that begin with `~/`. */
  readonly homeFolder: string | undefined;
  /** In order; the built-in ones among them. */
  readonly extensions: readonly Extension[];
}
