// One agent gives tasks to another: the words come back, the session names the one it belongs to, and nobody gets further
// by passing a task on.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Reply, Script } from '../../src/dev/scenario.ts';
import { type Journey, journey, type Line, linesOf, onEachWire } from '../support/journey.ts';

const FREELY = '--dangerously-skip-permissions';
const STREAM = ['--output-format', 'stream-json', '--verbose'];

const one = (name: string, input: Readonly<Record<string, unknown>>): Reply => ({ calls: [{ name, input }] });
const delegate = (input: Readonly<Record<string, unknown>>) => one('delegate', input);
const script = (when: string, ...replies: readonly Reply[]): Script => ({ when, replies });

/** What the results of calls said to the agent whose conversation begins so. */
function results(at: Journey, begin: string): readonly string[] {
  const last = asked(at, begin).at(-1)?.messages ?? [];
  return last.flatMap((said) => (said.role === 'result' ? [said.text] : []));
}

function asked(at: Journey, begin: string) {
  return at.asked().filter(({ messages }) => {
    const [first] = messages;
    return first?.role === 'user' && first.text.startsWith(begin);
  });
}

function events(exit: { readonly stdout: string }, subtype: string): readonly Line[] {
  return linesOf(exit).filter((line) => line['subtype'] === subtype);
}

async function headers(at: Journey): Promise<readonly Line[]> {
  const sessions = await at.sessions();
  const all = await Promise.all(
    sessions.map(async ({ path }) => (await readFile(path, 'utf8')).split('\n', 1)[0]),
  );
  return all.map((line) => JSON.parse(line ?? '{}'));
}

onEachWire('a task is carried out in a session of its own, and its last words come back', async (wire) => {
  const scripts = [
    script('lead', delegate({ tasks: [{ prompt: 'count the files', description: 'count' }] }), {
      text: 'Two.',
    }),
    script('count', one('ls', {}), { text: 'There are 2 files.' }),
  ];
  await using at = await journey(wire, { script: { scripts }, files: { 'a.txt': '', 'b.txt': '' } });
  const exit = await at.run(['-p', 'lead', '--allowedTools', 'Agent(worker)', ...STREAM]);
  assert.equal(exit.code, 0, exit.stderr);
  assert.deepEqual(results(at, 'lead'), ['There are 2 files.']);
  const [started, ...more] = events(exit, 'task_started');
  assert.deepEqual([started?.['agent'], started?.['description'], more], ['worker', 'count', []]);
  const [done] = events(exit, 'task_notification');
  assert.deepEqual(
    [done?.['task_id'], done?.['status'], done?.['summary']],
    [started?.['task_id'], 'completed', 'There are 2 files.'],
  );
  const all = await headers(at);
  const parent = all.find(({ agent }) => agent === 'crab');
  const child = all.find(({ agent }) => agent === 'worker');
  assert.equal(child?.['sender'], `delegate:${started?.['task_id']}`);
  assert.match(String(child?.['parentSession']), new RegExp(`${parent?.['id']}\\.jsonl$`));
  // What the task cost is part of what the run cost.
  const total = linesOf(exit).at(-1)?.['usage'];
  const byModel = Object.values(Object(linesOf(exit).at(-1)?.['modelUsage']));
  assert.deepEqual(
    byModel.map((usage) => Object(usage).outputTokens),
    [Object(total).output_tokens],
  );
  const own = events(exit, 'request_end').length;
  assert.equal(own, 2, 'requests of the task are not told as those of the run');
  assert.ok(Number(Object(total).output_tokens) > 0);
  // Also for who comes back to the session later.
  const usage = await at.run(['-p', ',usage', '--continue']);
  assert.match(usage.stdout, /\n\S+ +4 +0 +400 /, usage.stdout);
});

