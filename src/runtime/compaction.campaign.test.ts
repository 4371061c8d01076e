// Long conversations, compacted again and again: whatever they were, every request is valid (law 1), no file of the
// lists is lost, and what is told of the tape is what the view was. `CRAB_COMPACTION_ROUNDS` makes it longer.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readModelHistory } from '../../test/support/model-history.ts';
import { virtualClock } from '../../test/support/virtual-clock.ts';
import type { Declaration } from '../core/agent.ts';
import { createIds } from '../core/ids.ts';
import type { Memory, MemoryEntry } from '../core/memory.ts';
import {
  type AssistantMessage,
  type Message,
  messageText,
  toolResultMessage,
  userMessage,
} from '../core/message.ts';
import type { Model, ModelChunk, ModelRequest } from '../core/model.ts';
import { SANDBOX_OFF } from '../core/sandbox.ts';
import { seeded } from '../core/seeded.ts';
import type { CompactionBody, Entry, Outline, Tape } from '../core/tape.ts';
import { type Tool, textOutput } from '../core/tool.ts';
import { NO_TOKENS, NO_USAGE } from '../core/usage.ts';
import { checkHistory } from '../dev/history-check.ts';
import { NOTHING_CARRIED } from '../engine/carried.ts';
import { planCompaction, withLists } from '../engine/compaction.ts';
import { Trimmer } from '../engine/trim.ts';
import { createJobs } from '../parts/process/jobs.ts';
import { createTapes } from '../parts/tape/tapes.ts';
import { createLedger } from '../parts/usage/ledger.ts';
import { builtinCommands } from './commands.ts';
import { type BranchReader, readHistory } from './history.ts';
import type { RuntimeHost } from './host.ts';
import { createPlatform } from './platform.ts';

const ROUNDS = Number(process.env['CRAB_COMPACTION_ROUNDS'] ?? 300);

const findings = (messages: readonly Message[]) =>
  checkHistory(readModelHistory({ system: 's', messages, tools: [], model: 'm', maxTokens: 1 }));

const body = (message: Message) => ({ type: 'message', message }) as const;

interface Grown {
  readonly entries: readonly Entry[];
  readonly read: ReadonlySet<string>;
  readonly modified: ReadonlySet<string>;
}

/** A random history: calls side by side, results in any order or missing, prompts after prompts, cut answers. */
function grow(random: () => number, before: Grown, at: number): Grown {
  const entries = [...before.entries];
  const read = new Set(before.read);
  const modified = new Set(before.modified);
  const push = (entry: object) =>
    entries.push({
      id: `e${entries.length}`,
      parentId: null,
      timestamp: new Date(0).toISOString(),
      ...entry,
    } as Entry);
  const below = (most: number) => Math.floor(random() * most);
  for (let turn = 0; turn < 1 + below(5); turn++) {
    push(body(userMessage(`prompt ${'p'.repeat(below(2000))}`, 0)));
    for (let step = 0; step < below(5); step++) {
      const calls = Array.from({ length: below(4) }, (_, index) => {
        const path = `/w/${below(40)}`;
        const kind = random() < 0.5 ? 'write' : 'read';
        return {
          type: 'toolCall',
          id: `c${at}-${entries.length}-${index}`,
          name: kind,
          arguments: { path },
        } as const;
      });
      const isCut = random() < 0.1;
      push(body(said(calls, isCut, below(20_000))));
      if (random() < 0.2) push({ type: 'model_change', provider: 'p', modelId: 'm' });
      if (isCut) continue;
      for (const call of calls.toSorted(() => random() - 0.5)) {
        const { path } = call.arguments;
        const isLost = random() < 0.05;
        const isError = !isLost && random() < 0.1;
        // A call that was interrupted may have done what it was to do.
        if (!isError) (call.name === 'write' ? modified : read).add(path);
        const content = [{ type: 'text', text: 'r'.repeat(below(5000)) || '-' }] as const;
        if (!isLost) push(body(toolResultMessage(call, content, { isError, timestamp: 0 })));
      }
    }
  }
  return { entries, read, modified };
}

