// The tools about the work itself, called by a scripted model through the built program.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Reply, ScriptedCall } from '../../src/dev/scenario.ts';
import { type Journey, journey, linesOf, onEachWire } from '../support/journey.ts';

const call = (name: string, input: ScriptedCall['input'] = {}): Reply => ({ calls: [{ name, input }] });

/** What the model was told of each call, in order. */
function told(at: Journey): readonly string[] {
  const last = at.asked().at(-1);
  return last?.messages.flatMap((said) => (said.role === 'result' ? [said.text] : [])) ?? [];
}

/** The names of the tools that each request carried. */
function sentTools(at: Journey): readonly (readonly string[])[] {
  return at.provider.requests
    .filter(({ wire }) => wire !== undefined)
    .map(({ body }) => {
      const { tools = [] } = Object(body) as {
        tools?: readonly { name?: string; function?: { name: string } }[];
      };
      return tools.map((tool) => tool.name ?? tool.function?.name ?? '');
    });
}

onEachWire('a list of steps is replaced whole, and is there when the session goes on', async (wire) => {
  const steps = (first: string, second: string) => ({
    todos: [
      { content: 'Read the code', status: first },
      { content: 'Run the tests', status: second, activeForm: 'Running the tests' },
    ],
  });
  await using at = await journey(wire, {
    script: [
      call('todo_write', steps('in_progress', 'in_progress')),
      call('TodoWrite', steps('completed', 'in_progress')),
      { text: 'First.' },
      call('todo_write'),
      { text: 'Second.' },
    ],
  });
  const first = await at.run(['-p', 'go', '--verbose']);
  assert.equal(first.stdout, 'First.\n');
  assert.match(first.stderr, /☑ Read the code\n.*▶ Running the tests/);
  assert.match(
    told(at)[0] ?? '',
    /2 items are in progress: Read the code; Run the tests\. At most one may be\./,
  );
  assert.equal(told(at)[1], 'The list has 2, of which 1 are open. In progress: Run the tests.');
  await at.run(['-p', 'and then', '--continue']);
  assert.equal(told(at)[2], '1. [completed] Read the code\n2. [in_progress] Run the tests');
});

onEachWire('a deferred tool is named, found, sent last and for the rest of the session', async (wire) => {
  await using at = await journey(wire, {
    script: [
      call('tool_search', { query: 'tasks that depend on each other' }),
      call('task_create', { subject: 'One', description: 'The first' }),
      { text: 'First.' },
      call('tool_search', { query: 'select:CronList' }),
      { text: 'Second.' },
    ],
  });
  await at.run(['-p', 'go']);
  await at.run(['-p', 'more', '--continue']);
  const [before = [], after = [], , , last = []] = sentTools(at);
  assert.equal(before.includes('task_create'), false);
  assert.match(JSON.stringify(at.asked()[0]?.system), /look for before you call them: .*task_create/);
  assert.deepEqual(after.slice(0, before.length), before);
  assert.ok(after.slice(before.length).includes('task_create'));
  assert.match(told(at)[0] ?? '', /^You can call these from here on:\n\n(?:.|\n)*task_create: Adds a task/);
  assert.equal(told(at)[1], 'Task 1 is added: One');
  assert.deepEqual(last, [...after, 'cron_list']);
});

onEachWire(
  'tasks wait for each other, a circle is refused, and a deferred tool runs unasked for',
  async (wire) => {
    await using at = await journey(wire, {
      script: [
        call('task_create', { subject: 'Build', description: 'b' }),
        call('task_create', { subject: 'Ship', description: 's' }),
        call('task_update', { taskId: '2', addBlockedBy: ['1'] }),
        call('task_update', { taskId: '1', addBlockedBy: ['2'] }),
        call('task_update', { taskId: '2', status: 'in_progress' }),
        call('task_update', { taskId: '1', status: 'completed', owner: 'ada' }),
        call('task_list'),
        call('task_get', { task_id: 2 }),
        { text: 'Done.' },
      ],
    });
    await at.run(['-p', 'go']);
    const [, , linked, circle, early, done, list, one] = told(at);
    assert.equal(linked, '2. Ship [pending; waits for 1]');
    assert.match(circle ?? '', /Tasks cannot wait for each other in a circle: /);
    assert.match(early ?? '', /Task 2 waits for 1, which must be completed first\./);
    assert.equal(done, '1. Build [completed; owner ada] Ready now: 2.');
    assert.equal(list, '1. Build [completed; owner ada]\n2. Ship [pending; ready]');
    assert.deepEqual(JSON.parse(one ?? ''), {
      id: '2',
      subject: 'Ship',
      description: 's',
      metadata: {},
      status: 'pending',
      blockedBy: ['1'],
      blocks: [],
      ready: true,
    });
  },
);

