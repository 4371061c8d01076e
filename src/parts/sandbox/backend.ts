// What a backend is given and what it gives back. It turns a command and a place into another command; it starts nothing.

import type { Keeper } from '../../core/host.ts';
import type { SandboxLimits } from '../../core/sandbox.ts';
import type { Network } from './network.ts';
import type { Place } from './place.ts';

/** `bridge`: only what passes through the proxy. */
export type Reach = 'none' | 'all' | 'bridge';

export interface Enclosure extends Place {
  /** Files and folders in the writable ones that stay as they are. */
  readonly covered: readonly string[];
  /** The folder that programs see as `/tmp`. */
  readonly temporary: string;
  /** Folders that stay readable where `/tmp` would hide them. */
  readonly shown: readonly string[];
  readonly reach: Reach;
  /** To be run in, unless it reaches `all`; absent: in one of its own. */
  readonly network?: Network;
  readonly unixSockets: boolean;
  readonly limits: SandboxLimits;
}

export interface Wrapped {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absent: the program itself is the main process. */
  readonly keeper?: Keeper;
}

export interface Backend {
  readonly name: 'bubblewrap' | 'landlock' | 'seatbelt' | 'wsl';
  /** What is protected in writable folders cannot be written; else it is put back afterwards. */
  readonly covers: boolean;
  /** What it refuses looks as if the file belonged to somebody else. */
  readonly deniesLikeOthers: boolean;
  /** Hosts can be allowed one by one. */
  readonly bridges: boolean;
  /** It keeps to what may be read, and what may be started can be kept inside of it. */
  readonly narrows: boolean;
  /** What it does not keep programs from, each in a few words. */
  readonly gaps: readonly string[];
  /** A network for several programs; absent where they cannot share one. Rejects where it cannot be made. */
  readonly makeNetwork?: () => Promise<Network>;
  wrap(argv: readonly string[], cwd: string, enclosure: Enclosure): Wrapped;
  /** What a program in it calls a path of ours; the same where it is absent. */
  readonly inside?: (path: string) => string;
  /** Why nothing was run, where the output says that the backend itself failed. */
  failure(output: string): string | undefined;
}
