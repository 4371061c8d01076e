import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frame, type Json, jsonClient } from '../../../test/support/json-client.ts';
import { eventually } from '../../../test/support/processes.ts';
import { END, everything, smallDaemon } from '../../../test/support/small-daemon.ts';

test('a client with JSON alone makes a session, speaks in it, and hears everything that is said', async () => {
  await using small = await smallDaemon();
  const client = jsonClient(small.socket('jsonSocket'));
  assert.deepEqual(await client.ask({ type: 'Ping' }), { type: 'Pong' });
  const attached = await client.ask({ type: 'Attach', working_dir: '/tmp' });
  assert.deepEqual(attached, { type: 'Attached', session_id: 'S1' });
  client.say({ type: 'UserInput', session_id: 'S1', content: 'ab' });
  const events = [await client.next(), await client.next(), await client.next()];
  const event = (value: object) => ({ type: 'Event', session_id: 'S1', event: value });
  assert.deepEqual(events, [
    event({ type: 'contentDelta', index: 0, delta: 'a' }),
    event({ type: 'contentDelta', index: 0, delta: 'b' }),
    event({ ...END, text: 'ab to cli:S1' }),
  ]);
  const { list } = await client.ask({ type: 'ListSessions' });
  assert.deepEqual(
    (list as readonly Json[]).map(({ created_at, last_active, ...rest }) => ({
      ...rest,
      times: Number(last_active) >= Number(created_at),
    })),
    [{ session_id: 'S1', working_dir: '/tmp', attached: true, running: false, times: true }],
  );
});

test('a session goes on when its client has left, and another one finds it by its id', async () => {
  await using small = await smallDaemon();
  const first = jsonClient(small.socket('jsonSocket'));
  await first.ask({ type: 'Attach' });
  first.say({ type: 'UserInput', session_id: 'S1', content: 'wait' });
  assert.deepEqual(await first.ask({ type: 'Detach', session_id: 'S1' }), { type: 'Pong' });
  first.socket.destroy();
  const second = jsonClient(small.socket('jsonSocket'));
  const attached = await second.ask({ type: 'Attach', session_id: 'S1' });
  assert.deepEqual(
    [attached, small.platforms[0]?.opened.length],
    [{ type: 'Attached', session_id: 'S1' }, 1],
  );
  second.say({ type: 'KillSession', session_id: 'S1' });
  const said = [await second.next(), await second.next()];
  assert.deepEqual(
    said.map(({ type, event }) => (type === 'Event' ? (event as Json)['outcome'] : type)).sort(),
    ['Pong', 'cancelled'],
  );
  assert.deepEqual(small.platforms[0]?.left, ['cli:S1']);
  assert.deepEqual(await second.ask({ type: 'ListSessions' }), { type: 'Sessions', list: [] });
  const unknown = await second.ask({ type: 'UserInput', session_id: 'S1', content: 'hi' });
  assert.deepEqual([unknown['type'], unknown['code']], ['Error', 404]);
});

test('a client that says so answers questions; in the session of another none are asked', async () => {
  await using small = await smallDaemon({ limits: { questionMs: 20 } });
  const client = jsonClient(small.socket('jsonSocket'));
  await client.ask({ type: 'Attach', answers: true });
  const other = jsonClient(small.socket('jsonSocket'));
  await other.ask({ type: 'Attach' });
  assert.deepEqual(
    small.platforms[0]?.opened.map(({ declaration }) => declaration.canAsk),
    [true, false],
  );
  client.say({ type: 'UserInput', session_id: 'S1', content: 'ask' });
  const { event } = await client.next();
  const { question } = event as { readonly question: { readonly id: string } };
  client.say({ type: 'Answer', session_id: 'S1', question_id: question.id, allowed: true });
  const answered: unknown[] = [await client.next(), await client.next(), await client.next()]
    .filter(({ type }) => type === 'Event')
    .map((said) => (said['event'] as Json)['allowed'] ?? 'end');
  assert.deepEqual(answered, [true, 'end']);
});

