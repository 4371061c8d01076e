// The daemon as a program: what it answers on the command line, what it leaves, and what it does not load.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { chunkFile, chunkName } from '../support/chunks.ts';
import { needs, testedCommand } from '../support/crab.ts';
import { type Journey, journey } from '../support/journey.ts';
import { jsonClient } from '../support/json-client.ts';

async function started(at: Journey, more: Readonly<Record<string, string>> = {}) {
  const daemon = at.start(['daemon', 'run', '--no-tcp'], { env: more });
  await daemon.waitFor('is ready', { on: 'stderr' });
  return daemon;
}

const HELLO = JSON.stringify({ agent: 'crab', content: 'hello' });

test('a daemon is found, speaks, is followed, tells of itself, and ends', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'Here I am.' }] });
  const none = await at.run(['daemon', 'status']);
  assert.deepEqual([none.code, none.stdout], [1, 'No daemon is running.\n']);
  const nobody = await at.run(['rpc', 'ping']);
  assert.deepEqual([nobody.code, nobody.stdout], [8, '']);
  await using daemon = await started(at);
  const watching = at.start(['watch', '--json', '--kind', 'text-delta']);
  const status = async () => JSON.parse((await at.run(['daemon', 'status', '--json'])).stdout);
  while ((await status()).clients < 2);
  const sent = await at.run(['rpc', 'send', HELLO]);
  const { agent, content } = JSON.parse(sent.stdout);
  assert.deepEqual([sent.code, agent, content], [0, 'crab', 'Here I am.']);
  await watching.waitFor('"content":"Here I am."');
  watching.kill('SIGINT');
  assert.equal((await watching.exited).code, 0);
  const { running, pid, conversations, totalRuns, sessions } = await status();
  assert.deepEqual([running, pid, conversations, totalRuns, sessions.length], [true, daemon.pid, 1, 1, 1]);
  for (const [method, answer] of [
    ['compact', '{"summary":"Here I am."}\n'],
    ['compact', '{}\n'],
    ['kill', '{}\n'],
  ] as const)
    assert.equal((await at.run(['rpc', method, '{"agent": "crab"}'])).stdout, answer);
  const second = await at.run(['daemon', 'run', '--no-tcp']);
  assert.equal(second.code, 8);
  assert.match(second.stderr, new RegExp(`running already: process ${daemon.pid}\\. \\[daemon-failed\\]`));
  assert.deepEqual((await at.run(['daemon', 'stop'])).stdout, 'The daemon has stopped.\n');
  assert.equal((await daemon.exited).code, 0);
  assert.deepEqual(readdirSync(join(at.work.home, '.crab', 'run')), ['daemon.token']);
  const logged = (await at.run(['daemon', 'logs'])).stdout;
  assert.match(logged, / ready: .*\n(?:.*\n)* ?.*stopped\n$/);
});

test('settings are written without a loss of their secrets, and a wrong message or setting is told', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'x' }] });
  await using daemon = await started(at);
  assert.ok(daemon.pid > 0);
  const set = (config: object) =>
    at.run(['rpc', 'set_config', JSON.stringify({ config: JSON.stringify(config) })]);
  const settings = { model: 'anthropic/a', providers: { anthropic: { api_key: 'a-secret-of-mine' } } };
  assert.equal((await set(settings)).stdout, '{}\n');
  const got = JSON.parse(JSON.parse((await at.run(['rpc', 'getConfig'])).stdout).config);
  assert.deepEqual(got, { model: 'anthropic/a', providers: { anthropic: { api_key: '[redacted]' } } });
  assert.equal((await set({ ...got, model: 'anthropic/b' })).stdout, '{}\n');
  const file = readFileSync(join(at.work.home, '.crab', 'config.toml'), 'utf8');
  assert.match(file, /model = "anthropic\/b"\n[\s\S]*api_key = "a-secret-of-mine"/);
  const wrong = await set({ no_such_key: 1 });
  assert.deepEqual([wrong.code, JSON.parse(wrong.stdout).error.name], [1, 'settings-invalid']);
  const unknown = await at.run(['rpc', 'sesions']);
  assert.deepEqual([unknown.code, unknown.stderr.includes('Did you mean sessions?')], [2, true]);
  const misspelt = await at.run(['rpc', 'kill', '{"agnet": "crab"}']);
  assert.deepEqual([misspelt.code, misspelt.stdout], [2, '']);
  assert.match(
    misspelt.stderr,
    /^crab: KillMsg has no field "agnet": there is agent, sender, run\. \[usage\]$/m,
  );
  const malformed = await at.run(['rpc', 'kill', '{"agent": 5}']);
  assert.match(malformed.stderr, /KillMsg\.agent must be a string/);
});

