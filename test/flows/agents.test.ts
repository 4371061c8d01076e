// Agents of one's own through the program: files that are listed, copied and taken over; who speaks with --agent, and who
// joins as a guest; and that a project's agents wait until the person trusts it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Journey, journey, linesOf, nearTest, onEachWire, onlySession } from '../support/journey.ts';

const SCOUT = `---
name: scout
description: Classifies what comes in: news, noise or alarm
tools: Read, Grep
model: inherit
color: blue
---

You are the scout.
`;

async function put(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

const own = (at: Journey) => join(at.work.home, '.crab', 'agents');
const one = (name: string, input: Readonly<Record<string, unknown>>): Reply => ({ calls: [{ name, input }] });

onEachWire('an agent of one’s own speaks, within its scope', async (wire) => {
  const script = [one('Bash', { command: 'touch planted' }), { text: 'Noise.' }];
  await using at = await journey(wire, { script });
  await put(own(at), { 'scout.md': SCOUT });
  const args = [
    '--agent',
    'scout',
    '--dangerously-skip-permissions',
    '--output-format',
    'stream-json',
    '--verbose',
  ];
  const exit = await at.run(['-p', 'classify', ...args]);
  assert.equal(exit.code, 0, exit.stderr);
  const [first] = at.asked();
  assert.match(first?.system ?? '', /^You are the scout\./);
  assert.match(first?.system ?? '', /<scope>\n[^<]*\ntools: read, grep, .*delegate/);
  for (const name of ['bash', 'write', 'edit']) assert.ok(!first?.tools.includes(name), name);
  const violations = linesOf(exit).filter(({ subtype }) => subtype === 'scope_violation');
  assert.deepEqual(
    violations.map((line) => [line['tool_name'], line['agent']]),
    [['Bash', 'scout']],
  );
  const header = JSON.parse((await readFile((await onlySession(at)).path, 'utf8')).split('\n', 1)[0] ?? '');
  assert.equal(header.agent, 'scout');
});

onEachWire(
  'a guest answers in words, is named, and is told apart; nothing of the framing is kept',
  async (wire) => {
    const script = [
      one('ls', {}),
      { text: 'I am the primary.' },
      one('bash', { command: 'touch planted' }),
      { text: 'I am the scout.' },
      { text: 'Primary again.' },
    ];
    await using at = await journey(wire, { script, files: { 'a.txt': '' } });
    await put(own(at), { 'scout.md': SCOUT });
    const free = '--dangerously-skip-permissions';
    await at.run(['-p', 'hello', free]);
    const exit = await at.run(['-p', ',what do you think?', '--continue', '--guest', 'scout', free]);
    assert.deepEqual([exit.code, exit.stdout], [0, 'I am the scout.\n'], exit.stderr);
    const asGuest = at.asked()[2];
    assert.deepEqual(asGuest?.tools, []);
    assert.match(
      asGuest?.system ?? '',
      /^You are the scout\.[\s\S]*You are joining a conversation as a guest\. You are scout;/,
    );
    assert.ok(
      asGuest?.messages.every(({ role }) => role !== 'result'),
      'a guest is shown text alone',
    );
    await at.run(['-p', 'go on', '--continue', free]);
    const last = at.asked().at(-1);
    assert.match(last?.system ?? '', /Messages wrapped in <from agent="NAME"> tags are from guest agents/);
    const texts = JSON.stringify(last?.messages);
    assert.ok(texts.includes('<from agent=\\"scout\\">\\nI am the scout.\\n</from>'), texts);
    assert.ok(!texts.includes('<from agent=\\"crab'), 'only guests are wrapped');
    const session = await readFile((await onlySession(at)).path, 'utf8');
    assert.ok(session.includes('"agent":"scout"'));
    assert.ok(
      !session.includes('<from agent') && !session.includes('joining a conversation'),
      'framing is never stored',
    );
    assert.equal(await at.work.read('planted').catch(() => 'nothing'), 'nothing');
  },
);

onEachWire('a guest who is stopped leaves the prompt and nothing of his own', async (wire) => {
  const silent = { stallAfter: wire === 'anthropic' ? 700 : 400 };
  const script = [{ text: ['Half ', 'of ', 'it '], fault: silent, times: 1 }];
  await using at = await journey(wire, { script });
  await put(own(at), { 'scout.md': SCOUT });
  await using crab = at.start([
    '-p',
    'scout it',
    '--guest',
    'scout',
    '--output-format',
    'stream-json',
    '--include-partial-messages',
    '--verbose',
  ]);
  crab.stdin.end();
  await crab.waitFor('Half');
  crab.kill('SIGINT');
  assert.equal((await crab.exited).code, 130);
  const session = await readFile((await onlySession(at)).path, 'utf8');
  assert.ok(session.includes('scout it') && !session.includes('Half'));
  await at.run(['-p', 'and you?', '--continue']);
  assert.ok(JSON.stringify(at.asked().at(-1)?.messages).includes('scout it'));
});

nearTest('a guest is asked something, and does not stand beside a whole conversation', async () => {
  await using at = await journey('anthropic', { script: [] });
  const { code, stderr } = await at.run(['chat', '--guest', 'plan']);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /--guest is for a prompt, and none was given\. \[usage\]\nIn a conversation, begin a line with @NAME\./,
  );
});

