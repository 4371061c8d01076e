// What becomes of a conversation in a daemon while nobody looks: it leaves the memory and comes back as it was, keeps what
// works behind it, is let go of when its client is killed, and follows settings that change. One daemon for all of it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Reply, Scenario } from '../../src/dev/scenario.ts';
import { cleanEnv } from '../support/crab.ts';
import { daemonFor } from '../support/daemon.ts';
import { type Journey, journey } from '../support/journey.ts';
import { eventually } from '../support/processes.ts';

/** Of `idle_minutes`: 180 ms. */
const SETTINGS = `[daemon]
idle_minutes = 0.003
max_clients = 40
log_files = 3

[permissions]
default_mode = "acceptEdits"

[sandbox]
mode = "off"
`;

const call = (name: string, input: Readonly<Record<string, unknown>>): Reply => ({
  calls: [{ name, input }],
});

interface Life {
  readonly at: Journey;
  readonly env: NodeJS.ProcessEnv;
  say(sender: string, content: string): Promise<string>;
  /** Senders of what is in memory, each with what works behind it. */
  loaded(): Promise<Readonly<Record<string, number>>>;
  settings(text: string): Promise<void>;
  log(): string;
}

async function lifeOf(script: Scenario | readonly Reply[]): Promise<Life> {
  const at = await journey('anthropic', { script });
  const env = { ...cleanEnv(at.work.home), ...at.provider.env('anthropic') };
  const home = join(at.work.home, '.crab');
  return {
    at,
    env,
    async say(sender, content) {
      const message = JSON.stringify({ agent: 'crab', sender, content, cwd: at.work.path });
      const { stdout } = await at.run(['rpc', 'send', message], { env });
      return JSON.parse(stdout).content;
    },
    async loaded() {
      const { sessions = [] } = JSON.parse((await at.run(['rpc', 'sessions'], { env })).stdout);
      return Object.fromEntries(
        sessions.map(({ sender, background = 0 }: { sender: string; background?: number }) => [
          sender,
          background,
        ]),
      );
    },
    settings: (text) => at.work.write('../home/.crab/config.toml', text),
    log: () => readFileSync(join(home, 'logs', 'daemon.log'), 'utf8'),
  };
}

test('a conversation that leaves the memory, or follows new settings, is in the mode that was chosen in it', async () => {
  const { at, env, say, loaded, settings, log } = await lifeOf([{ text: 'Hello.', repeat: 9 }]);
  await using _at = at;
  await settings(SETTINGS);
  const mode = async (sender: string) =>
    /\b(?:plan|acceptEdits|default)\b/.exec(await say(sender, '/mode'))?.[0];
  const gone = () => eventually('nothing is in memory', async () => Object.keys(await loaded()).length === 0);
  {
    await using _daemon = await daemonFor({ cwd: at.work.path, env });
    assert.match(
      log(),
      / set: tcp false \(command line\), max_clients 40 \(config\.toml\), idle_minutes 0\.003 \(config\.toml\), log_files 3 /,
    );
    assert.equal(await mode('one'), 'acceptEdits');
    await say('one', '/mode plan');
    await gone();
    assert.equal(await mode('one'), 'plan', 'nothing was said in it yet');
    assert.equal(await say('one', 'hi'), 'Hello.');
    await settings(SETTINGS.replace('acceptEdits', 'default').replace('0.003', '30'));
    assert.equal((await at.run(['daemon', 'reload'], { env })).code, 0);
    assert.equal(await mode('one'), 'plan');
    assert.equal(await mode('other'), 'default', 'what nobody chose follows the settings');
    const wrong = SETTINGS.replace('40', '0');
    await settings(wrong);
    const refused = await at.run(['daemon', 'reload'], { env });
    assert.match(
      refused.stderr,
      /config\.toml:3: daemon\.max_clients must be a whole number from 1 to 100000\./,
    );
    await settings(SETTINGS);
  }
  // It was killed.
  await using _again = await daemonFor({ cwd: at.work.path, env });
  assert.equal(await mode('one'), 'plan');
});