onEachWire('a task needs a subject, and nothing waits any more for one that is deleted', async (wire) => {
  await using at = await journey(wire, {
    script: [
      call('task_create', { subject: '', description: 'b' }),
      call('task_create', { subject: 'Build', description: 'b' }),
      call('task_create', { subject: 'Ship', description: 's', addBlockedBy: ['1'] }),
      call('task_update', { taskId: '1', status: 'deleted' }),
      call('task_get', { taskId: '2' }),
      { text: 'Done.' },
    ],
  });
  await at.run(['-p', 'go']);
  const [refused, , added, , one] = told(at);
  assert.match(refused ?? '', /The subject is empty\./);
  assert.equal(added, 'Task 2 is added: Ship (waits for 1)');
  assert.deepEqual(JSON.parse(one ?? '').blockedBy, []);
});

onEachWire('where nobody can be asked, questions and plans say so, and the plan is kept', async (wire) => {
  await using at = await journey(wire, {
    script: [
      call('ask_user', { questions: [{ question: 'Which?', options: ['a', 'b'] }] }),
      call('exit_plan_mode', { plan: '1. Look\n2. Mend' }),
      call('bash', { command: 'touch made' }),
      { text: 'The plan.' },
    ],
  });
  const exit = await at.run(['-p', 'go', '--permission-mode', 'plan']);
  assert.equal(exit.stdout, 'The plan.\n');
  const [question, plan, refused] = told(at);
  assert.match(question ?? '', /Nobody is here to answer\. Decide yourself/);
  assert.match(plan ?? '', /Nobody is here to approve it, so plan mode holds/);
  assert.match(refused ?? '', /plan mode only reads/);
  const folder = join(at.work.home, '.crab/plans');
  const [file = ''] = await readdir(folder);
  assert.equal(await readFile(join(folder, file), 'utf8'), '1. Look\n2. Mend\n');
});

onEachWire(
  'the model goes into plan mode, changes nothing, and verifies what its plan says',
  async (wire) => {
    await using at = await journey(wire, {
      files: { 'there.txt': 'x' },
      script: [
        call('enter_plan_mode'),
        call('write', { path: 'new.txt', content: 'x' }),
        call('write_plan', { plan: '# Plan\n\n1. Look\n2. Mend it' }),
        call('write_plan', { old_string: 'Mend it', new_string: 'Mend the parser' }),
        call('verify_plan'),
        call('verify_plan', {
          findings: [{ step: 1, outcome: 'done', evidence: 'read', files: ['gone.txt'] }],
        }),
        call('verify_plan', {
          findings: [
            { step: 1, outcome: 'done', evidence: 'read it', files: ['there.txt'] },
            { step: 2, outcome: 'missing', evidence: 'plan mode' },
          ],
        }),
        { text: 'Done.' },
      ],
    });
    await at.run(['-p', 'go', '--permission-mode', 'acceptEdits']);
    const [entered, refused, , , steps, faults, verdict] = told(at);
    assert.match(entered ?? '', /^Plan mode holds\./);
    assert.match(refused ?? '', /plan mode only reads/);
    assert.equal(existsSync(at.work.file('new.txt')), false);
    assert.equal(steps, '1. Look\n2. Mend the parser');
    assert.match(
      faults ?? '',
      /Step 2 has no finding: Mend the parser\nStep 1 names gone\.txt, which is not there\./,
    );
    assert.match(verdict ?? '', /^Open: 2 of 2 steps\./);
    const folder = join(at.work.home, '.crab/plans');
    const [file = ''] = await readdir(folder);
    const kept = await readFile(join(folder, file), 'utf8');
    assert.match(
      kept,
      /## Verification\n\n1\. done: Look \(read it\)\n2\. missing: Mend the parser \(plan mode\)\n$/,
    );
  },
);