test('a conversation goes on in its folder, as a script sees it, when the daemon was killed', async () => {
  const script = [{ calls: [{ name: 'bash', input: { command: 'touch made' } }] }, { text: 'Made.' }];
  await using at = await journey('anthropic', { script });
  const address = { agent: 'crab', sender: 'script' };
  const rpc = async (method: string, message: object) => {
    const exit = await at.run(['rpc', method, JSON.stringify({ ...address, ...message })]);
    return { ...exit, answer: JSON.parse(exit.stdout) };
  };
  {
    await using daemon = await started(at);
    const content = { ...address, content: 'make it', cwd: at.work.path };
    await using stream = at.start(['rpc', 'stream', JSON.stringify(content)]);
    const asked = await stream.waitFor(/\{"permissionRequest":.*\n/);
    const [, id = ''] = /"permissionRequest":\{"id":"(\w+)"/.exec(asked) ?? [];
    assert.equal((await rpc('reply_to_permission', { id, allowed: true })).code, 0);
    const late = await rpc('reply_to_permission', { id, allowed: true });
    assert.deepEqual([late.code, late.answer.error.code], [1, 409]);
    await stream.waitFor('"end"');
    assert.equal((await stream.exited).code, 0);
    daemon.kill('SIGKILL');
    await daemon.exited;
  }
  await using _ = await started(at);
  assert.equal((await rpc('send', { content: ',pwd' })).answer.content, at.work.path);
  const { sessions } = JSON.parse((await at.run(['rpc', 'sessions'])).stdout);
  const socket = connect(join(at.work.home, '.crab', 'run', 'daemon-json.sock'));
  const { ask } = jsonClient(socket);
  const session_id = sessions[0].session;
  assert.deepEqual(await ask({ type: 'KillSession', session_id }), { type: 'Pong' });
  assert.deepEqual(await ask({ type: 'Attach', session_id }), { type: 'Attached', session_id });
  await ask({ type: 'UserInput', session_id, content: '!!pwd > there' });
  assert.equal((await rpc('send', { content: ',cat there' })).answer.content, at.work.path);
  socket.destroy();
  assert.deepEqual([sessions[0].cwd, sessions[0].messages], [at.work.path, 4]);
  const failed = await rpc('send', { content: '@', guest: 'nobody' });
  const { error, name } = failed.answer;
  assert.deepEqual([failed.code, error, name], [1, 'There is no agent nobody.', 'agent-unknown']);
});

test('who watches all conversations hears those that carry out tasks, too', async () => {
  const task = { calls: [{ name: 'delegate', input: { tasks: [{ prompt: 'count' }] } }] };
  const scripts = [
    { when: 'lead', replies: [task, { text: 'It told me.' }] },
    { when: 'count', replies: [{ calls: [{ name: 'ls', input: {} }] }, { text: 'Two of them.' }] },
  ];
  await using at = await journey('anthropic', { script: { scripts } });
  await at.work.write('../home/.crab/config.toml', '[permissions]\nallow = ["Agent(worker)"]\n');
  await using daemon = await started(at);
  await using watching = at.start(['daemon', 'events']);
  const status = async () => JSON.parse((await at.run(['daemon', 'status', '--json'])).stdout);
  while ((await status()).clients < 2);
  assert.ok(daemon.pid > 0);
  const lead = JSON.stringify({ agent: 'crab', content: 'lead', cwd: at.work.path });
  assert.equal(JSON.parse((await at.run(['rpc', 'send', lead])).stdout).content, 'It told me.');
  await watching.waitFor('crab/user is done');
  const worker = 'worker/delegate:[0-9A-Z]{26}';
  assert.match(
    watching.stdout,
    new RegExp(
      `^crab/user calls delegate .*\\n${worker} calls ls \\{\\}\\n${worker} result of ls: .*\\n` +
        `${worker}: Two of them\\.\\n${worker} is done\\ncrab/user result of delegate: Two of them\\.\\n` +
        'crab/user: It told me\\.\\ncrab/user is done\\n$',
    ),
  );
  await at.run(['rpc', 'send', '{"agent": "crab", "sender": "me", "content": "@", "guest": "nobody"}']);
  await watching.waitFor('crab/me has failed: There is no agent nobody.\n');
});

test('an agent has one conversation with a sender, however its name is written', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'Here I am.' }] });
  await using daemon = await started(at);
  assert.ok(daemon.pid > 0);
  const rpc = async (method: string, message: object) =>
    JSON.parse((await at.run(['rpc', method, JSON.stringify(message)])).stdout);
  assert.deepEqual(await rpc('send', { agent: 'Crab', content: 'hello' }), {
    error: {
      ...{ code: 404, message: 'There is no agent Crab.' },
      ...{ name: 'agent-unknown', hint: 'Did you mean crab?' },
    },
  });
  assert.equal((await rpc('send', { agent: 'crab', content: 'hello' })).content, 'Here I am.');
  assert.equal((await rpc('sessions', {})).sessions.length, 1);
});

