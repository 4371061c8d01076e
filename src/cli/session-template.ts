// `crab session template`: conversations that were prepared once, to begin others with. What was allowed in the one it is made
// from, and what its files were, stays behind: both belong to that session and its folder.

import { DEFAULT_AGENT } from '../core/agent.ts';
import {
  APPROVAL_ENTRY,
  GRANT_ENTRY,
  TEMPLATE_ENTRY,
  type TemplateFacts,
  VIOLATION_ENTRY,
} from '../core/custom.ts';
import { CrabError, EXIT } from '../core/errors.ts';
import { createIds } from '../core/ids.ts';
import type { Effort } from '../core/model.ts';
import { PERMISSION_MODES, type PermissionMode } from '../core/permission.ts';
import type { Entry, TapeReader } from '../core/tape.ts';
import { count } from '../faces/amounts.ts';
import { visibleLine } from '../faces/visible.ts';
import { FILES, REWIND } from '../parts/history/record.ts';
import { findEntry } from '../parts/tape/branching.ts';
import { EFFORTS, readHistory } from '../runtime/history.ts';
import { locate, type SessionCall, usage, wordsOf } from './session-call.ts';
import { showSession } from './session-look.ts';
import { findTemplate, type Template, templatesOf, templateTapes } from './templates.ts';

type Run = (call: SessionCall, words: readonly string[]) => Promise<void>;

const COMMANDS: Readonly<Record<string, Run>> = { save, list, show, delete: remove, restore };

export async function templateCommand(call: SessionCall): Promise<number> {
  const [command = '', ...words] = call.words;
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (run === undefined)
    throw usage(`The form is \`crab session template ${Object.keys(COMMANDS).join('|')} ...\`.`);
  await run({ ...call, words }, words);
  return EXIT.success;
}

/** What a file name, a shell and a list take without quotes or surprises. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u;

async function save(call: SessionCall): Promise<void> {
  const [name = '', session, entry] = wordsOf(call, 'template save NAME [SESSION [ENTRY]]', 1, 3);
  if (!NAME.test(name))
    throw usage(
      `${JSON.stringify(name.slice(0, 100))} cannot be the name of a template.`,
      'Use 1 to 64 letters, digits, dots, lines and underscores.',
    );
  const tapes = templateTapes(call.env);
  const before = (await templatesOf(tapes)).find(({ facts }) => facts.name === name);
  if (before !== undefined && call.flags.force !== true)
    throw usage(`There is a template called ${name} already.`, 'Use --force to replace it.');
  const source = await sourceOf(call, session);
  const facts = factsFor(name, call, source);
  const to = entry === undefined || source === undefined ? undefined : findEntry(source, entry);
  const said = source === undefined || call.flags['no-messages'] === true ? [] : kept(source, to);
  const { agent = DEFAULT_AGENT, cwd = process.cwd() } = source?.header ?? {};
  const tape = await tapes.copy({ agent, cwd, sender: (id) => `cli:${id}`, entries: withFacts(said, facts) });
  const { messages } = tape.info();
  await tape.close();
  if (before !== undefined) await tapes.discard(before.path);
  await call.print(`Saved ${name} with ${count(messages, 'message')}: crab --template ${name}\n`);
}

/** Without messages no session is needed. */
async function sourceOf(call: SessionCall, session: string | undefined): Promise<TapeReader | undefined> {
  if (session === undefined && call.flags['no-messages'] === true) return undefined;
  const reader = await call.tapes.read(await locate(call, session));
  for (const notice of reader.notices) await call.warn(notice);
  return reader;
}

function factsFor(name: string, { flags }: SessionCall, source: TapeReader | undefined): TemplateFacts {
  const recorded = source === undefined ? undefined : readHistory(source);
  const model = flags.model ?? recorded?.model;
  const effort = oneOf<Effort>('effort', flags.effort, EFFORTS) ?? recorded?.effort;
  const mode = oneOf<PermissionMode>('permission-mode', flags['permission-mode'], PERMISSION_MODES);
  const append = flags['append-system-prompt'] ?? [];
  return {
    name,
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    ...(mode !== undefined && { mode }),
    ...(append.length > 0 && { append }),
  };
}

function oneOf<T extends string>(flag: string, given: string | undefined, all: readonly T[]): T | undefined {
  if (given === undefined) return undefined;
  const known = all.find((each) => each === given);
  if (known === undefined) throw usage(`--${flag} ${given} is not known.`, `Use one of ${all.join(', ')}.`);
  return known;
}