onEachWire('a message and a file reach the person beside the answer', async (wire) => {
  await using at = await journey(wire, {
    files: { 'report.md': 'All is well.\n', empty: '' },
    script: [
      call('brief', { message: 'Half of it is done.', urgent: true }),
      call('send_user_file', { path: 'report.md', caption: 'The report' }),
      call('send_user_file', { files: ['empty'] }),
      call('send_user_file', { files: ['gone.md'] }),
      { text: 'Done.' },
    ],
  });
  const exit = await at.run(['-p', 'go', '--output-format', 'stream-json', '--verbose']);
  const sent = linesOf(exit).filter(({ subtype }) => subtype === 'notification');
  assert.deepEqual(
    sent.map(({ text, files, urgent }) => ({ text, files, urgent })),
    [
      { text: 'Half of it is done.', files: [], urgent: true },
      { text: 'The report', files: [at.work.file('report.md')], urgent: false },
    ],
  );
  assert.match(told(at)[2] ?? '', /empty is empty\./);
  assert.match(told(at)[3] ?? '', /There is no file .*gone\.md\./);
});

test('a message stands on standard error, and the answer alone on standard output', async () => {
  await using at = await journey('anthropic', {
    script: [call('brief', { message: 'Half of it is done.', urgent: true }), { text: 'Done.' }],
  });
  const exit = await at.run(['-p', 'go']);
  assert.deepEqual([exit.stdout, exit.stderr], ['Done.\n', '✉ Half of it is done.\n']);
});

onEachWire('the model names the conversation', async (wire) => {
  await using at = await journey(wire, {
    script: [
      call('set_title', { title: ' Mend the\nparser ' }),
      call('set_title', { title: 'x'.repeat(61) }),
      { text: 'Done.' },
    ],
  });
  await at.run(['-p', 'go']);
  assert.match(told(at)[1] ?? '', /The title has 61 characters; at most 60 are kept\./);
  assert.match((await at.run(['session', 'list'])).stdout, /Mend the parser/);
});

test('settings are read, and changed when permissions allow it and the file stays valid', async () => {
  await using at = await journey('anthropic', {
    script: [
      call('config', { setting: 'effort' }),
      call('config', { setting: 'effort', value: 'low' }),
      call('config', { setting: 'effort', value: 'huge' }),
      call('config', { setting: 'api_key_helper' }),
      { text: 'Done.' },
    ],
  });
  const path = join(at.work.home, '.crab/config.toml');
  await mkdir(join(at.work.home, '.crab'), { recursive: true });
  await writeFile(path, '# mine\neffort = "high" # thinks\n\n[budget]\nday_usd = 5\n');
  await at.run(['-p', 'go']);
  const refused = told(at);
  assert.equal(refused[0], 'effort = "high"');
  assert.match(refused[1] ?? '', /config\.toml is protected/);
  await at.run(['-p', 'go', '--dangerously-skip-permissions']);
  const [, changed, wrong, secret] = told(at);
  assert.match(
    changed ?? '',
    /^effort = "low" in .*config\.toml\. It holds from the next start of Crab on\.$/,
  );
  assert.match(wrong ?? '', /effort must be one of off, low, medium, high, max, not "huge"\./);
  assert.match(secret ?? '', /do not fit config/);
  assert.equal(await readFile(path, 'utf8'), '# mine\neffort = "low"\n\n[budget]\nday_usd = 5\n');
});

test('prompts are scheduled, listed and taken out, and what would not fire is refused', async () => {
  await using at = await journey('anthropic', {
    script: [
      call('cron_create', { schedule: '0 9 * * 1-5', prompt: 'Say "good morning"' }),
      call('cron_create', { schedule: '0 9 31 2 *', prompt: 'Never' }),
      call('CronCreate', { cron: '0 0 1 1 *', prompt: 'A new year', recurring: false }),
      call('cron_delete', { id: 1 }),
      call('cron_delete', { id: 7 }),
      call('cron_list'),
      call('schedule_wakeup', { delaySeconds: 5, prompt: 'Look again' }),
      { text: 'Done.' },
    ],
  });
  await at.run(['-p', 'go', '--dangerously-skip-permissions']);
  const [made, never, , removed, unknown, list, wakeup] = told(at);
  assert.match(
    made ?? '',
    /^Entry 1 is in .*crons\.toml; its next time is .*T09:00:00Z\. No service is running/,
  );
  assert.match(never ?? '', /never fires/);
  assert.equal(removed, 'Entry 1 is taken out: Say "good morning"');
  assert.equal(unknown, 'There is no entry 7. There are: 2.');
  assert.match(list ?? '', /^2 {2}0 0 1 1 \* \(once\) {2}\d{4}-01-01T00:00:00Z {2}A new year\nNo service/);
  assert.match(wakeup ?? '', /Nothing could wake you here/);
  const text = await readFile(join(at.work.home, '.crab/crons.toml'), 'utf8');
  assert.match(text, /^\[\[cron\]\]\nid = 2\nschedule = "0 0 1 1 \*"\nprompt = "A new year"\n/);
});