test('what works behind a conversation keeps it in memory, and a wakeup finds it', async () => {
  const job = [
    call('bash', { command: 'until test -e go; do sleep 0.05; done', run_in_background: true }),
    { text: 'It runs.' },
    { text: 'So it is over.' },
  ];
  const wakeup = [
    call('tool_search', { query: 'select:schedule_wakeup' }),
    call('schedule_wakeup', { delaySeconds: 10, prompt: 'Look again' }),
    { text: 'I will look.' },
    { text: 'I looked again.' },
  ];
  const script = {
    scripts: [
      { when: 'start it', replies: job },
      { when: 'wake up', replies: wakeup },
    ],
  };
  const { at, env, say, loaded, settings } = await lifeOf(script);
  await using _at = at;
  await settings(SETTINGS.replace('acceptEdits', 'bypassPermissions'));
  await using _daemon = await daemonFor({ cwd: at.work.path, env });
  await using watching = at.start(['watch', '--json', '--kind', 'text-delta'], { env });
  await eventually('somebody watches', async () => {
    const { clients } = JSON.parse((await at.run(['daemon', 'status', '--json'], { env })).stdout);
    return clients >= 2;
  });
  assert.equal(await say('job', 'start it'), 'It runs.');
  assert.equal(await say('wakeup', 'wake up'), 'I will look.');
  assert.deepEqual(await loaded(), { job: 1, wakeup: 1 });
  const woken = JSON.stringify({ agent: 'crab', sender: 'wakeup', fromSeq: 0 });
  await using following = at.start(['rpc', 'watch', woken], { env });
  await following.waitFor(/jobFired[^}]*wakeup/);
  following.kill('SIGKILL');
  await watching.waitFor('I looked again.');
  await eventually('what is idle has left', async () => !('wakeup' in (await loaded())));
  assert.deepEqual(await loaded(), { job: 1 });
  await at.work.write('go', '');
  await eventually('the job is over', async () => Object.keys(await loaded()).length === 0);
  assert.equal(await say('job', 'and now?'), 'So it is over.');
  const told = JSON.stringify(at.provider.requests.at(-1)?.body);
  assert.match(told, /<background_jobs>\\nJob c1 ended after/);
});

test('the session of a killed client can be opened by any process at once', async () => {
  const { at, env, loaded } = await lifeOf([
    { text: ['Slowly ', 'and on ', 'and on.'], delayMs: 1 },
    { text: 'Here.' },
  ]);
  await using _at = at;
  at.provider.hold('Slowly');
  await using _daemon = await daemonFor({ cwd: at.work.path, env });
  await using client = at.start(['-p', '--daemon', 'begin'], { env });
  await eventually('the model is asked', async () => at.provider.requests.length === 1);
  const [sender = ''] = Object.keys(await loaded());
  client.kill('SIGKILL');
  await client.exited;
  await at.run(['rpc', 'kill', JSON.stringify({ agent: 'crab', sender })], { env });
  await eventually('it is not held', async () => Object.keys(await loaded()).length === 0);
  const there = await at.run(['-p', '--no-daemon', '--resume', sender.slice('cli:'.length), 'still there?'], {
    env,
  });
  assert.deepEqual([there.code, there.stdout], [0, 'Here.\n'], there.stderr);
  assert.ok(existsSync(at.work.path));
});

test('a conversation that goes on in a fork leaves the session behind it to others, also after a reload', async () => {
  const { at, env, settings } = await lifeOf([{ text: 'Hello.', repeat: 9 }]);
  await using _at = at;
  await settings('[sandbox]\nmode = "off"\n');
  await using _daemon = await daemonFor({ cwd: at.work.path, env });
  const rpc = async (method: string, message: object = {}) =>
    JSON.parse((await at.run(['rpc', method, JSON.stringify(message)], { env })).stdout);
  await using talk = at.start(['chat', '--daemon'], { env });
  talk.stdin.write('first\n');
  await talk.waitFor('Hello.');
  talk.stdin.write('/fork\n');
  const [, fork = '', before = ''] =
    /fork, (\w{26}); the session before is (\w{26})/.exec(await talk.waitFor(/fork, .*\n/)) ?? [];
  const { sessions } = await rpc('sessions');
  assert.deepEqual([sessions[0].session, sessions[0].messages], [fork, 2]);
  const messages = async () =>
    Object.fromEntries((await at.sessions()).map(({ header, spoken }) => [header.id, spoken.length]));
  for (const resumed of [before, fork]) {
    const { code, stderr } = await at.run(['-p', '--daemon', '--resume', resumed, 'more'], { env });
    assert.equal(code, 0, stderr);
  }
  assert.deepEqual(await messages(), { [before]: 4, [fork]: 4 });
  talk.stdin.write('/fork\n');
  const [, second = ''] = /fork, (\w{26})/.exec(await talk.waitFor(/fork, .*\n/)) ?? [];
  assert.equal((await at.run(['daemon', 'reload'], { env })).code, 0);
  const again = await at.run(['-p', '--daemon', '--resume', before, 'more'], { env });
  assert.equal(again.code, 0, again.stderr);
  talk.stdin.write('last\n');
  await eventually('it went on in its fork', async () => (await messages())[second] === 6);
  assert.deepEqual(await messages(), { [before]: 6, [fork]: 4, [second]: 6 });
});

