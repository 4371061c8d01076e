// The network that the programs of one conversation share: a namespace with nothing in it but its loopback, so that what
// one command serves the next one reaches, and nobody else does. It lives by two descriptors of this process and not by a
// process of its own: nothing has to be looked after, nothing can die between two commands, and nothing is left when this
// process is killed. bubblewrap makes it, since it needs no further program to bring the loopback up.

import { closeSync, openSync, readlinkSync } from 'node:fs';
import type { OpenProcess } from '../../core/host.ts';

/** Files by which programs enter it, in the order in which they must: a user namespace, and the network that it owns. */
export interface Network {
  readonly user: string;
  readonly net: string;
  close(): void;
}

/** What is missing where programs cannot share one. */
export const NOT_SHARED = 'a server is reached by its own command alone';

const KINDS = ['user', 'net'] as const;

/** Milliseconds. */
const TIMEOUT_MS = 10_000;

/** Says what it runs in and its number as it is outside, and waits until somebody has hold of it. */
const SCRIPT = `
readlink ${KINDS.map((kind) => `/proc/self/ns/${kind}`).join(' ')} || exit
read -r pid rest </proc/self/stat && echo "$pid" && read -r rest
`;

/** `program` is bubblewrap's. Rejects where this machine makes none. */
export async function makeNetwork(program: string, open: OpenProcess): Promise<Network> {
  const own = ['--unshare-user', '--unshare-pid', '--unshare-net', '--cap-drop', 'ALL'];
  const life = ['--die-with-parent', '--new-session'];
  const argv = [program, ...own, ...life, '--ro-bind', '/', '/', '--', '/bin/sh', '-c', SCRIPT];
  const keeper = { descriptors: [] };
  const maker = await open({ argv, cwd: '/', keeper }, AbortSignal.timeout(TIMEOUT_MS));
  maker.ended.catch(() => {});
  try {
    const [user = '', net = '', pid = ''] = await firstLines(maker.stdout, 3);
    return held(pid, { user, net });
  } finally {
    maker.end();
  }
}

async function firstLines(output: AsyncIterable<Uint8Array>, count: number): Promise<readonly string[]> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of output) {
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split('\n');
    if (lines.length > count) return lines.slice(0, count);
  }
  throw new Error('bwrap made no network');
}

/** `said`: by which names it knows its namespaces. A number may be somebody else's by now, and none of ours is shared. */
function held(pid: string, said: Readonly<Record<(typeof KINDS)[number], string>>): Network {
  const descriptors: number[] = [];
  const close = () => {
    for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
  };
  const hold = (kind: (typeof KINDS)[number]): string => {
    const descriptor = openSync(`/proc/${pid}/ns/${kind}`, 'r');
    descriptors.push(descriptor);
    const name = readlinkSync(`/proc/self/fd/${descriptor}`);
    if (name !== said[kind] || name === readlinkSync(`/proc/self/ns/${kind}`))
      throw new Error(`${name} is no ${kind} namespace of its own`);
    return `/proc/${process.pid}/fd/${descriptor}`;
  };
  try {
    return { user: hold('user'), net: hold('net'), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** That of one conversation, made for the first program that needs it. */
export class SharedNetwork {
  #network: Promise<Network | undefined> | undefined;
  #users = 0;
  #isOver = false;

  /** Until what is returned is called, the files keep their meaning: a number of a descriptor is given out again. */
  use(): () => void {
    this.#users++;
    return () => {
      this.#users--;
      this.#closeUnused();
    };
  }

  /** For whoever uses it. Undefined where it cannot be: then a program has a network of its own. Never rejects. */
  async made(make: (() => Promise<Network>) | undefined): Promise<Network | undefined> {
    if (make === undefined || this.#isOver) return undefined;
    this.#network ??= make().catch(() => undefined);
    const making = this.#network;
    const network = await making;
    // The next program tries again.
    if (network === undefined && this.#network === making) this.#network = undefined;
    return network;
  }

  /** Takes effect when nobody uses it. */
  close(): void {
    this.#isOver = true;
    this.#closeUnused();
  }

  #closeUnused(): void {
    if (!this.#isOver || this.#users > 0) return;
    this.#network?.then((network) => network?.close());
    this.#network = undefined;
  }
}
