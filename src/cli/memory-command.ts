// `crab memory`: what is remembered, for a person to see, search, change, take out and put in.

import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DEFAULT_AGENT } from '../core/agent.ts';
import { CrabError, EXIT } from '../core/errors.ts';
import type { Memory, MemoryEntry, MemoryHit } from '../core/memory.ts';
import { dumpBook, loadBook } from '../parts/memory/book.ts';
import { MEMORY_SCOPES, type MemoryScope } from '../parts/memory/memory-tools.ts';
import { type Environment, workingFolder } from './home.ts';
import { memoriesOf } from './memory.ts';
import { readAll } from './piped-input.ts';
import { sinkOf } from './sink.ts';
import { subcommandArguments, subcommandUsage } from './subcommand.ts';

const HELP = `Usage: crab memory COMMAND

  list                    every memory: of this project, then of yours
  show NAME               one, by its name or an alias
  search WORDS            the best first
  edit NAME               in $VISUAL or $EDITOR, or from standard input; made when it is not there
  remove NAME             for good
  dump DIR                as Markdown pages that mdbook can show
  load DIR                replace the memory by such pages; --merge keeps what they do not name

  --scope SCOPE           project or user; without it both are looked at, and changes go to the project's
  --agent NAME            another agent's memory (default ${DEFAULT_AGENT})
  --json                  list, show, search: JSON
`;

interface Call {
  readonly words: readonly string[];
  readonly scopes: readonly MemoryScope[];
  readonly json: boolean;
  readonly merge: boolean;
  memory(scope: MemoryScope): Memory;
  print(text: string): Promise<void>;
}

export async function memoryCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { values, positionals } = subcommandArguments('memory', argv, FLAGS);
  const stdout = sinkOf(process.stdout, env);
  const [command, ...words] = positionals;
  if (command === undefined || values.help === true) {
    await stdout.write(HELP);
    return values.help === true ? EXIT.success : EXIT.usage;
  }
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (run === undefined)
    throw usage(
      `There is no \`crab memory ${command}\`.`,
      'Run `crab memory --help`; for a prompt that begins so, use `crab -p`.',
    );
  const memories = memoriesOf(env);
  const identity = { agent: values.agent ?? DEFAULT_AGENT, cwd: workingFolder() };
  await run({
    words,
    scopes: scopesOf(values.scope),
    json: values.json === true,
    merge: values.merge === true,
    memory: (scope) => memories(scope, identity),
    print: (text) => stdout.write(text),
  });
  return EXIT.success;
}

const COMMANDS: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  async list(call) {
    const all = await everything(none(call, 'list'));
    if (call.json) return call.print(`${JSON.stringify(all.map(plain), null, 2)}\n`);
    if (all.length === 0) return call.print('Nothing is remembered yet.\n');
    for (const { entry, scope } of all) await call.print(`${row(entry, scope)}\n`);
  },
  async show(call) {
    const { entry, scope } = await named(call, one(call, 'show NAME'));
    if (call.json) return call.print(`${JSON.stringify(plain({ entry, scope }), null, 2)}\n`);
    await call.print(`${row(entry, scope)}\n\n${entry.content.replace(/\n?$/, '\n')}`);
  },
  async search(call) {
    if (call.words.length === 0) throw usage('`crab memory search` needs words.');
    const found: (MemoryHit & { readonly scope: MemoryScope })[] = [];
    for (const scope of call.scopes)
      for (const hit of await call.memory(scope).search(call.words.join(' '), 20))
        found.push({ ...hit, scope });
    found.sort((a, b) => b.score - a.score);
    if (call.json) {
      const hits = found.map((hit) => ({ ...plain(hit), score: hit.score }));
      return call.print(`${JSON.stringify(hits, null, 2)}\n`);
    }
    if (found.length === 0) return call.print('Nothing is remembered about that.\n');
    for (const { entry, scope } of found) await call.print(`${row(entry, scope)}\n`);
  },
  async edit(call) {
    const name = one(call, 'edit NAME');
    const found = await find(call, name);
    const scope = found?.scope ?? call.scopes[0] ?? 'project';
    const content = process.stdin.isTTY
      ? await edited(found?.entry.content ?? '')
      : (await readAll(process.stdin, false)).text;
    if (found !== undefined && content === found.entry.content) return call.print('Nothing was changed.\n');
    const memory = call.memory(scope);
    if (found === undefined) await memory.apply({ type: 'add', kind: 'note', name, content });
    else await memory.apply({ type: 'update', name, content });
    await call.print(
      `${found === undefined ? 'Remembered' : 'Changed'} ${found?.entry.name ?? name} (${scope}).\n`,
    );
  },
  async remove(call) {
    const { entry, scope } = await named(call, one(call, 'remove NAME'));
    await call.memory(scope).apply({ type: 'remove', name: entry.name });
    await call.print(`Removed ${entry.name} (${scope}).\n`);
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
    const loaded = loadBook(folder);
    const memory = call.memory(scope);
    const names = new Set(loaded.map(({ name }) => name));
    const kept = call.merge ? (await memory.entries()).filter(({ name }) => !names.has(name)) : [];
    await memory.replace([...kept, ...loaded]);
    await call.print(`Read ${count(loaded.length)} into the memory of the ${scope}.\n`);
  },
};

async function everything(call: Call): Promise<readonly Located[]> {
  const all: Located[] = [];
  for (const scope of call.scopes)
    for (const entry of await call.memory(scope).entries()) all.push({ entry, scope });
  return all;
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

async function edited(content: string): Promise<string> {
  const editor = (process.env['VISUAL'] || process.env['EDITOR'] || '').trim();
  if (editor === '')
    throw usage('There is no editor: neither VISUAL nor EDITOR is set.', 'Send the text on standard input.');
  const folder = await fs.mkdtemp(join(tmpdir(), 'crab-memory-'));
  const path = join(folder, 'memory.md');
  try {
    await fs.writeFile(path, content, { mode: 0o600 });
    const { runForeground } = await import('../parts/process/foreground.ts');
    const [program = '', ...args] = editor.split(/\s+/);
    const status = await runForeground([program, ...args, path]);
    if (status !== 0)
      throw new CrabError('tool-failed', `${program} ended with status ${status}; nothing was changed.`);
    return await fs.readFile(path, 'utf8');
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}

function plain({ entry, scope }: Located): object {
  const { name, aliases, kind, content, createdAt } = entry;
  return { name, aliases, kind, scope, created: day(createdAt), content };
}

function row({ name, aliases, kind, createdAt }: MemoryEntry, scope: MemoryScope): string {
  const also = aliases.length > 0 ? ` (${aliases.join(', ')})` : '';
  const what = kind === 'archive' ? 'archive' : scope;
  return `${day(createdAt)}  ${what.padEnd(7)}  ${name}${also}`;
}

function day(seconds: bigint): string {
  const time = new Date(Number(seconds) * 1000);
  return Number.isNaN(time.getTime()) ? 'unknown' : time.toISOString().slice(0, 10);
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

function scopesOf(given: string | undefined): readonly MemoryScope[] {
  if (given === undefined) return MEMORY_SCOPES;
  const scope = MEMORY_SCOPES.find((known) => known === given);
  if (scope !== undefined) return [scope];
  throw usage(`--scope ${given} is not known.`, `Use one of ${MEMORY_SCOPES.join(', ')}.`);
}

const FLAGS = {
  scope: { type: 'string' },
  agent: { type: 'string' },
  json: { type: 'boolean' },
  merge: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const usage = (message: string, hint?: string) => subcommandUsage('memory', message, hint);