test('what a run asks is answered by another client, and only once', async () => {
  const { at, env, settings } = await lifeOf([
    call('bash', { command: 'touch allowed' }),
    call('ask_user', {
      questions: [{ question: 'Red or blue?', options: [{ label: 'Red' }, { label: 'Blue' }] }],
    }),
    { text: 'As you like.' },
  ]);
  await using _at = at;
  await settings('[sandbox]\nmode = "off"\n');
  await using _daemon = await daemonFor({ cwd: at.work.path, env });
  const address = { agent: 'crab', sender: 'one' };
  const rpc = (method: string, message: object) => at.run(['rpc', method, JSON.stringify(message)], { env });
  await using run = at.start(
    ['rpc', 'stream', JSON.stringify({ ...address, content: 'go', cwd: at.work.path })],
    {
      env,
    },
  );
  const [, id = ''] =
    /"permissionRequest":\{"id":"([^"]+)"/.exec(await run.waitFor(/"permissionRequest".*\n/)) ?? [];
  const first = await rpc('replyToPermission', { ...address, id, allowed: true });
  const second = await rpc('replyToPermission', { ...address, id, allowed: false });
  assert.deepEqual([first.stdout, JSON.parse(second.stdout).error.code], ['{}\n', 409]);
  await run.waitFor(/"askUser".*\n/);
  assert.equal((await rpc('replyToAsk', { ...address, content: 'Blue' })).stdout, '{}\n');
  await run.waitFor('As you like.');
  assert.ok(existsSync(at.work.file('allowed')));
  assert.match(JSON.stringify(at.provider.requests.at(-1)?.body), /Blue/);
});

test('a conversation that leaves the memory is a moment to tidy what is remembered, for all to see', async () => {
  const merge = '{"name": "ship", "from": ["ship", "release"], "content": "make ship, on Fridays."}';
  const { at, env, say, settings, log } = await lifeOf({
    scripts: [{ when: '</notes>', replies: [{ text: merge }] }, { replies: [{ text: 'Hello.', repeat: 9 }] }],
  });
  await using _at = at;
  await settings(`${SETTINGS}\n[policy]\nmemory_consolidate = true\n`);
  for (const name of ['ship', 'release', 'style', 'tests', 'tea'])
    await at.run(['memory', 'edit', name], { stdin: `About ${name}.` });
  await using _daemon = await daemonFor({ cwd: at.work.path, env });
  await using watching = at.start(['watch', '--json'], { env });
  await eventually('the watch has begun', async () => {
    await say('other', '/status');
    return watching.stdout !== '';
  });
  assert.equal(await say('one', 'hi'), 'Hello.');
  await watching.waitFor(/"content":"ship in place of ship, release\./);
  await eventually('it is done', async () =>
    / memory of the project: ship in place of ship, release/.test(log()),
  );
  assert.match((await at.run(['memory', 'list'])).stdout, / ship \(release\)\n/);
  const { rows } = JSON.parse((await at.run(['usage', '--json', '--by', 'cause'])).stdout);
  assert.deepEqual(
    rows.map(({ key, requests }: { key: string; requests: number }) => `${key} ${requests}`).toSorted(),
    ['memory 1', 'turn 1'],
  );
});
