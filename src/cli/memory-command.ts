// `crab memory`: what is remembered, for a person to see, search, change, take out and put in.

import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DEFAULT_AGENT } from '../core/agent.ts';
import { CrabError, EXIT } from '../core/errors.ts';
import type { Memory, MemoryEntry } from '../core/memory.ts';
import { visible, visibleLine } from '../faces/visible.ts';
import { dumpBook, loadBook } from '../parts/memory/book.ts';
import { dayText } from '../parts/memory/entry-page.ts';
import { exportFolder, importFolder } from '../parts/memory/memory-folder.ts';
import { gathered, MEMORY_SCOPES, type MemoryScope } from '../parts/memory/scopes.ts';
import { systemClock } from './clock.ts';
import { type Environment, workingFolder } from './home.ts';
import { memoriesOf } from './memory.ts';
import { readAll } from './piped-input.ts';
import { trustOf } from './project.ts';
import { sessionNamed } from './session-named.ts';
import { sinkOf } from './sink.ts';
import { chosenCommand, subcommandArguments, subcommandUsage } from './subcommand.ts';

const HELP = `Usage: crab memory COMMAND

  list                    every memory: of this project, of its team, then of yours
  show NAME               one, by its name or an alias
  search WORDS            the best first
  edit NAME               in $VISUAL or $EDITOR, or from standard input; made when it is not there
  rename NAME NEW         under another name
  alias NAME OTHER...     found by other names, too
  remove NAME             for good
  consolidate             have a model merge notes that say the same; what they were is kept in a folder. With --dry-run it only
                          tells which. Not for the team's
  dump DIR                as Markdown pages that mdbook can show
  load DIR                replace the memory by such pages; --merge keeps what they do not name
  export DIR              as other agents keep notes: Markdown with front matter, and MEMORY.md
  import DIR              add such notes; one of the same name is replaced

  --scope SCOPE           project, team (files in the repository, .crab/memory) or user; without it all are looked at, and
                          a new one goes to the project's
  --session SESSION       what a session keeps for itself: its id or the beginning of one, or its name
  --agent NAME            another agent's memory (default ${DEFAULT_AGENT})
  --dry-run               consolidate: change nothing
  --json                  list, show, search: JSON
`;

interface Call {
  readonly words: readonly string[];
  readonly scopes: readonly MemoryScope[];
  readonly json: boolean;
  readonly merge: boolean;
  readonly dryRun: boolean;
  readonly agent: string;
  readonly env: Environment;
  memory(scope: MemoryScope): Memory;
  print(text: string): Promise<void>;
  warn(text: string): void;
}

export async function memoryCommand(argv: readonly string[], env: Environment): Promise<number> {
  const asked = subcommandArguments('memory', argv, FLAGS);
  const { values } = asked;
  const stdout = sinkOf(process.stdout, env);
  const stderr = sinkOf(process.stderr, env);
  const hint = 'Run `crab memory --help`; for a prompt that begins so, use `crab -p`.';
  const chosen = await chosenCommand({ name: 'memory', commands: COMMANDS, help: HELP, hint }, asked, stdout);
  if (typeof chosen === 'number') return chosen;
  const { run, words } = chosen;
  const memories = memoriesOf(env);
  const session = values.session === undefined ? undefined : await sessionNamed(values.session, env);
  const identity = {
    agent: values.agent ?? DEFAULT_AGENT,
    cwd: workingFolder(),
    ...(session !== undefined && { session }),
  };
  const hasTeam = values.scope !== undefined || memories.teamFolder(identity.cwd) !== undefined;
  const scopes = scopesOf(values.scope, session).filter((scope) => scope !== 'team' || hasTeam);
  await run({
    words,
    scopes,
    json: values.json === true,
    merge: values.merge === true,
    dryRun: values['dry-run'] === true,
    agent: identity.agent,
    env,
    memory: (scope) => memories.of(scope, identity),
    print: (text) => stdout.write(text),
    warn: (text) => void stderr.write(`crab: ${visibleLine(text, 1000)}\n`).catch(() => {}),
  });
  if (scopes.includes('team'))
    for (const text of await aboutTeam(memories.of('team', identity), identity.cwd, env))
      await stderr.write(`crab: ${visibleLine(text, 1000)}\n`);
  return EXIT.success;
}

/** What a person should know of the shared memory beside what is in it. */
async function aboutTeam(memory: Memory, cwd: string, env: Environment): Promise<readonly string[]> {
  const faults = (await memory.faults?.()) ?? [];
  if ((await memory.entries()).length === 0) return faults;
  const { root, trusted } = await trustOf(cwd, env, undefined);
  if (trusted === true) return faults;
  return [
    ...faults,
    `${root} is not trusted, so no model is shown what its team remembers; see \`crab trust --help\``,
  ];
}

