// What is promised of the sandbox, tried many times: races between a confined program that swaps folders for links and
// the file tools beside it, and between the program and the mounts it lives under; conversations that begin and end beside
// one another and their networks; survivors; what a command costs.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '../../src/parts/sandbox/backend.ts';
import { createGround, type Ground } from '../support/sandbox.ts';
import { realClock } from '../support/tool-context.ts';

export interface SandboxCampaign {
  readonly backend: Backend['name'];
  readonly tries: number;
  /** Writes files in place of the file tools, for a planted fault. */
  readonly write?: (path: string) => Promise<void>;
}

export interface SandboxReport {
  readonly tries: number;
  /** Files that appeared outside the workspace. */
  readonly escapes: readonly string[];
  /** Writes of the file tools that ended in the workspace. */
  readonly landed: number;
  /** Processes that outlived their command. */
  readonly survivors: number;
  /** Programs that came to a server of another conversation. */
  readonly strangers: number;
  /** Median milliseconds of a command. */
  readonly confinedMs: number;
  readonly bareMs: number;
}

const SIGNAL = new AbortController().signal;

/** Swaps a folder for a link that leads out, as fast as it can. */
const SWAPPER = `
$| = 1; mkdir "real"; print "up\\n";
for (my $n = 0; ; ) {
  rename("real", "aside$n"); symlink("../outside", "real");
  unlink("real"); rename("aside$n", "real") or $n++;
}`;

/** Moves what is covered away, puts another in its place, and follows links and mounts out, each time anew. */
const MOVER = `
sub put { open(my $file, ">", $_[0]) and print $file "x" }
for my $i (1 .. $ARGV[0]) {
  rename("repo", "moved$i"); mkdir "repo"; mkdir "repo/.git"; mkdir "repo/.git/hooks";
  put("repo/.git/hooks/pre-commit");
  symlink("../outside", "link$i"); put("link$i/planted$i");
  symlink("/", "root$i"); put("root$i$ARGV[1]/planted$i");
  syscall(165, "../outside", "repo", 0, 4096, 0); put("repo/planted$i");
  syscall(166, "moved$i/.git/hooks", 2); put("moved$i/.git/hooks/pre-push");
  unlink("repo/planted$i", "repo/.git/hooks/pre-commit"); rmdir "repo/.git/hooks"; rmdir "repo/.git"; rmdir "repo";
  rename("moved$i", "repo");
}
mkdir "repo/.git/hooks"; put("repo/.git/hooks/post-merge");`;

export async function runSandboxCampaign(campaign: SandboxCampaign): Promise<SandboxReport> {
  await using ground = createGround({ sandbox: { only: campaign.backend } });
  const landed = await raceFileTools(ground, campaign);
  await raceMounts(ground, campaign.tries);
  const survivors = await countSurvivors(ground, Math.ceil(campaign.tries / 20));
  const strangers = await raceNetworks(ground, Math.ceil(campaign.tries / 20));
  const costs = await measure(ground);
  return {
    tries: campaign.tries,
    escapes: escapesOf(ground),
    landed,
    survivors,
    strangers,
    ...costs,
  };
}

/** How many writes ended in the workspace. Ends early when a file has come out. */
export async function raceFileTools(
  ground: Ground,
  { tries, write }: Pick<SandboxCampaign, 'tries' | 'write'>,
): Promise<number> {
  const { exec, files } = ground.confinement.confined(() => {});
  const over = new AbortController();
  const request = { argv: ['perl', '-e', SWAPPER], cwd: ground.cwd };
  let swapping: Promise<unknown> = Promise.resolve();
  await new Promise<void>((up) => {
    swapping = exec({ ...request, onOutput: () => up() }, over.signal)
      .catch(() => {})
      .finally(up);
  });
  let landed = 0;
  for (let index = 0; index < tries && escapesOf(ground).length === 0; index++) {
    const path = join(ground.cwd, 'real', `file-${index}`);
    try {
      await (write === undefined ? files.write(path, new Uint8Array()) : write(path));
      landed++;
    } catch {
      // It was refused, or the folder was away: that is what is wanted.
    }
  }
  over.abort();
  await swapping;
  return landed;
}

/** Files that have appeared outside the workspace. */
export function escapesOf(ground: Ground): readonly string[] {
  return readdirSync(ground.outside).filter((name) => name !== 'secret');
}

async function raceMounts(ground: Ground, tries: number): Promise<void> {
  const guarded = join(ground.cwd, 'repo/.git/hooks');
  mkdirSync(guarded, { recursive: true });
  writeFileSync(join(guarded, 'pre-push'), 'mine');
  for (let done = 0; done < tries; done += 50) {
    const { exec } = ground.confinement.confined(() => {});
    const argv = ['perl', '-e', MOVER, '50', ground.outside];
    await exec({ argv, cwd: ground.cwd }, SIGNAL);
    const hooks = Object.fromEntries(
      readdirSync(guarded).map((name) => [name, readFileSync(join(guarded, name), 'utf8')]),
    );
    if (JSON.stringify(hooks) !== '{"pre-push":"mine"}')
      throw new Error(`after ${done + 50} tries the hooks were ${JSON.stringify(hooks)}`);
  }
}