test('a line that goes on in another session leaves its client the id that it attached to', async () => {
  await using small = await smallDaemon();
  const client = jsonClient(small.socket('jsonSocket'));
  const at = { session_id: String((await client.ask({ type: 'Attach', answers: true }))['session_id']) };
  assert.deepEqual((await client.ask({ type: 'UserInput', ...at, content: '/new' }))['session_id'], 'S1');
  const { list } = await client.ask({ type: 'ListSessions' });
  assert.deepEqual(
    (list as readonly Json[]).map((one) => one['session_id']),
    ['cli:S1 new'],
  );
  const { event } = await client.ask({ type: 'UserInput', ...at, content: 'ask' });
  const { id } = (event as { readonly question: { readonly id: string } }).question;
  client.say({ type: 'Answer', ...at, question_id: id, allowed: true });
  const heard = [await client.next(), await client.next(), await client.next()];
  assert.ok(
    heard.some(({ type }) => type === 'Pong'),
    JSON.stringify(heard),
  );
  assert.deepEqual(await client.ask({ type: 'KillSession', ...at }), { type: 'Pong' });
});

test('what is no request is answered with one error, and what is no frame ends the connection', async () => {
  await using small = await smallDaemon();
  const client = jsonClient(small.socket('jsonSocket'));
  const faults = [];
  for (const value of [
    [],
    null,
    'x',
    {},
    { type: 'Nothing' },
    { type: 'Detach' },
    { type: 'Attach', session_id: 5 },
  ])
    faults.push((await client.ask(value))['message']);
  assert.deepEqual(faults, [
    'A request is a JSON object.',
    'A request is a JSON object.',
    'A request is a JSON object.',
    'There is no request "undefined": Attach, Detach, ListSessions, KillSession, UserInput, Answer, Ping.',
    'There is no request "Nothing": Attach, Detach, ListSessions, KillSession, UserInput, Answer, Ping.',
    'Detach.session_id must be a string.',
    'Attach.session_id must be a string.',
  ]);
  client.socket.write(frame('[ no json'));
  assert.equal((await client.next())['type'], 'Error');
  client.socket.write(frame(`${'['.repeat(100_000)}`));
  assert.match(String((await client.next())['message']), /is deeper than 64 levels/);
  for (const [text, reason] of [
    ['{"type":"Ping","type":"Detach"}', 'The request.type stands there twice.'],
    ['{"type":"Detach","session_id":"\\ud800"}', 'The request.session_id has half of a surrogate pair.'],
    ['{"type":"Ping","__proto__":{}}', 'The request.__proto__ is a name that is not taken.'],
  ] as const) {
    client.socket.write(frame(text));
    assert.deepEqual(await client.next(), { type: 'Error', code: 400, message: reason });
  }
  client.socket.write(frame(JSON.stringify({ type: 'Ping', extra: '[[{{'.repeat(100) })));
  assert.deepEqual(await client.next(), { type: 'Pong' });
  const broken = small.socket('jsonSocket');
  broken.write(Uint8Array.from([0, 0, 0, 200, 1]));
  assert.match((await everything(broken)).toString(), /looks like a frame of the binary form/);
});

test('a session ends for a client that follows it in the binary form, too', async () => {
  await using small = await smallDaemon();
  const client = jsonClient(small.socket('jsonSocket'));
  await client.ask({ type: 'Attach' });
  const follower = await small.client();
  const said: string[] = [];
  const following = (async () => {
    for await (const answer of follower.stream('watch', { agent: 'crab', sender: 'cli:S1' })) {
      said.push(answer.case);
      if (answer.case === 'watchEnd') return;
    }
  })();
  await eventually('it follows', async () => {
    const { sessions } = await follower.request('sessions', {}, 'sessions');
    return sessions[0]?.watchers === 2;
  });
  await client.ask({ type: 'KillSession', session_id: 'S1' });
  await following;
  assert.deepEqual(said, ['watchEnd']);
});