const COMMANDS: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  async list(call) {
    const { memory, scopes } = none(call, 'list');
    const { found, failures } = await gathered(scopes, async (scope) =>
      (await memory(scope).entries()).map((entry) => ({ entry })),
    );
    await printAll(call, found, found.map(plain), failures, 'Nothing is remembered yet.');
  },
  async show(call) {
    const { entry, scope } = await named(call, one(call, 'show NAME'));
    if (call.json) return call.print(`${JSON.stringify(plain({ entry, scope }), null, 2)}\n`);
    await call.print(`${row(entry, scope)}\n\n${visible(entry.content).replace(/\n?$/, '\n')}`);
  },
  async search(call) {
    if (call.words.length === 0) throw usage('`crab memory search` needs words.');
    const { found, failures } = await gathered(call.scopes, (scope) =>
      call.memory(scope).search(call.words.join(' '), 20),
    );
    const hits = found.toSorted((a, b) => b.score - a.score);
    const asJson = hits.map((hit) => ({ ...plain(hit), score: hit.score }));
    await printAll(call, hits, asJson, failures, 'Nothing is remembered about that.');
  },
  async edit(call) {
    const name = one(call, 'edit NAME');
    const found = await find(call, name);
    const scope = found?.scope ?? call.scopes[0] ?? 'project';
    const was = found?.entry.content;
    const keep = async (content: string) => {
      if (content === (was ?? '')) return call.print('Nothing was changed.\n');
      if (content.trim() === '')
        throw usage('There is no text to remember.', '`crab memory remove NAME` drops a memory.');
      const change =
        was === undefined
          ? ({ type: 'add', kind: 'note', name, content } as const)
          : ({ type: 'update', name, content, was } as const);
      const entry = await call.memory(scope).apply(change);
      await call.print(
        `${was === undefined ? 'Remembered' : 'Changed'} ${entry?.name ?? name} (${scope}).\n`,
      );
    };
    if (process.stdin.isTTY) await edited(was ?? '', keep);
    else await keep((await readAll(process.stdin, false)).text);
  },
  async rename(call) {
    const [name, to, ...rest] = call.words;
    if (name === undefined || to === undefined || rest.length > 0)
      throw usage('The form is `crab memory rename NAME NEW`.');
    const { entry, scope } = await named(call, name);
    await call.memory(scope).apply({ type: 'rename', name: entry.name, to });
    await call.print(`Renamed ${entry.name} to ${to} (${scope}).\n`);
  },
  async alias(call) {
    const [name, ...aliases] = call.words;
    if (name === undefined || aliases.length === 0)
      throw usage('The form is `crab memory alias NAME OTHER...`.');
    const { entry, scope } = await named(call, name);
    const after = await call.memory(scope).apply({ type: 'alias', name: entry.name, aliases });
    await call.print(`${row(after ?? entry, scope)}\n`);
  },
  async remove(call) {
    const { entry, scope } = await named(call, one(call, 'remove NAME'));
    await call.memory(scope).apply({ type: 'remove', name: entry.name });
    await call.print(`Removed ${entry.name} (${scope}).\n`);
  },
  async consolidate(call) {
    none(call, 'consolidate');
    const scopes = (['project', 'user'] as const).filter((scope) => call.scopes.includes(scope));
    if (scopes.length === 0) throw usage('Only the memory of the project and your own are tidied.');
    const { consolidateByHand } = await import('./memory-consolidate.ts');
    const { env, agent, dryRun, print, warn } = call;
    await consolidateByHand({ env, agent, scopes, dryRun, print, warn });
  },
  async dump(call) {
    const folder = resolve(one(call, 'dump DIR'));
    const scope = single(call);
    const entries = await call.memory(scope).entries();
    dumpBook(folder, entries);
    await call.print(`Wrote ${count(entries.length)} of the ${scope} to ${folder}.\n`);
  },
  async load(call) {
    const folder = resolve(one(call, 'load DIR'));
    const scope = single(call);
    const now = BigInt(Math.floor(systemClock.now() / 1000));
    // A page that a person wrote says no time.
    const loaded = loadBook(folder).map((entry) => ({ ...entry, createdAt: entry.createdAt || now }));
    const memory = call.memory(scope);
    const kept = call.merge ? await entriesBeside(memory, loaded) : [];
    await memory.replace([...kept, ...loaded]);
    await call.print(`Read ${count(loaded.length)} into the memory of the ${scope}.\n`);
  },
  async export(call) {
    const folder = resolve(one(call, 'export DIR'));
    const scope = single(call);
    const written = exportFolder(folder, await call.memory(scope).entries(), { type: typeOf(scope) });
    await call.print(`Wrote ${count(written)} of the ${scope} to ${folder}.\n`);
  },
  async import(call) {
    const folder = resolve(one(call, 'import DIR'));
    const scope = single(call);
    const memory = call.memory(scope);
    const imported = importFolder(folder, { type: typeOf(scope) });
    await memory.replace([...(await entriesBeside(memory, imported)), ...imported]);
    await call.print(`Read ${count(imported.length)} into the memory of the ${scope}.\n`);
  },
};

