// Who is measured, and how each is started. All of them run under the Node that runs the benchmark, in an
// environment that holds what they need and nothing of the machine's.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBun } from '../scripts/find-bun.ts';
import { startFakeProvider } from '../src/dev/fake-provider.ts';
import { type Case, LONG_TURNS, readable, type Subject } from './cases.ts';
import { measure } from './measure.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILT = join(ROOT, 'dist/crab.cjs');
const STANDALONE = join(ROOT, 'dist/standalone/crab');
const FLOOR = fileURLToPath(new URL('floor.cjs', import.meta.url));

/** Crab answers one prompt and asks nobody; the rest is what a new user has. */
const RUN = ['--print', '--permission-mode', 'bypassPermissions'];
const PROMPT = 'Look into the notes and say what they have in common.';

const FILES_IN_WORKSPACE = LONG_TURNS;

export interface Bench extends Disposable {
  readonly cwd: string;
  readonly scratch: string;
  env(url: string): Readonly<Record<string, string>>;
  /** Undefined when this subject is not on this machine. */
  command(subject: Subject, one: Case): readonly string[] | undefined;
}

/** Makes a workspace and a home, and asks Crab once, to have the floor send the same requests. */
export async function prepare(): Promise<Bench> {
  if (!existsSync(BUILT)) throw new Error(`${BUILT} is not here: npm run build makes it`);
  const scratch = mkdtempSync(join(tmpdir(), 'crab-bench-'));
  const cwd = join(scratch, 'work');
  mkdirSync(join(cwd, 'notes'), { recursive: true });
  mkdirSync(join(scratch, 'home/.crab'), { recursive: true });
  for (let n = 1; n <= FILES_IN_WORKSPACE; n++) {
    writeFileSync(join(cwd, readable(n)), `note ${n}: what was seen that day\n`.repeat(1200 / 32));
  }
  const env = (url: string) => ({
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    HOME: join(scratch, 'home'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'fake',
    FLOOR_REQUEST: join(scratch, 'opening.json'),
  });
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd, env: env('') });
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '--quiet', '-m', 'notes');
  const commands = createCommands();
  const bench = {
    ...{ cwd, scratch, env, command: commands },
    [Symbol.dispose]: () => rmSync(scratch, { recursive: true, force: true }),
  };
  await keepOpening(bench);
  return bench;
}

function createCommands(): Bench['command'] {
  const node = process.execPath;
  const old = findOldNode();
  const bun = findBun();
  const standalone = existsSync(STANDALONE) ? STANDALONE : undefined;
  return (subject, { args, flags = [] }) => {
    const asked = args ?? [...RUN, ...flags, PROMPT];
    switch (subject) {
      case 'bare':
        return [node, '-e', '0'];
      case 'crab':
        return [node, BUILT, ...asked];
      case 'floor':
        return [node, FLOOR, PROMPT];
      case 'bun':
        return [bun, FLOOR, PROMPT];
      case 'old':
        return old === undefined ? undefined : [old, BUILT, ...asked];
      case 'standalone':
        return standalone === undefined ? undefined : [standalone, ...asked];
    }
  };
}

/** A Node further down the PATH that Crab does not run on. */
function findOldNode(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  return folders
    .map((folder) => join(folder, 'node'))
    .find((node) => {
      if (!existsSync(node)) return false;
      const [major = 0, minor = 0] = execFileSync(node, ['--version'], { encoding: 'utf8' })
        .replace('v', '')
        .split('.')
        .map(Number);
      return major < 22 || (major === 22 && minor < 18);
    });
}

async function keepOpening(bench: Bench): Promise<void> {
  const replies = [{ text: 'Done.' }];
  const provider = await startFakeProvider({ scenario: { replies } });
  try {
    const command = bench.command('crab', { name: 'opening', subjects: ['crab'], replies });
    const { cwd, scratch } = bench;
    await measure(command ?? [], { cwd, scratch, env: bench.env(provider.url) });
    const { messages: _, ...opening } = { ...provider.requests[0]?.body };
    writeFileSync(join(scratch, 'opening.json'), JSON.stringify(opening));
  } finally {
    await provider.close();
  }
}

/** Kilobytes of what `npm install` puts on the disk: the package and the optional one that fits this machine. */
export function installedKb(): number {
  const packages = readdirSync(join(ROOT, 'node_modules/@vscode')).map((name) =>
    join(ROOT, 'node_modules/@vscode', name),
  );
  const files = [...packages.flatMap(filesBelow), ...filesBelow(join(ROOT, 'dist'))];
  const installed = files.filter((file) => !file.startsWith(dirname(STANDALONE)));
  return installed.reduce((sum, file) => sum + statSync(file).size, 0) / 1024;
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