async function countSurvivors(ground: Ground, rounds: number): Promise<number> {
  const brand = `crab-sandbox-campaign-${process.pid}`;
  const leaf = `exec -a ${brand} sleep 300`;
  for (let round = 0; round < rounds; round++)
    await ground.run(
      `setsid bash -c '${leaf}' & ( ( setsid nohup bash -c '${leaf}' >/dev/null 2>&1 & ) & ); bash -c 'trap "" TERM; ${leaf}' & sleep 0.02`,
    );
  const living = () =>
    readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).startsWith(brand)).length;
  // The kernel ends what is left in a sandbox with its first process, and may take a moment for it.
  for (let tries = 0; tries < 500 && living() > 0; tries++) await realClock.sleep(10);
  return living();
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

/** Listens on its loopback, and says where. */
const SERVER = `
use Socket;
socket(my $server, AF_INET, SOCK_STREAM, 0) or exit 1;
bind($server, sockaddr_in(0, INADDR_LOOPBACK)) or exit 1;
listen($server, 9) or exit 1;
$| = 1; print((sockaddr_in(getsockname($server)))[0], "\\n");
while (accept(my $client, $server)) { close($client) }`;

/** Prints those of its arguments on which somebody listens. */
const ASKER = `
use Socket;
for my $port (@ARGV) {
  socket(my $client, AF_INET, SOCK_STREAM, 0) or next;
  connect($client, sockaddr_in($port, INADDR_LOOPBACK)) and print "$port ";
}`;

/**
 * How many servers of other conversations were reached. In each round one conversation ends while commands of the others
 * start, and another begins, which is given what the first gave back. A server that its own conversation does not reach throws.
 */
export async function raceNetworks(ground: Ground, rounds: number): Promise<number> {
  const { backend } = await ground.sandbox.find();
  if (backend?.makeNetwork === undefined) return 0;
  let strangers = 0;
  let older = await Promise.all([serving(ground), serving(ground)]);
  for (let round = 0; round < rounds; round++) {
    const [first, second] = older;
    const others = first.asks([first.port, second.port]);
    const ended = first.running.kill();
    first.confinement.close();
    const [seen, third] = await Promise.all([others, serving(ground), ended]);
    strangers += countStranger(seen, first, second);
    for (const [one, other] of [
      [second, third],
      [third, second],
    ] as const) {
      const reached = await one.asks([one.port, other.port]);
      strangers += countStranger(reached, one, other);
      if (!reached.includes(one.port)) throw new Error(`a server was not reached in round ${round}`);
    }
    older = [second, third];
  }
  for (const { confinement, running } of older) {
    await running.kill();
    confinement.close();
  }
  return strangers;
}

/** The same number in both networks says nothing. */
function countStranger(
  reached: readonly number[],
  own: { readonly port: number },
  other: { readonly port: number },
): number {
  return own.port !== other.port && reached.includes(other.port) ? 1 : 0;
}

/** A conversation of which a server runs. */
async function serving({ another, cwd }: Ground) {
  const confinement = another();
  const { exec, open } = confinement.confined(() => {});
  const running = await open({ argv: ['perl', '-e', SERVER], cwd }, SIGNAL);
  const port = await portIn(running.stdout);
  const asks = async (ports: readonly number[]) => {
    const { stdout } = await exec({ argv: ['perl', '-e', ASKER, ...ports.map(String)], cwd }, SIGNAL);
    return stdout.text.trim().split(' ').map(Number);
  };
  return { confinement, running, port, asks };
}

async function portIn(output: AsyncIterable<Uint8Array>): Promise<number> {
  for await (const bytes of output) return Number(new TextDecoder().decode(bytes));
  throw new Error('a server says nothing');
}

async function measure(ground: Ground): Promise<Pick<SandboxReport, 'confinedMs' | 'bareMs'>> {
  const argv = ['/bin/true'];
  const { exec } = ground.confinement.confined(() => {});
  const times = { confinedMs: [] as number[], bareMs: [] as number[] };
  for (let index = 0; index < 30; index++) {
    for (const [name, run] of [['confinedMs', exec] as const, ['bareMs', ground.exec] as const]) {
      const started = performance.now();
      await run({ argv, cwd: ground.cwd }, SIGNAL);
      times[name].push(performance.now() - started);
    }
  }
  return { confinedMs: median(times.confinedMs), bareMs: median(times.bareMs) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