/** Those whose names none of the others has. */
async function entriesBeside(
  memory: Memory,
  others: readonly Pick<MemoryEntry, 'name'>[],
): Promise<readonly MemoryEntry[]> {
  const names = new Set(others.map(({ name }) => name));
  return (await memory.entries()).filter(({ name }) => !names.has(name));
}

/** What could be read; throws `CrabError` behind it where something could not. */
async function printAll(
  { json, print }: Call,
  found: readonly Located[],
  asJson: readonly object[],
  [failure]: readonly CrabError[],
  nothing: string,
): Promise<void> {
  if (json) await print(`${JSON.stringify(asJson, null, 2)}\n`);
  else if (found.length === 0 && failure === undefined) await print(`${nothing}\n`);
  else for (const { entry, scope } of found) await print(`${row(entry, scope)}\n`);
  if (failure !== undefined) throw failure;
}

interface Located {
  readonly entry: MemoryEntry;
  readonly scope: MemoryScope;
}

async function find(call: Call, name: string): Promise<Located | undefined> {
  for (const scope of call.scopes) {
    const entry = await call.memory(scope).find(name);
    if (entry !== undefined) return { entry, scope };
  }
  return undefined;
}

async function named(call: Call, name: string): Promise<Located> {
  const found = await find(call, name);
  if (found !== undefined) return found;
  throw new CrabError('memory-unknown', `There is no memory called ${JSON.stringify(name)}.`);
}

/** What the person makes of it goes to `keep`; where that fails, the file with it stays and is named. */
async function edited(content: string, keep: (text: string) => Promise<void>): Promise<void> {
  const editor = (process.env['VISUAL'] || process.env['EDITOR'] || '').trim();
  if (editor === '')
    throw usage('There is no editor: neither VISUAL nor EDITOR is set.', 'Send the text on standard input.');
  const folder = await fs.mkdtemp(join(tmpdir(), 'crab-memory-'));
  const path = join(folder, 'memory.md');
  let isKept = false;
  try {
    await fs.writeFile(path, content, { mode: 0o600 });
    const { runForeground } = await import('../parts/process/foreground.ts');
    const [program = '', ...args] = editor.split(/\s+/);
    const status = await runForeground([program, ...args, path]);
    if (status !== 0)
      throw new CrabError('tool-failed', `${program} ended with status ${status}; nothing was changed.`);
    const text = await fs.readFile(path, 'utf8');
    await keep(text).catch((error: unknown) => {
      if (!(error instanceof CrabError) || text.trim() === '') throw error;
      isKept = true;
      throw new CrabError(error.code, error.message, { hint: `What you wrote is in ${path}.`, cause: error });
    });
  } finally {
    if (!isKept) await fs.rm(folder, { recursive: true, force: true });
  }
}

function plain({ entry, scope }: Located): object {
  const { name, aliases, kind, content, createdAt } = entry;
  return { name, aliases, kind, scope, created: dayText(createdAt), content };
}

/** Room for a name and every alias that there may be. */
const MAX_ROW = 20_000;

function row({ name, aliases, kind, createdAt }: MemoryEntry, scope: MemoryScope): string {
  const also = aliases.length > 0 ? ` (${aliases.join(', ')})` : '';
  const what = kind === 'archive' ? 'archive' : scope;
  return visibleLine(`${dayText(createdAt)}  ${what.padEnd(7)}  ${name}${also}`, MAX_ROW);
}

function count(number: number): string {
  return number === 1 ? '1 memory' : `${number} memories`;
}

function one({ words }: Call, form: string): string {
  const [word] = words;
  if (word !== undefined && words.length === 1) return word;
  throw usage(`The form is \`crab memory ${form}\`.`);
}

function none(call: Call, form: string): Call {
  if (call.words.length > 0) throw usage(`The form is \`crab memory ${form}\`.`);
  return call;
}

function single({ scopes }: Call): MemoryScope {
  return scopes[0] ?? 'project';
}

/** As other agents name it. */
function typeOf(scope: MemoryScope): string {
  return scope === 'user' ? 'user' : 'project';
}

/** What a session keeps for itself is looked at where the session is named, and then nothing else is. */
function scopesOf(given: string | undefined, session: string | undefined): readonly MemoryScope[] {
  if (session !== undefined) {
    if (given === undefined || given === 'session') return ['session'];
    throw usage(`--session and --scope ${given} exclude each other.`);
  }
  if (given === 'session') throw usage('--scope session needs a session.', 'Name it: --session 01K8…');
  if (given === undefined) return MEMORY_SCOPES.filter((scope) => scope !== 'session');
  const scope = MEMORY_SCOPES.find((known) => known === given);
  if (scope !== undefined) return [scope];
  throw usage(`--scope ${given} is not known.`, `Use one of ${MEMORY_SCOPES.join(', ')}.`);
}

const FLAGS = {
  scope: { type: 'string' },
  agent: { type: 'string' },
  session: { type: 'string' },
  json: { type: 'boolean' },
  merge: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const usage = (message: string, hint?: string) => subcommandUsage('memory', message, hint);