test('events that lead to one another end after as many as were set, also by the tasks that each of them begins', async () => {
  const source = 'issue:crab#7';
  const call = (name: string, input: Readonly<Record<string, unknown>>) => ({ calls: [{ name, input }] });
  const task = call('delegate', { tasks: [{ prompt: 'tell' }] });
  const scripts = [
    { when: 'lead', replies: Array.from({ length: 20 }, () => [task, { text: 'Told.' }]).flat() },
    { when: 'tell', replies: [call('publish_event', { source, payload: 'lead' }), { text: 'It is told.' }] },
  ];
  await using at = await journey('anthropic', { script: { scripts } });
  const permissions = '[permissions]\nallow = ["Agent(worker)", "PublishEvent"]\n';
  const limits = '[daemon]\nmax_event_hops = 3\nmax_subscriptions = 1\n';
  await at.work.write('../home/.crab/config.toml', permissions + limits);
  await using daemon = await started(at);
  await using watching = at.start(['watch', '--json', '--sender', `event:${source}`, '--kind', 'done']);
  const rpc = async (method: string, message: object) =>
    JSON.parse((await at.run(['rpc', method, JSON.stringify(message)])).stdout);
  while ((await rpc('getStats', {})).clients < 2);
  assert.ok(daemon.pid > 0);
  await rpc('subscribe_event', { source, targetAgent: 'crab' });
  const another = await rpc('subscribe_event', { source: 'x', targetAgent: 'crab' });
  assert.equal(another.error.message, 'There are as many subscriptions as there may be: 1.');
  await rpc('publish_event', { source, payload: 'lead' });
  await watching.waitFor(/(?:.*"kind":"DONE".*\n){3}/);
  assert.equal(at.asked().filter(({ messages }) => messages.at(-1)?.text === 'tell').length, 3);
  const refused = JSON.stringify(at.asked().at(-1)?.messages);
  const { sessions } = await rpc('sessions', {});
  assert.deepEqual(
    sessions.map(({ sender, messages }: { sender: string; messages: number }) => [sender, messages]),
    [[`event:${source}`, 12]],
    refused,
  );
  const { stdout } = await at.run(['daemon', 'logs']);
  assert.match(stdout, / 3 events in a row have led to issue:crab#7: it is not passed on\.\n/);
});

test('the daemon loads nothing of a terminal', { skip: needs('NODE_OPTIONS') }, async () => {
  await using at = await journey('anthropic', { script: [{ text: 'Here.' }] });
  const list = at.work.file('loaded.txt');
  const hook = at.work.file('hook.cjs');
  await at.work.write(
    'hook.cjs',
    `process.on('exit', () => require('fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')));`,
  );
  const env = { NODE_OPTIONS: `--require=${hook}` };
  const loaded = () => readFileSync(list, 'utf8').split('\n').map(chunkName);
  await at.run(['hello'], { env: { ...env, LOADED: list } });
  const ofChannels = ['print.js', 'repl.js'];
  const dist = dirname(testedCommand().at(-1) ?? '');
  for (const name of ofChannels) assert.ok(existsSync(chunkFile(dist, name)));
  assert.ok(loaded().includes('print.js'), 'what a channel loads would be seen');
  await using daemon = await started(at, { ...env, LOADED: list });
  await at.run(['rpc', 'send', HELLO]);
  daemon.kill('SIGTERM');
  assert.equal((await daemon.exited).code, 0);
  assert.ok(loaded().includes('daemon-run.js'));
  assert.deepEqual(
    loaded().filter((file) => ofChannels.includes(file)),
    [],
  );
});