onEachWire(
  'the system prompt names who can be turned to, and the shapes of other agents are understood',
  async (wire) => {
    const scripts = [
      script('lead', one('Task', { subagent_type: 'explore', description: 'find it', prompt: 'find' }), {
        text: 'Ok.',
      }),
      script('find', one('bash', { command: 'touch planted' }), one('write', { path: 'x', content: 'y' }), {
        text: 'Found.',
      }),
    ];
    await using at = await journey(wire, { script: { scripts } });
    const exit = await at.run(['-p', 'lead', FREELY, ...STREAM]);
    assert.equal(exit.code, 0, exit.stderr);
    const [first] = asked(at, 'lead');
    assert.match(first?.system ?? '', /<agents>\n[^<]*- worker: [^<]*- explore: [^<]*<\/agents>/);
    assert.deepEqual(results(at, 'lead'), ['Found.']);
    const [bash = '', write = ''] = results(at, 'find');
    assert.match(
      bash,
      /plan/,
      'whoever only looks is in the mode that changes nothing, whatever the caller may do',
    );
    assert.match(write, /^write is outside of the scope of explore\. The tools are: /);
    assert.deepEqual(await at.work.read('planted').catch(() => 'nothing'), 'nothing');
    const [child] = asked(at, 'find');
    assert.ok(!child?.tools.includes('write') && child?.tools.includes('read'));
  },
);

onEachWire('a worker has the tools of whoever gives the task, and no others', async (wire) => {
  const scripts = [
    script('lead', delegate({ tasks: [{ prompt: 'do it' }] }), { text: 'Ok.' }),
    script('do it', one('bash', { command: 'touch planted' }), one('write', { path: 'p', content: '' }), {
      text: 'I could not.',
    }),
  ];
  await using at = await journey(wire, { script: { scripts } });
  const exit = await at.run(['-p', 'lead', FREELY, '--tools', 'read,delegate', ...STREAM]);
  assert.equal(exit.code, 0, exit.stderr);
  assert.deepEqual(asked(at, 'do it')[0]?.tools, ['read', 'delegate']);
  for (const result of results(at, 'do it')) assert.match(result, /is outside of the scope of worker/);
  assert.deepEqual(await at.work.read('planted').catch(() => 'nothing'), 'nothing');
});

onEachWire('a call outside of the scope is told as one, under any name', async (wire) => {
  const replies = [one('Bash', { command: 'touch planted' }), one('nothing', {}), { text: 'Done.' }];
  await using at = await journey(wire, { script: replies });
  const exit = await at.run(['-p', 'go', FREELY, '--tools', 'read', ...STREAM]);
  const violations = events(exit, 'scope_violation');
  assert.deepEqual(
    violations.map((line) => [line['tool_name'], line['agent']]),
    [['Bash', 'crab']],
  );
  assert.match(at.asked()[0]?.system ?? '', /<scope>\n[^<]*\ntools: read\n<\/scope>/);
});

onEachWire('what a task may do is no more than what its giver may', async (wire) => {
  const scripts = [
    script('lead', delegate({ tasks: [{ prompt: 'change it' }] }), { text: 'Ok.' }),
    script('change it', one('bash', { command: 'touch planted' }), { text: 'No.' }),
  ];
  await using at = await journey(wire, { script: { scripts } });
  const deny = ['--disallowedTools', 'Bash(touch *)'];
  const exit = await at.run(['-p', 'lead', FREELY, ...deny, ...STREAM]);
  assert.equal(exit.code, 0, exit.stderr);
  assert.match(results(at, 'change it')[0] ?? '', /touch/);
  assert.deepEqual(await at.work.read('planted').catch(() => 'nothing'), 'nothing');
  // And no agent may be started that is not allowed.
  await using other = await journey(wire, { script: { scripts } });
  await other.run(['-p', 'lead', FREELY, '--disallowedTools', 'Agent(worker)', ...STREAM]);
  assert.deepEqual(asked(other, 'change it'), []);
});