test('a schedule has a zone, by the name that its file has as well', async () => {
  const script = [
    call('cron_create', { schedule: '0 9 * * *', prompt: 'Hello', tz: 'Asia/Tokyo' }),
    { text: 'Done.' },
  ];
  await using at = await journey('anthropic', { script });
  await at.run(['-p', 'go', '--dangerously-skip-permissions']);
  assert.match(told(at)[0] ?? '', /its next time is \d{4}-\d\d-\d\dT00:00:00Z\./);
});

test('a worktree is entered, is the workspace from then on, and keeps what nobody agreed to lose', async () => {
  await using at = await journey('anthropic', {
    git: true,
    files: { 'a.txt': 'one\n', '.env': 'KEY=1\n' },
    script: [
      call('enter_worktree', { name: 'try' }),
      call('bash', { command: 'pwd; git branch --show-current' }),
      call('write', { path: 'b.txt', content: 'two\n' }),
      call('exit_worktree', { action: 'remove' }),
      call('exit_worktree', { action: 'keep' }),
      call('bash', { command: 'pwd' }),
      call('enter_worktree', { name: '../up' }),
      { text: 'Done.' },
    ],
  });
  await at.run(['-p', 'go', '--dangerously-skip-permissions']);
  const [entered, where, , kept, back, home, badName] = told(at);
  const path = /The working directory is (?<path>\S+), on/.exec(entered ?? '')?.groups?.['path'] ?? '';
  assert.ok(path.startsWith(join(at.work.home, '.crab/worktrees/')), entered);
  assert.equal(where?.trim(), `${path}\nworktree-try`);
  assert.equal(await readFile(join(path, 'b.txt'), 'utf8'), 'two\n');
  assert.match(
    kept ?? '',
    /is kept: 1 changed files \(b\.txt\) would be lost, and nobody is here to agree\./,
  );
  assert.match(back ?? '', /are kept\.$/);
  assert.equal(home?.trim(), at.work.path);
  assert.match(badName ?? '', /is no name for a worktree/);
  const { stdout } = await promisify(execFile)('git', ['worktree', 'list'], { cwd: at.work.path });
  assert.equal(stdout.trim().split('\n').length, 2);
});

test('a command cannot have git start its programs outside the sandbox by way of a worktree', async () => {
  const plant = [
    'git init -q --separate-git-dir=elsewhere .',
    'git config filter.planted.smudge "touch $HOME/escaped; cat" && git config filter.planted.clean cat',
    "echo '* filter=planted' >.gitattributes && git add .gitattributes",
    'git -c user.name=a -c user.email=a@b commit -qm planted',
  ].join('\n');
  await using at = await journey('anthropic', {
    script: [call('bash', { command: plant }), call('enter_worktree', { name: 'try' }), { text: 'Done.' }],
  });
  await at.run(['-p', 'go', '--dangerously-skip-permissions']);
  assert.match(told(at)[1] ?? '', /its \.git leads to a folder whose settings commands may have written/);
  assert.equal(existsSync(join(at.work.home, 'escaped')), false);
});

