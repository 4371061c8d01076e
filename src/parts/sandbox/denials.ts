// What a program was kept from, as far as its own words tell: the kernel reports a refusal to the program alone. Nothing
// depends on this but what a person and a model are told.

import type { SandboxViolation } from '../../core/sandbox.ts';

type Kind = Extract<SandboxViolation['what'], 'write' | 'read' | 'exec' | 'network' | 'limit'>;

const READ_ONLY = [
  /(?:^|[\s'"‘(:])((?:\/|~\/|\.{1,2}\/)?[^\s:'"’]+)['"’]?: Read-only file system/m,
  /EROFS: read-only file system, \w+ '([^']+)'/,
  /(Read-only file system)/,
];

/** What a rule of the kernel's says, and a file of somebody else's, too: the path decides. */
const DENIED = [
  /(?:^|[\s'"‘(:])((?:\/|\.{1,2}\/)[^\s:'"’]+)['"’]?: (?:Permission denied|Operation not permitted)/gm,
  /(?:EACCES: permission denied|EPERM: operation not permitted), \w+ '([^']+)'/g,
];

const NETWORK = [
  /Could not resolve (?:host|proxy):? ['"]?([\w.-]+)/i,
  /(?:EAI_AGAIN|ENOTFOUND) ([\w.-]+)/,
  /unable to access 'https?:\/\/([^/']+)/,
  /(?:ECONNREFUSED|[Ff]ailed to connect to) ((?:127\.0\.0\.1|::1|localhost)\b)/,
  /unable to resolve host address [‘'"]?([\w.-]+)/,
  /(?:ENETUNREACH|Network is unreachable|Temporary failure in name resolution|Name or service not known)/,
];

const NO_MORE_PROCESSES = /fork: (?:retry: )?Resource temporarily unavailable|Cannot fork/;

/** Of a file that every program may lack the right to, what the sandbox alone keeps a program from, if anything. */
export type Kept = (path: string) => 'write' | 'read' | 'exec' | undefined;

export interface DenialsOptions {
  /** There is none. */
  readonly network: boolean;
  /** Its loopback is that of all commands of the conversation. */
  readonly shared?: boolean;
  /** For a backend whose refusals look like those of the system. */
  readonly kept?: Kept;
  /** So many at once may be. */
  readonly processes?: number | undefined;
}

const LOOPBACK = /^(?:127\.0\.0\.1|::1|localhost)$/;

/** At most one of each kind. */
export function denialsIn(
  output: string,
  { network, shared = false, kept, processes }: DenialsOptions,
): readonly SandboxViolation[] {
  const found = new Map<Kind, SandboxViolation>();
  const note = (what: Kind, target: string, detail = detailOf(what, target, shared)) => {
    if (!found.has(what)) found.set(what, { what, target, detail });
  };
  for (const [, target = ''] of firstMatches(output, READ_ONLY))
    note('write', target.startsWith('Read-only') ? '' : target);
  for (const sign of kept === undefined ? [] : DENIED)
    for (const [, target = ''] of output.matchAll(sign)) {
      const what = kept?.(target);
      if (what !== undefined) note(what, target);
    }
  if (network) for (const [, target = ''] of firstMatches(output, NETWORK)) note('network', target);
  if (processes !== undefined && NO_MORE_PROCESSES.test(output))
    note('limit', '', `A command may have ${processes} processes and threads at once (max_processes).`);
  return [...found.values()];
}

function firstMatches(output: string, signs: readonly RegExp[]): readonly RegExpExecArray[] {
  return signs.map((sign) => sign.exec(output)).filter((match) => match !== null);
}

function detailOf(what: Kind, target: string, shared: boolean): string {
  if (what === 'read') return `${target} is hidden in the sandbox.`;
  if (what === 'exec') return `${target} is none of the programs that may be started in the sandbox.`;
  if (what === 'write') return `${target === '' ? 'A file' : target} is read-only in the sandbox.`;
  if (LOOPBACK.test(target) && shared)
    return `In the sandbox ${target} is this conversation's own: servers of its running commands and jobs are reached, once they listen, and none of this machine's.`;
  if (LOOPBACK.test(target))
    return `In the sandbox ${target} is each command's own: a server that runs in another command or job is not reached. Start it and use it in one command.`;
  return target === ''
    ? 'The sandbox has no network.'
    : `The sandbox has no network: ${target} was not reached.`;
}