onEachWire('agents of a project wait for trust', async (wire) => {
  await using at = await journey(wire, { script: [{ text: 'Ok.' }] });
  await put(at.work.file('.crab/agents'), { 'scout.md': SCOUT });
  const refused = await at.run(['-p', 'x', '--agent', 'scout']);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /ignored, because .* is not trusted[\s\S]*There is no agent scout\./);
  const trusted = await at.run(['-p', 'x', '--agent', 'scout', '--trust']);
  assert.equal(trusted.code, 0, trusted.stderr);
  assert.match(at.asked()[0]?.system ?? '', /^You are the scout\./);
});

test('the tools of a server that there is not are told of, and grant nothing else in their place', async () => {
  const write = one('write', { path: 'planted', content: '' });
  await using at = await journey('anthropic', { script: [write, { text: 'Ok.' }] });
  await put(own(at), {
    'git.toml': 'description = "for git"\ntools = ["mcp__git__*"]\nprompt = "You know git."\n',
  });
  const free = '--dangerously-skip-permissions';
  const { stdout, stderr } = await at.run(['-p', 'go', '--agent', 'git', free]);
  assert.equal(stdout, 'Ok.\n');
  assert.match(stderr, /The agent git names a tool that there is not here: mcp__git__\*\./);
  assert.equal(existsSync(at.work.file('planted')), false);
});

onEachWire('what a file asks for in vain is told to whoever turns to the agent, once', async (wire) => {
  const task = one('delegate', { agent: 'scout', tasks: [{ prompt: 'look' }] });
  const scripts = [
    { when: 'lead', replies: [task, task, { text: 'Ok.' }] },
    { when: 'look', replies: [one('Write', { path: 'planted', content: '' }), { text: 'Seen.' }] },
  ];
  await using at = await journey(wire, { script: { scripts } });
  const foreign = SCOUT.replace('Read, Grep', 'Read, Write, mcp__x__y').replace(
    'color: blue',
    'hooks: none\ndisallowedTools: Write',
  );
  await put(own(at), { 'scout.md': foreign });
  const told = [
    'scout: hooks is not known here and changes nothing.',
    'The agent scout names a tool that there is not here: mcp__x__y.',
  ];
  const free = '--dangerously-skip-permissions';
  const spoken = await at.run(['-p', 'look', '--agent', 'scout', free]);
  assert.deepEqual([spoken.code, spoken.stdout], [0, 'Seen.\n'], spoken.stderr);
  for (const text of told) assert.equal(spoken.stderr.split(text).length, 2, spoken.stderr);
  const given = await at.run(['-p', 'lead', free, '--output-format', 'stream-json', '--verbose']);
  const notices = linesOf(given).filter(({ subtype }) => subtype === 'notice');
  assert.deepEqual(
    notices.map((line) => line['text']),
    told,
  );
  const shown = await at.run(['agents', 'show', 'scout']);
  assert.match(shown.stderr, /scout\.md: hooks is not known[\s\S]*there is no tool mcp__x__y\./);
  assert.equal(await at.work.read('planted').catch(() => 'nothing'), 'nothing');
});