function said(calls: AssistantMessage['content'], isCut: boolean, totalTokens: number): AssistantMessage {
  return {
    role: 'assistant',
    content: [{ type: 'text', text: 'I go on.' }, ...calls],
    api: 'x',
    provider: 'p',
    model: 'm',
    usage: { ...NO_USAGE, totalTokens },
    stopReason: isCut ? 'aborted' : calls.length > 0 ? 'toolUse' : 'stop',
    timestamp: 0,
  };
}

/** One branch, as a tape gives it. */
function readerOf(entries: readonly Entry[]): BranchReader {
  const outlineOf = (entry: Entry): Outline => ({
    ...entry,
    detail: entry.type === 'message' ? entry.message.role : 'customType' in entry ? entry.customType : '',
  });
  return {
    ancestry: () => entries.map(outlineOf).reverse(),
    entries: (wanted) => entries.filter((entry) => wanted?.(outlineOf(entry)) !== false),
    entry: (id) => entries.find((entry) => entry.id === id),
    branch: ({ from, wanted } = {}) =>
      entries
        .slice(entries.findIndex(({ id }) => from === undefined || id === from))
        .filter((entry) => wanted?.(outlineOf(entry)) !== false),
  };
}

/** Compacts as the runtime does; the plan may be spoilt on its way. */
function compacted(
  { entries, ...files }: Grown,
  keepRecentTokens: number,
  spoil?: (cut: string) => string,
): Grown {
  const { sources, compacted: previous } = readHistory(readerOf(entries));
  const plan = planCompaction({
    sources,
    previous,
    keepRecentTokens,
    carryTokens: 2000,
    accessOf: ({ name, arguments: input }) => ({
      kind: name as 'read' | 'write',
      paths: [String(input['path'])],
    }),
    cwd: '/w',
  });
  if (plan === undefined) return { entries, ...files };
  const entry: CompactionBody = {
    type: 'compaction',
    summary: withLists('All prose is lost.', { files: plan.files, carried: NOTHING_CARRIED, open: [] }),
    firstKeptEntryId: spoil?.(plan.firstKeptEntryId) ?? plan.firstKeptEntryId,
    tokensBefore: 0,
    details: plan.files,
  };
  const base = { id: `e${entries.length}`, parentId: null, timestamp: new Date(0).toISOString() };
  return { entries: [...entries, { ...base, ...entry }], ...files };
}

function viewOf(grown: Grown): readonly Message[] {
  const messages = readHistory(readerOf(grown.entries)).view.messages();
  return new Trimmer().trim(messages, { window: 20_000, snipAt: 0.5, isReading: (id) => id.endsWith('0') });
}

function runRounds(rounds: number, spoil?: (cut: string) => string): readonly string[] {
  const faults: string[] = [];
  for (let seed = 1; seed <= rounds; seed++) {
    const random = seeded(seed);
    let grown: Grown = { entries: [], read: new Set(), modified: new Set() };
    for (let at = 0; at < 3; at++) {
      grown = compacted(grow(random, grown, at), random() < 0.3 ? 0 : Math.floor(random() * 3000), spoil);
      for (const { message } of findings(viewOf(grown))) faults.push(`seed ${seed}: ${message}`);
    }
    // What is still kept is listed by the next one.
    const all = compacted(grow(random, grown, 3), 0);
    const { compacted: last } = readHistory(readerOf(all.entries));
    const listed = new Set([...(last?.files.readFiles ?? []), ...(last?.files.modifiedFiles ?? [])]);
    for (const path of [...grown.read, ...grown.modified])
      if (!listed.has(path)) faults.push(`seed ${seed}: ${path} is lost`);
    for (const path of grown.modified)
      if (last?.files.modifiedFiles.includes(path) !== true) faults.push(`seed ${seed}: ${path} was changed`);
  }
  return faults;
}

test('every compacted view is valid, and no file is lost over three compactions', () => {
  assert.deepEqual(runRounds(ROUNDS).slice(0, 5), []);
});

test('a cut at the wrong place would be found', () => {
  const later = (cut: string) => (cut === '' ? cut : `e${Number(cut.slice(1)) + 2}`);
  assert.notDeepEqual(runRounds(30, later), []);
});

const KINDS = ['changed file', 'read file', 'decision', 'unfinished work', 'rule'] as const;