test('`crab worktree` lists what conversations left, and removes what is not lost with it', async () => {
  await using at = await journey('anthropic', {
    git: true,
    files: { 'a.txt': 'one\n' },
    script: [
      call('enter_worktree', { name: 'changed' }),
      call('write', { path: 'b.txt', content: 'two\n' }),
      call('exit_worktree', { action: 'keep' }),
      call('enter_worktree', { name: 'clean' }),
      call('list_worktrees'),
      { text: 'Done.' },
    ],
  });
  const worktree = (...words: readonly string[]) => at.run(['worktree', ...words]);
  assert.equal((await worktree('list')).stdout, 'There is no worktree here.\n');
  await at.run(['-p', 'go', '--dangerously-skip-permissions']);
  const [{ id }] = JSON.parse((await at.run(['session', 'list', '--json'])).stdout);
  const listed = told(at)[4] ?? '';
  const path = /^\S+/.exec(listed)?.[0] ?? '';
  const rows = (changed: string, clean: string) =>
    `${path}  worktree-changed  changed: 1 changed files (b.txt)  ${changed} by crab ${id}\n` +
    `${path.replace(/changed$/, 'clean')}  worktree-clean  clean  ${clean} by crab ${id}`;
  assert.equal(listed, rows('left', 'in use').replace(`${id}\n`, `${id}, which is open\n`));
  assert.equal((await worktree('list')).stdout, `${rows('left', 'left')}\n`);
  const refused = await worktree('remove', 'clean', 'changed');
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /changed is kept: 1 changed files \(b\.txt\) would be lost\. .*\nAdd --force/);
  assert.match((await worktree('prune', '--dry-run')).stdout, /^Would remove \S+\/clean\n$/);
  assert.match((await worktree('prune')).stdout, /^Removed \S+\/clean and its branch worktree-clean\n$/);
  await at.run(['session', 'delete', id]);
  const [left] = JSON.parse((await worktree('list', '--all', '--json')).stdout);
  assert.deepEqual(
    [left.path, left.condition, left.use, left.session, left.repository],
    [path, 'changed', 'gone', id, at.work.path],
  );
  assert.match((await worktree('remove', path, '--force')).stdout, /^Removed /);
  assert.equal((await worktree('prune', '--all')).stdout, 'There is nothing to remove.\n');
  assert.equal(existsSync(path), false);
  for (const wrong of [['remove'], ['list', 'x'], ['remove', 'nothing']])
    assert.notEqual((await worktree(...wrong)).code, 0);
});

onEachWire('long results before a snip are cut short, also when the session goes on', async (wire) => {
  const lines = Array.from({ length: 400 }, (_, number) => `line ${number + 1}`).join('\n');
  await using at = await journey(wire, {
    files: { 'long.txt': lines },
    script: [
      call('read', { path: 'long.txt' }),
      call('snip'),
      call('read', { path: 'long.txt', offset: 1 }),
      { text: 'First.' },
      { text: 'Second.' },
    ],
  });
  await at.run(['-p', 'go']);
  await at.run(['-p', 'more', '--continue']);
  const [cut, , whole] = told(at);
  assert.match(cut ?? '', /line 10\n\[snipped\] \d+ lines\n/);
  assert.match(whole ?? '', /line 200\n/);
});

test('deny rules hold in a worktree, those about the folder that was left, too', async () => {
  await using at = await journey('anthropic', {
    git: true,
    files: { 'secret.txt': 'KEY=1\n' },
    script: [
      call('enter_worktree', { name: 'try' }),
      call('read', { path: 'secret.txt' }),
      // From $HOME/.crab/worktrees/NAME/try.
      call('read', { path: '../../../../../work/secret.txt' }),
      { text: 'Done.' },
    ],
  });
  await at.run(['-p', 'go', '--dangerously-skip-permissions', '--disallowedTools', 'Read(./secret.txt)']);
  const [entered, inside, left] = told(at);
  assert.match(entered ?? '', /on the branch worktree-try/);
  for (const refused of [inside, left])
    assert.match(refused ?? '', /denied by policy: the rule Read\(\.\/secret\.txt\)/);
});

test('`crab tools` lists what there is, documents one, and knows the other names', async () => {
  await using at = await journey('anthropic', { script: [] });
  const list = await at.run(['tools']);
  assert.match(list.stdout, /^Sent with every request:\n {2}read +Read a file/);
  assert.match(
    list.stdout,
    /\nFound by the model when it looks for them:\n(?: {2}.*\n)* {2}enter_plan_mode /,
  );
  const one = await at.run(['tools', 'TodoWrite']);
  assert.match(one.stdout, /^todo_write \(also TodoWrite, todo, write_todos\)\n\n/);
  assert.match(one.stdout, /\n {2}todos\[\]\.status +pending \| in_progress \| completed +required\n/);
  assert.match(
    one.stdout,
    /Source: builtin\. Sent with every request\.\nA call touches nothing guarded; it runs alone/,
  );
  const { name, safety } = JSON.parse((await at.run(['tools', 'bash', '--json'])).stdout);
  assert.deepEqual([name, safety], ['bash', { access: 'command', parallel: false, repeatable: false }]);
  const unknown = await at.run(['tools', 'todo_rite']);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /There is no tool todo_rite\. \[usage\]\nDid you mean todo_write\?/);
});