onEachWire('agents are listed, begun, copied, taken over and deleted', async (wire) => {
  await using at = await journey(wire, { script: [] });
  const crab = async (...args: readonly string[]) => {
    const exit = await at.run(['agents', ...args]);
    return { ...exit, all: exit.stdout + exit.stderr };
  };
  const foreign = SCOUT.replace('Read, Grep', 'Read, Teleport, Bash(git *)').replace('inherit', 'opus');
  await put(at.work.file('.claude/agents'), { 'scout.md': foreign });
  const taken = await crab('import', '.claude/agents');
  assert.match(
    taken.stderr,
    /model opus is left out[\s\S]*Bash\(git \*\) is read as Bash[\s\S]*there is no tool Teleport; it is left out/,
  );
  const file = join(own(at), 'scout.toml');
  assert.equal(taken.stdout, `${file}\n`);
  const text = await readFile(file, 'utf8');
  assert.match(
    text,
    /^description = "Classifies what comes in: news, noise or alarm"\ntools = \["Read", "Bash", /,
  );
  await put(at.work.file('more'), { 'bad.md': 'no head', 'good.md': SCOUT.replace('scout', 'good') });
  const some = await crab('import', 'more');
  assert.deepEqual([some.code, some.stdout], [2, `${join(own(at), 'good.toml')}\n`]);
  assert.match(some.stderr, /bad\.md:1: [\s\S]*1 of 2 agents were not taken over\./);
  assert.match((await crab('delete', 'good')).stdout, /good\.toml is gone\.\n$/);
  assert.equal((await crab('new', 'mine')).code, 0);
  assert.match((await crab('new', 'mine')).stderr, /is there already/);
  assert.equal((await crab('fork', 'explore', 'look')).code, 0);
  assert.equal((await crab('fork', 'scout', 'scout2')).code, 0);
  const listed = JSON.parse((await crab('list', '--json')).stdout).map(({ name }: { name: string }) => name);
  assert.deepEqual(listed, [
    'look',
    'mine',
    'scout',
    'scout2',
    'crab',
    'worker',
    'general-purpose',
    'explore',
    'plan',
  ]);
  assert.match((await crab('show', 'look')).stdout, /^# .*look\.toml\ndescription = "searches a code base/);
  assert.match((await crab('delete', 'mine')).stdout, /mine\.toml is gone\.\n$/);
  assert.match((await crab('delete', 'worker')).stderr, /There is no agent worker/);
  await writeFile(join(own(at), 'bad.toml'), 'description = "x"\ntols = ["read"]\n');
  assert.match((await crab('list')).stderr, /bad\.toml:2: there is no setting "tols"\./);
  assert.match((await crab('show', 'no/such')).stderr, /is no name for an agent/);
});

nearTest('an agent is found by its name, whatever its file is called', async () => {
  await using at = await journey('anthropic', { script: [] });
  await put(own(at), { 'eyes.md': SCOUT, 'broken.toml': 'description = ' });
  const crab = async (...args: readonly string[]) => {
    const { stdout, stderr } = await at.run(['agents', ...args]);
    return stdout + stderr;
  };
  const eyes = join(own(at), 'eyes.md');
  assert.match(await crab('new', 'scout'), /eyes\.md is there already\./);
  assert.match(await crab('delete', 'eyes'), /There is no agent eyes in /);
  assert.match(await crab('fork', 'scout', 'eyes', '--force'), /eyes\.md is the file of another agent\./);
  assert.equal(await readFile(eyes, 'utf8'), SCOUT);
  assert.equal(await crab('delete', 'scout'), `${eyes} is gone.\n`);
  assert.match(await crab('delete', 'broken'), /broken\.toml is gone\.\n$/);
  assert.deepEqual([existsSync(eyes), existsSync(join(own(at), 'scout.md'))], [false, false]);
});