/** As people say such things. Two of each kind have none of the words that are looked for: what is carried on is no magic. */
const SAID: Readonly<Record<(typeof KINDS)[number], readonly string[]>> = {
  'changed file': Array.from({ length: 10 }, (_, at) => `/w/src/part-${at}.ts`),
  'read file': Array.from({ length: 10 }, (_, at) => `/w/docs/page-${at}.md`),
  decision: [
    'We decided to keep the parser recursive.',
    'Postgres instead of MySQL, because of its advisory locks.',
    'The decision on retries: five, with jitter.',
    'Let us settle this: agreed, the cache lives in the worker.',
    'We will use ULIDs for the ids of orders.',
    'I chose the blue theme for the dashboard.',
    'After the meeting they settled on weekly releases.',
    'Dates are stored in UTC rather than in local time.',
    'The port is 8443.',
    'Let tabs be it.',
  ],
  'unfinished work': [
    'The login test still fails on Windows.',
    'TODO: measure the cold start.',
    'The migration of the archive is not done.',
    'The flaky socket test was put off.',
    'What remains to write is the page about quotas.',
    'The import of old invoices is blocked by the missing schema.',
    'Known issue: the tooltip flickers.',
    'Unresolved: who owns the billing queue.',
    'Somebody ought to look at the logs of Tuesday.',
    'The second half of the refactoring comes tomorrow.',
  ],
  rule: [
    'Never push to main.',
    'Always run the linter before a commit.',
    'Commit messages must be in English.',
    'Do not touch the generated files.',
    'I prefer short functions.',
    'New dependencies are not allowed.',
    'Make sure that every flag is documented.',
    'Our rule for names: nouns for types.',
    'Two reviewers look at each change.',
    'Hands off the vendor folder.',
  ],
};

/** Fifty facts: ten of each kind, planted over three stretches of talk. */
const FACTS = Array.from({ length: 50 }, (_, at) => {
  const kind = KINDS[at % KINDS.length] ?? 'rule';
  return { kind, text: SAID[kind][Math.floor(at / KINDS.length)] ?? '' };
});

/** Calls what the prompt tells it to; writes summaries that keep none of the prose. */
function forgetfulModel(requests: ModelRequest[]): Model {
  let calls = 0;
  const chunksFor = (request: ModelRequest): readonly ModelChunk[] => {
    requests.push({ ...request, messages: [...request.messages] });
    const last = request.messages.at(-1);
    const text = last === undefined ? '' : messageText(last);
    const start: ModelChunk = { type: 'messageStart', id: 'm', model: 'forgetful' };
    const tokens = { ...NO_TOKENS, input: 100, output: 10 };
    const [, tool, path] =
      /^(read|write) (\/w\/\S+)$/m.exec(text.slice(text.lastIndexOf('</summary>') + 1)) ?? [];
    const isWork = last?.role === 'user' && tool !== undefined && !text.startsWith('<conversation>');
    if (!isWork)
      return [
        start,
        { type: 'contentDelta', index: 0, delta: 'Work goes on.' },
        { type: 'contentBlockStop', index: 0 },
        { type: 'end', stopReason: 'stop', tokens },
      ];
    const id = `call-${calls++}`;
    return [
      start,
      { type: 'toolUseStart', index: 0, id, name: tool },
      { type: 'toolUseDelta', id, delta: JSON.stringify({ path }) },
      { type: 'contentBlockStop', index: 0 },
      { type: 'end', stopReason: 'toolUse', tokens },
    ];
  };
  return {
    info: { provider: 'test', id: 'forgetful', api: 'test', contextWindow: 200_000, local: true },
    stream: async function* (request) {
      yield chunksFor(request);
    },
  };
}

const touching = (kind: 'read' | 'write'): Tool => ({
  name: kind,
  source: 'builtin',
  description: `${kind}.`,
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  plan: async (input) => ({
    access: { kind, paths: [String(input['path'])] },
    parallel: false,
    repeatable: false,
  }),
  run: async () => textOutput('ok'),
  show: async () => ({ kind: 'markdown', text: kind }),
});

function listMemory(entries: MemoryEntry[]): Memory {
  return {
    entries: async () => entries,
    find: async (name) => entries.find((entry) => entry.name === name),
    search: async () => [],
    apply: async (...operations) => {
      for (const operation of operations)
        if (operation.type === 'add')
          entries.push({ id: BigInt(entries.length), aliases: [], createdAt: 0n, ...operation });
      return entries.at(-1);
    },
    replace: async () => {},
    checkpoint: async () => {},
  };
}

