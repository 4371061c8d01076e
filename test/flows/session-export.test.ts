// Sessions that leave and come back: what a page shows and what can never become markup, what other programs' readers
// find in the files that are made for them, and what is left of a session after the way there and back.

import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { runCrab, spawnCrab, testedCommand } from '../support/crab.ts';
import { readSession, sessionFiles } from '../support/session-files.ts';
import { HOSTILE, PNG, type Told, toldSession } from '../support/told-session.ts';
import { tempWorkspace } from '../support/workspace.ts';

async function told() {
  const work = await tempWorkspace({});
  const session = await toldSession(work.home, work.path);
  const run = (args: readonly string[]) => runCrab({ args, cwd: work.path, home: work.home });
  return {
    work,
    session,
    run,
    async exported(...args: readonly string[]): Promise<string> {
      const exit = await run(['session', 'export', session.id, ...args]);
      assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
      return exit.stdout;
    },
    [Symbol.asyncDispose]: () => work[Symbol.asyncDispose](),
  };
}

type Json = Readonly<Record<string, unknown>>;

const jsonLines = (text: string): readonly Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('a page stands alone, shows what was said, and nothing in it is markup of others', async () => {
  await using at = await told();
  const page = await at.exported();
  assert.match(page, /^<!doctype html>/);
  assert.doesNotMatch(page, /<script|<img src=x|<link|<iframe|<object/);
  assert.deepEqual(
    [...page.matchAll(/ (?:src|href)="(?!data:image\/png;base64,)([^"]*)"/g)].map(([, to]) => to),
    ['https://example.com/x'],
  );
  const tags = [...page.matchAll(/<[a-z][^>]*>/g)].map(([tag]) => tag);
  assert.deepEqual(
    tags.filter((tag) => / on\w+=/.test(tag.replace(/"[^"]*"/g, '""'))),
    [],
    'an attribute that would run',
  );
  assert.ok(page.includes(`data:image/png;base64,${PNG}`));
  assert.ok(page.includes('&lt;/script&gt;&lt;script&gt;alert(1)'));
  assert.ok(!page.includes('\u001b'));
  for (const shown of [
    '<span class="removed">- const a = 1;</span>',
    '<span class="added">+ const b = 3;</span>',
    '<span class="hunk">@@ -1 +1,2 @@</span>',
    '<strong>edit</strong>',
    '<li>one</li>',
    'Never answered.',
    '<details class="failed">',
    'const x = &quot;&lt;b&gt;&quot;;',
    'Back from another branch',
    'exit code 2',
    'Two warnings.',
  ])
    assert.ok(page.includes(shown), shown);
  assert.doesNotMatch(page, /A way that leads nowhere/);
});

test('Markdown has every part, and no fence can be ended from inside', async () => {
  await using at = await told();
  const text = await at.exported('--format', 'markdown');
  assert.match(text, /^# Told /);
  const fences = text.split('\n').filter((line) => /^```/.test(line));
  assert.equal(fences.length % 2, 0);
  for (const shown of [
    '## User',
    '## Assistant',
    '**edit**',
    '*Never answered.*',
    '*Failed:*',
    '> It led nowhere.',
  ])
    assert.ok(text.includes(shown), shown);
});

test('our own form comes back as it was', async () => {
  await using at = await told();
  await at.exported('-o', at.work.file('copy.jsonl'));
  const before = await readSession(at.session.path);
  assert.deepEqual((await readSession(at.work.file('copy.jsonl'))).entries, before.entries);
  assert.equal((await stat(at.work.file('copy.jsonl'))).mode & 0o777, 0o600);
  const exit = await at.run(['import', 'copy.jsonl']);
  assert.equal(exit.code, 0, exit.stderr);
  const sessions = await sessionFiles(at.work.home);
  const copy = sessions.find(({ header }) => header.id !== at.session.id);
  assert.deepEqual(copy?.header.origin, {
    kind: 'crab',
    id: at.session.id,
    path: at.work.file('copy.jsonl'),
  });
  assert.deepEqual(copy?.entries, before.entries);
  const again = await at.run(['import', 'copy.jsonl']);
  assert.match(again.stdout, /^passed over .*: it was imported before, as [0-9A-Z]{26}\n$/);
  assert.equal((await sessionFiles(at.work.home)).length, 2);
});

/** The entry types of pi's session format, version 3, and the roles of its messages. */
const PI_TYPES = new Set([
  'message',
  'thinking_level_change',
  'model_change',
  'compaction',
  'branch_summary',
  'custom',
  'custom_message',
  'label',
  'session_info',
]);
const PI_ROLES = new Set(['user', 'assistant', 'toolResult', 'bashExecution', 'custom']);

/** What pi's `buildSessionContext` makes of a file: from the last line up to the root. */
function piContext(lines: readonly Json[]): readonly Json[] {
  const [header, ...entries] = lines;
  assert.deepEqual([header?.['type'], header?.['version'], typeof header?.['id']], ['session', 3, 'string']);
  const byId = new Map(entries.map((entry) => [entry['id'], entry]));
  assert.equal(byId.size, entries.length, 'two entries of one id');
  const path: Json[] = [];
  for (let at = entries.at(-1); at !== undefined; at = byId.get(at['parentId'])) {
    assert.ok(PI_TYPES.has(String(at['type'])), `pi knows no ${at['type']}`);
    assert.ok(at['parentId'] === null || byId.has(at['parentId']), `${at['id']} hangs from nothing`);
    assert.ok(!Number.isNaN(Date.parse(String(at['timestamp']))));
    path.unshift(at);
  }
  return path.flatMap((entry) => {
    if (entry['type'] === 'branch_summary') return [{ role: 'branchSummary', summary: entry['summary'] }];
    if (entry['type'] === 'custom_message') return [{ role: 'custom', content: entry['content'] }];
    if (entry['type'] !== 'message') return [];
    const message = entry['message'] as Json;
    assert.ok(PI_ROLES.has(String(message['role'])), `pi knows no ${message['role']}`);
    return [message];
  });
}

test('pi’s reader finds the branch that we are on', async () => {
  await using at = await told();
  const lines = jsonLines(await at.exported('--format', 'pi'));
  assert.ok(lines.every((line) => !('crc' in line) && !('session' in line)));
  assert.deepEqual(
    piContext(lines).map(({ role }) => role),
    [
      'user',
      'assistant',
      'toolResult',
      'toolResult',
      'assistant',
      'branchSummary',
      'bashExecution',
      'custom',
      'user',
      'assistant',
      'toolResult',
      'assistant',
    ],
  );
  await at.run(['session', 'move', at.session.id, 'start']);
  const first = (await readSession(at.session.path)).entries.find(({ type }) => type === 'message');
  await at.run(['session', 'move', at.session.id, first?.id ?? '']);
  assert.deepEqual(
    piContext(jsonLines(await at.exported('--format', 'pi'))).map(({ role }) => role),
    ['user'],
  );
});

test('a session of pi is imported with all of its versions’ ways', async () => {
  await using at = await told();
  const message = { role: 'user', content: 'hi', timestamp: 1 };
  await writeFile(
    at.work.file('v1.jsonl'),
    [
      { type: 'session', id: 'old', timestamp: '2025-01-01T00:00:00.000Z', cwd: '/elsewhere' },
      { type: 'message', timestamp: '2025-01-01T00:00:01.000Z', message },
      { type: 'message', timestamp: '', message: { role: 'hookMessage', content: 'hook', timestamp: 2 } },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
  const exit = await at.run(['import', 'v1.jsonl']);
  assert.match(exit.stdout, /^[0-9A-Z]{26} {2}pi {2}2 messages/);
  const shown = await at.run(['session', 'show', exit.stdout.slice(0, 26), '--json']);
  const { path, origin, cwd } = JSON.parse(shown.stdout);
  assert.deepEqual({ cwd, origin: origin.kind }, { cwd: '/elsewhere', origin: 'pi' });
  const [header, ...entries] = jsonLines(await readFile(path, 'utf8'));
  assert.equal(header?.['timestamp'], '2025-01-01T00:00:00.000Z');
  assert.deepEqual(
    entries.map(({ id, parentId }) => ({ id, parentId })),
    [
      { id: 'line-2', parentId: null },
      { id: 'line-3', parentId: 'line-2' },
    ],
  );
});

/** Claude Code's chain, by its own rules: one root or a compaction's, and every call answered before anything else. */
function claudeChain(lines: readonly Json[]): readonly Json[] {
  const seen = new Set<unknown>();
  const open = new Set<unknown>();
  return lines.filter(({ type, parentUuid, uuid, message, sessionId }) => {
    if (type === 'summary') return false;
    assert.match(`${uuid} ${sessionId}`, /^[0-9a-f-]{36} [0-9a-f-]{36}$/);
    assert.ok(parentUuid === null || seen.has(parentUuid));
    seen.add(uuid);
    const { role, content } = (message ?? {}) as Json;
    assert.equal(role, type);
    for (const block of (Array.isArray(content) ? content : []) as readonly Json[]) {
      if (block['type'] === 'tool_result')
        assert.ok(open.delete(block['tool_use_id']), 'a result without its call');
    }
    const isResult =
      Array.isArray(content) && (content as Json[]).some((block) => block['type'] === 'tool_result');
    if (!isResult) assert.equal(open.size, 0, 'something was said before a call was answered');
    for (const block of (Array.isArray(content) ? content : []) as readonly Json[])
      if (block['type'] === 'tool_use') open.add(block['id']);
    return true;
  });
}

test('Claude Code’s chain has every call answered, and comes back as what was said', async () => {
  await using at = await told();
  const lines = jsonLines(await at.exported('--format', 'claude'));
  assert.equal(claudeChain(lines).length, 13);
  await at.exported('--format', 'claude', '-o', at.work.file('c.jsonl'));
  const exit = await at.run(['import', 'c.jsonl', '--json']);
  const [{ id, kind, messages }] = JSON.parse(exit.stdout);
  assert.deepEqual({ kind, messages }, { kind: 'claude', messages: 13 });
  const back = (await sessionFiles(at.work.home)).find(({ header }) => header.id === id);
  const before = await readSession(at.session.path);
  assert.deepEqual(back?.spoken.slice(0, 2), before.spoken.slice(0, 2));
  assert.deepEqual(back?.spoken.at(-1), before.spoken.at(-1));
  const resumed = await at.run(['session', 'show', id, '--json']);
  assert.equal(JSON.parse(resumed.stdout).title, `Told ${HOSTILE}`);
});

test('keys are taken out of every form, unless somebody wants them', async () => {
  await using at = await told();
  const key = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
  await at.run(['session', 'rename', at.session.id, `my key is ${key}`]);
  const own = 'correct-horse-battery-9-staple';
  await runCrab({
    args: ['-p', `!echo ${own} ${key}`, '--session', at.session.path],
    cwd: at.work.path,
    home: at.work.home,
  });
  for (const format of ['html', 'markdown', 'jsonl', 'pi', 'claude']) {
    const args = ['session', 'export', at.session.id, '--format', format];
    const { stdout } = await runCrab({
      args,
      cwd: at.work.path,
      home: at.work.home,
      env: { OPENAI_API_KEY: own },
    });
    assert.ok(!stdout.includes(key) && !stdout.includes(own), format);
    assert.ok(stdout.includes('[redacted]'), format);
    assert.ok((await at.exported('--format', format, '--with-secrets')).includes(key), format);
  }
});

test('a folder is looked through, and what is no session is passed over', async () => {
  await using at = await told();
  const { path } = at.session satisfies Told;
  await writeFile(at.work.file('notes.jsonl'), '{"note":1}\n');
  await writeFile(at.work.file('broken.jsonl'), '{"type":"session","version":9,"id":"x"}\n');
  await writeFile(
    at.work.file('chat.jsonl'),
    '{"role":"user","content":"hi"}\n{"role":"assistant","content":"yes"}\n',
  );
  await writeFile(at.work.file('copy.jsonl'), await readFile(path));
  const exit = await at.run(['import', at.work.path]);
  assert.equal(exit.code, 1);
  assert.match(exit.stdout, /chat {2}2 messages/);
  assert.match(exit.stdout, /passed over .*broken\.jsonl: .*version 9/);
  assert.match(exit.stdout, /passed over .*notes\.jsonl: it is no session that Crab knows/);
  assert.match(exit.stdout, /Imported 2 sessions; passed over 2 files\.\n$/);
});

test('a log of another program need not be as tidy as ours', async () => {
  await using at = await told();
  const file = at.work.file('log.jsonl');
  const [user, assistant] = ['{"role":"user","content":"hé"}', '{"role":"assistant","content":"last"}'];
  await writeFile(file, `\uFEFF${user}\r\n\r\n{"role":\nno JSON\n${assistant}`);
  const { code, stdout, stderr } = await at.run(['import', file]);
  assert.deepEqual(
    { code, stderr },
    {
      code: 0,
      stderr: `crab: ${file}: 2 lines, from line 3 on, cannot be read and stay behind.\n`,
    },
  );
  const id = stdout.split(' ')[0] ?? '';
  const shown = await at.run(['session', 'show', id]);
  assert.match(shown.stdout, /\n› hé\n\nlast\n$/);
});

test('an export that finds no room leaves nothing behind', async () => {
  await using at = await told();
  const file = at.work.file('talk.html');
  const [node = '', ...before] = testedCommand();
  const limited = ['-c', 'ulimit -f 4; exec "$0" "$@"', node, ...before];
  const args = [...limited, 'session', 'export', at.session.id, '-o', file];
  const exit = await runCrab({ bin: 'bash', args, cwd: at.work.path, home: at.work.home });
  assert.equal(exit.code, 1);
  assert.match(exit.stderr, /Cannot write .*talk\.html: EFBIG/);
  await assert.rejects(stat(file), { code: 'ENOENT' });
});

test('Ctrl-C stops an export in its middle', async () => {
  await using work = await tempWorkspace({});
  const lines = [
    { type: 'session', version: 3, id: 'long', timestamp: '2026-01-01T00:00:00Z', cwd: work.path },
    ...long(),
  ];
  await writeFile(work.file('long.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const args = ['session', 'export', work.file('long.jsonl')];
  await using crab = spawnCrab({ args, cwd: work.path, home: work.home });
  await crab.waitFor('prompt 1<');
  crab.kill('SIGINT');
  const { code, stdout } = await crab.exited;
  assert.deepEqual([code, stdout.includes('prompt 49999<')], [130, false]);
});

function* long(): Generator<object> {
  for (let at = 0; at < 50_000; at++) {
    const message = { role: 'user', content: `prompt ${at}`, timestamp: at };
    const parentId = at === 0 ? null : `e${at - 1}`;
    yield { type: 'message', id: `e${at}`, parentId, timestamp: '2026-01-01T00:00:00Z', message };
  }
}

test('what cannot be exported or imported is refused, and nothing is overwritten', async () => {
  await using at = await told();
  await writeFile(at.work.file('there.html'), 'mine');
  for (const [args, code, reason] of [
    [['session', 'export', at.session.id, '-o', 'there.html'], 1, /there is a file of that name/],
    [['session', 'export', at.session.id, '--format', 'pdf'], 2, /--format pdf is not known/],
    [['session', 'export', '../x'], 9, /There is no session file/],
    [['import', 'none.jsonl'], 9, /there is no such file/],
    [['import', '/dev/null'], 9, /neither a file nor a folder/],
    [['import', '--from', 'bogus', 'x'], 2, /--from bogus is not known/],
    [['import'], 2, /The form is/],
  ] as const) {
    const exit = await at.run(args);
    assert.deepEqual({ args, code: exit.code }, { args, code });
    assert.match(exit.stderr, reason);
  }
  const unknown = await at.run(['import', 'there.html']);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stdout, /^passed over .*there\.html: it is no session that Crab knows/);
  assert.equal(await readFile(at.work.file('there.html'), 'utf8'), 'mine');
});