onEachWire(
  'tasks of one call run side by side, each in its folder, and none leaves that of its giver',
  async (wire) => {
    const tasks = [
      { prompt: 'left', cwd: 'left' },
      { prompt: 'right', cwd: 'right' },
      { prompt: 'away', cwd: '..' },
    ];
    // Each waits for the other one's file.
    const meet = (other: string) =>
      one('bash', {
        command: `touch here; until test -e ../${other}/here; do sleep 0.05; done; basename $PWD`,
      });
    const scripts = [
      script('lead', delegate({ tasks }), { text: 'Ok.' }),
      script('left', meet('right'), { text: 'left is done' }),
      script('right', meet('left'), { text: 'right is done' }),
    ];
    await using at = await journey(wire, { script: { scripts }, files: { 'left/x': '', 'right/x': '' } });
    // Confined, neither would see the other one's folder.
    const exit = await at.run(['-p', 'lead', FREELY, '--sandbox', 'off', ...STREAM]);
    assert.equal(exit.code, 0, exit.stderr);
    const [result = ''] = results(at, 'lead');
    assert.match(
      result,
      /^<result task="left">\nleft is done\n<\/result>\n\n<result task="right">\nright is done\n<\/result>\n\n<result task="away">\n.*lies outside of .*\n<\/result>$/,
    );
    assert.deepEqual(
      [...results(at, 'left'), ...results(at, 'right')].map((text) => text.split('\n')[0]),
      ['left', 'right'],
    );
  },
);

onEachWire('a task in the background is told of when it ends, read, and stopped', async (wire) => {
  const scripts = [
    script(
      'lead',
      delegate({
        tasks: [{ prompt: 'quick', description: 'be quick' }, { prompt: 'slow' }],
        background: true,
      }),
      one('task_output', { task_id: 'a1', block: true }),
      one('task_stop', { task_id: 'a2' }),
      { text: 'Done.' },
    ),
    script('quick', { text: 'Quickly done.' }),
    script('slow', one('bash', { command: 'sleep 600' }), { text: 'Never.' }),
  ];
  await using at = await journey(wire, { script: { scripts } });
  const exit = await at.run(['-p', 'lead', FREELY, ...STREAM]);
  assert.equal(exit.code, 0, exit.stderr);
  const [begun = '', read = '', stopped = ''] = results(at, 'lead');
  assert.match(begun, /^Begun in the background:\na1: worker: be quick .*\na2: worker: slow /);
  assert.match(read, /^Quickly done\.\n\nJob a1 is done after [\d.]+ s: worker: be quick$/);
  assert.match(stopped, /^Job a2 was stopped after [\d.]+ s: worker: slow$/);
  const states = events(exit, 'task_notification').map((line) => line['status']);
  assert.deepEqual(states, ['completed', 'stopped']);
});

onEachWire('a budget holds for all who work on it', async (wire) => {
  const usage = { input: 1000, output: 1000, cacheRead: 0, cacheWrite: 0 };
  const scripts = [
    script('lead', { ...delegate({ tasks: [{ prompt: 'spend' }] }), usage }, { text: 'Ok.', usage }),
    script('spend', { ...one('ls', {}), usage, repeat: 50 }),
  ];
  await using at = await journey(wire, { script: { scripts } });
  const exit = await at.run(['-p', 'lead', FREELY, '--max-budget-usd', '0.1', ...STREAM]);
  assert.equal(exit.code, 5, exit.stdout);
  const spent = Number(linesOf(exit).at(-1)?.['total_cost_usd']);
  assert.ok(spent > 0.05 && spent < 0.15, `${spent}`);
});

onEachWire('tasks are passed on three times at most', async (wire) => {
  const replies = [delegate({ tasks: [{ prompt: 'again' }] }), { text: 'Enough.' }];
  await using at = await journey(wire, { script: { scripts: [script('again', ...replies)] } });
  const exit = await at.run(['-p', 'again', FREELY, ...STREAM]);
  assert.equal(exit.code, 0, exit.stderr);
  assert.equal((await at.sessions()).length, 4);
  assert.ok(JSON.stringify(at.asked()).includes('Tasks are passed on 3 times at most'));
});