const DECLARATION: Declaration = {
  agent: { name: 'crab' },
  mode: 'bypassPermissions',
  rules: [],
  directories: [],
  withoutTools: [],
  limits: { context: { keepRecentTokens: 0 } },
  instructions: { given: false, append: [], files: [], environment: [] },
  canAsk: false,
  sandbox: SANDBOX_OFF,
};

test('of fifty planted facts those that are kept structurally survive three compactions', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'crab-compaction-'));
  try {
    const clock = virtualClock();
    const requests: ModelRequest[] = [];
    const model = forgetfulModel(requests);
    const archives: MemoryEntry[] = [];
    let tape: Tape | undefined;
    const tapes = createTapes({ home: folder, clock, random: seeded(1) });
    const host: RuntimeHost = {
      clock,
      newId: createIds({ now: () => clock.now(), random: seeded(2) }),
      models: { resolve: async () => model, list: async () => [] },
      ledger: createLedger({ folder, now: () => clock.now() }),
      tapes: {
        ...tapes,
        create: async (options) => {
          tape = await tapes.create(options);
          return tape;
        },
      },
      memoryTapes: tapes,
      memories: {
        of: () => listMemory(archives),
        teamFolder: () => undefined,
        consolidations: () => Promise.reject(new Error('Nothing is consolidated here.')),
      },
      files: { resolve: async (path: string) => path } as RuntimeHost['files'],
      exec: () => Promise.reject(new Error('There are no commands here.')),
      open: () => Promise.reject(new Error('There are no programs here.')),
      jobs: (where) => createJobs({ clock, folder: where }),
      confine: async () => {
        throw new Error('nothing is confined here');
      },
      sweep: async () => {},
      scratch: {
        path: (name) => join(folder, name),
        make: async (name) => join(folder, name),
        write: async (name) => join(folder, name),
        remove: async () => {},
      },
      homeFolder: undefined,
      extensions: [
        { name: 'touch', tools: async () => [touching('read'), touching('write')] },
        builtinCommands,
      ],
    };
    const platform = createPlatform(host);
    const { address } = await platform.open({
      agent: 'crab',
      cwd: '/w',
      session: { kind: 'new' },
      declaration: DECLARATION,
      commands: [],
    });
    const say = async (text: string) => {
      for await (const events of platform.prompt(address, { text }, new AbortController().signal))
        for (const event of events)
          if (event.type === 'runEnd') assert.equal(event.error, undefined, event.error?.message);
    };
    for (const [at, { kind, text }] of FACTS.entries()) {
      await say(kind === 'changed file' ? `write ${text}` : kind === 'read file' ? `read ${text}` : text);
      if (at % 17 === 16 || at === FACTS.length - 1) await say(',compact');
    }
    await say('What now?');
    await platform.close();
    const shown = requests.at(-1)?.messages.map(messageText).join('\n') ?? '';
    const lines = new Set(shown.split('\n').map((line) => line.replace(/^- /, '')));
    const recall = KINDS.map((kind) => {
      const planted = FACTS.filter((fact) => fact.kind === kind);
      return [kind, planted.filter(({ text }) => lines.has(text)).length / planted.length] as const;
    });
    for (const [kind, share] of recall) t.diagnostic(`${kind}: ${Math.round(share * 100)} % recalled`);
    assert.deepEqual(Object.fromEntries(recall), {
      'changed file': 1,
      'read file': 1,
      decision: 0.8,
      'unfinished work': 0.8,
      rule: 0.8,
    });
    const onTape = [...(tape?.branch() ?? [])]
      .filter((entry) => entry.type === 'message')
      .map(({ message }) => messageText(message));
    for (const { text } of FACTS)
      assert.ok(
        onTape.some((said) => said.endsWith(text)),
        `${text} is on the tape`,
      );
    assert.deepEqual(
      archives.map(({ name, kind }) => [name.replace(/^\S+ /, ''), kind]),
      [
        ['Work goes on', 'archive'],
        ['Work goes on (2)', 'archive'],
        ['Work goes on (3)', 'archive'],
      ],
    );
    for (const { messages } of requests) assert.deepEqual(findings(messages), []);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