const LEFT_BEHIND = new Set(['session_info', 'label', 'leaf']);
const LEFT_BEHIND_CUSTOM = new Set([
  GRANT_ENTRY,
  APPROVAL_ENTRY,
  VIOLATION_ENTRY,
  TEMPLATE_ENTRY,
  FILES,
  REWIND,
]);

function* kept(source: TapeReader, to: string | undefined): Generator<Entry> {
  const part = {
    ...(to !== undefined && { to }),
    wanted: ({ type, detail }: { readonly type: string; readonly detail: string }) =>
      !LEFT_BEHIND.has(type) && !(type === 'custom' && LEFT_BEHIND_CUSTOM.has(detail)),
  };
  let parentId: string | null = null;
  for (const entry of source.branch(part)) {
    yield { ...entry, parentId };
    parentId = entry.id;
  }
}

/** They come last, so that they are on the branch that is forked, too. */
function* withFacts(entries: Iterable<Entry>, data: TemplateFacts): Generator<Entry> {
  const now = Date.now();
  let parentId: string | null = null;
  for (const entry of entries) {
    yield entry;
    parentId = entry.id;
  }
  const id = createIds({ now: () => now, random: Math.random })();
  const timestamp = new Date(now).toISOString();
  yield { id, parentId, timestamp, type: 'custom', customType: TEMPLATE_ENTRY, data };
}

async function list(call: SessionCall): Promise<void> {
  wordsOf(call, 'template list', 0);
  const isTrash = call.flags.trash === true;
  const all = await templatesOf(templateTapes(call.env), isTrash ? { discarded: true } : {});
  if (call.flags.json === true) return call.printJson(all.map(plain));
  if (all.length === 0) return call.print('There is no template.\n');
  for (const template of all) await call.print(`${row(template)}\n`);
}

async function show(call: SessionCall): Promise<void> {
  const [name = ''] = wordsOf(call, 'template show NAME', 1);
  const tapes = templateTapes(call.env);
  const template = await findTemplate(tapes, name);
  if (call.flags.json === true) return call.printJson(plain(template));
  const { facts } = template;
  const { model, effort, mode, append = [] } = facts;
  const rows = [
    ['template', facts.name],
    ['model', model],
    ['effort', effort],
    ['mode', mode],
    ...append.map((text) => ['prompt', text] as const),
  ] as const;
  for (const [left, right] of rows)
    if (right !== undefined) await call.print(`${left.padEnd(11)} ${visibleLine(right, 1000)}\n`);
  await showSession({ ...call, tapes, words: [template.path] });
}

async function remove(call: SessionCall): Promise<void> {
  const words = wordsOf(call, 'template delete NAME...', 1, Number.POSITIVE_INFINITY);
  const tapes = templateTapes(call.env);
  const found = await Promise.all(words.map((name) => findTemplate(tapes, name)));
  for (const { path, facts } of found) {
    await tapes.discard(path);
    await call.print(
      `Deleted ${facts.name}; \`crab session template restore ${facts.name}\` brings it back.\n`,
    );
  }
}

/** Of several of that name the one that was thrown away last. */
async function restore(call: SessionCall): Promise<void> {
  const [name = ''] = wordsOf(call, 'template restore NAME', 1);
  const tapes = templateTapes(call.env);
  const discarded = (await templatesOf(tapes, { discarded: true })).filter(
    ({ facts }) => facts.name === name,
  );
  const newest = discarded.reduce<Template | undefined>(
    (last, each) => (last === undefined || each.reader.header.id > last.reader.header.id ? each : last),
    undefined,
  );
  if (newest === undefined) throw usage(`No template called ${JSON.stringify(name)} was deleted.`);
  if ((await templatesOf(tapes)).some(({ facts }) => facts.name === name))
    throw new CrabError('usage', `There is a template called ${name}.`, { hint: 'Delete that one first.' });
  await tapes.restore(newest.path);
  await call.print(`Restored ${name}.\n`);
}

function plain({ path, reader, facts }: Template): object {
  const { agent = DEFAULT_AGENT, timestamp } = reader.header;
  return { ...facts, agent, messages: reader.info().messages, made: timestamp, path };
}

function row({ reader, facts }: Template): string {
  const { name, model, mode, append = [] } = facts;
  const { agent = DEFAULT_AGENT } = reader.header;
  const parts = [
    count(reader.info().messages, 'message'),
    ...(agent === DEFAULT_AGENT ? [] : [`agent ${agent}`]),
    ...(model === undefined ? [] : [model]),
    ...(mode === undefined ? [] : [`mode ${mode}`]),
    ...(append.length === 0 ? [] : [count(append.length, 'instruction')]),
  ];
  return visibleLine(`${name.padEnd(20)}  ${parts.join(', ')}`, 300);
}
