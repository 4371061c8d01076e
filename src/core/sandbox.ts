// How programs that tools start are confined, as data. The edge decides it once for a conversation; nothing that a
// model says can widen it. Confinement is a check of its own beside rules and modes (law 8): a mode lifts none of it.

/**
 * `required`: what cannot be confined is not run. `preferred`: where nothing can confine, only what an allow rule names
 * or what provably only reads runs without a question. `off`: programs run with all rights of the person.
 */
export const SANDBOX_MODES = ['required', 'preferred', 'off'] as const;

export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** What programs reach beside their own loopback: nothing, everything, or the hosts that are named. */
export type SandboxNetwork = 'none' | 'all' | SandboxHosts;

export interface SandboxHosts {
  /** Host names; `*.example.org` stands for every name below it and not for itself. An empty list is `none`. */
  readonly hosts: readonly string[];
  /** Names among them that may be private addresses, such as a registry in the office. */
  readonly privateHosts: readonly string[];
}

/** They hold in every mode. Absent: as the system has it, but for those of whole trees, which have a default. */
export interface SandboxLimits {
  /** MiB of one file. */
  readonly fileMib?: number;
  /** Seconds of processor time of one process. */
  readonly cpuSeconds?: number;
  /** Processes and threads at once, of a command and all that it starts. */
  readonly processes?: number;
  /** MiB of memory, of a command and all that it starts. */
  readonly memoryMib?: number;
}

export interface SandboxPolicy {
  readonly mode: SandboxMode;
  /** Folders that may be written beside the workspace. Absolute. */
  readonly writable: readonly string[];
  /** Files and folders that may not be read. Absolute; what is not there is passed over. */
  readonly unreadable: readonly string[];
  /** Of all else only these files and folders, and what a system needs to start programs, may be read. Absolute. */
  readonly readable?: readonly string[];
  /** Programs, and folders of programs, beside which none may be started. Absolute. Absent: any. */
  readonly executable?: readonly string[];
  readonly network: SandboxNetwork;
  /** Programs may use sockets of this machine (AF_UNIX): also those of its services, such as Docker's. */
  readonly unixSockets: boolean;
  readonly limits: SandboxLimits;
  /** A model may ask to run a command outside; a person decides each time. Never in mode `required`. */
  readonly mayAskToLeave: boolean;
}

export const SANDBOX_OFF: SandboxPolicy = {
  mode: 'off',
  writable: [],
  unreadable: [],
  network: 'all',
  unixSockets: true,
  limits: {},
  mayAskToLeave: false,
};

/** Something that a confined program or a file tool was kept from. */
export interface SandboxViolation {
  readonly what: 'write' | 'read' | 'exec' | 'network' | 'planted' | 'limit';
  /** A path or a host with its port; empty where it is not known. */
  readonly target: string;
  /** One sentence for the person and the model alike. */
  readonly detail: string;
}

/** Of two policies for the same programs, what both allow. */
export function tightest(one: SandboxPolicy, other: SandboxPolicy): SandboxPolicy {
  const strict = Math.min(SANDBOX_MODES.indexOf(one.mode), SANDBOX_MODES.indexOf(other.mode));
  return {
    mode: SANDBOX_MODES[strict] ?? 'required',
    writable: one.writable.filter((path) => other.writable.includes(path)),
    unreadable: [...new Set([...one.unreadable, ...other.unreadable])],
    ...only('readable', one.readable, other.readable),
    ...only('executable', one.executable, other.executable),
    network: narrower(one.network, other.network),
    unixSockets: one.unixSockets && other.unixSockets,
    limits: smallest(one.limits, other.limits),
    mayAskToLeave: one.mayAskToLeave && other.mayAskToLeave,
  };
}

/** What both lists hold; where one is absent, the other. */
function only<Name extends string>(
  name: Name,
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): { readonly [Key in Name]?: readonly string[] } {
  if (one === undefined && other === undefined) return {};
  const both =
    one === undefined || other === undefined ? (one ?? other) : one.filter((path) => other.includes(path));
  return { [name]: both } as { readonly [Key in Name]?: readonly string[] };
}

function narrower(one: SandboxNetwork, other: SandboxNetwork): SandboxNetwork {
  if (one === 'none' || other === 'none') return 'none';
  if (one === 'all') return other;
  if (other === 'all') return one;
  const both = (a: readonly string[], b: readonly string[]) => a.filter((host) => b.includes(host));
  return {
    hosts: both(one.hosts, other.hosts),
    privateHosts: both(one.privateHosts, other.privateHosts),
  };
}

function smallest(one: SandboxLimits, other: SandboxLimits): SandboxLimits {
  const merged: Record<string, number> = { ...one };
  for (const [name, value] of Object.entries(other))
    merged[name] = Math.min(merged[name] ?? Number.POSITIVE_INFINITY, value);
  return merged;
}
