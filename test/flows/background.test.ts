// Work that goes on behind the calls: begun, read, typed to, waited for and stopped through the program; nothing of it is
// there when the program has ended, however that was.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Journey, journey, linesOf, onEachWire, onlySession, resultOf } from '../support/journey.ts';
import { eventually, processesWith } from '../support/processes.ts';

const FREELY = '--dangerously-skip-permissions';
const STREAM = ['--output-format', 'stream-json', '--include-partial-messages'];

const one = (name: string, input: Readonly<Record<string, unknown>>): Reply => ({ calls: [{ name, input }] });
const background = (command: string, more = {}) => one('bash', { command, run_in_background: true, ...more });

/** What the results of calls said, in order. */
function results(at: Journey): readonly string[] {
  const last = at.asked().at(-1)?.messages ?? [];
  return last.flatMap((said) => (said.role === 'result' ? [said.text] : []));
}

const news = (at: Journey) =>
  (at.asked().at(-1)?.messages ?? []).flatMap((said) =>
    said.role === 'user' && said.text.includes('<background_jobs>') ? [said.text] : [],
  );

onEachWire('a job is waited for, read line by line, and told of when it has ended', async (wire) => {
  const script = [
    background('echo Listening on 8080; until test -e go; do sleep 0.05; done; echo bye; exit 3'),
    one('monitor', { task_id: 'c1', pattern: 'on [\\d]+$', timeout: 30_000 }),
    one('task_output', { task_id: 'c1' }),
    background('until test -e asleep; do sleep 0.05; done; touch go'),
    one('sleep', { seconds: 60 }),
    one('TaskOutput', { task_id: 'c2', block: true }),
    one('monitor', { task_id: 'c1' }),
    one('BashOutput', { bash_id: 'c1', filter: 'b.e' }),
    { text: 'Done.' },
  ];
  await using at = await journey(wire, { script });
  await using crab = at.start(['-p', 'serve', FREELY, ...STREAM]);
  crab.stdin.end();
  await crab.waitFor(/"tool_start"[^\n]*"sleep"/);
  await at.work.write('asleep', '');
  const exit = await crab.exited;
  assert.deepEqual({ code: exit.code, result: resultOf(exit)['result'] }, { code: 0, result: 'Done.' });
  const [started = '', seen, read = '', , slept = '', , , rest = ''] = results(at);
  assert.match(started, /^Running in the background as job c1\. /);
  assert.equal(seen, 'Job c1 printed:\nListening on 8080');
  assert.match(read, /^Listening on 8080\n\nJob c1 has been running for [\d.]+ s: echo Listening/);
  assert.match(slept, /^Waited [\d.]+ s\.\nJob c[12] ended after/);
  assert.match(rest, /^bye\n\nJob c1 ended after [\d.]+ s with exit code 3: echo Listening/);
  const tools = at.asked().map((asked) => asked.tools.includes('task_output'));
  assert.deepEqual(tools.slice(0, 2), [false, true], 'they are sent when there is a job');
});

onEachWire('the end of a job that nobody waits for is told with the next request, once', async (wire) => {
  const script = [
    background('touch over; exit 7'),
    one('bash', { command: 'until test -e over; do sleep 0.05; done; sleep 1' }),
    one('bash', { command: 'true' }),
    { text: 'Done.' },
  ];
  await using at = await journey(wire, { script });
  const exit = await at.run(['-p', 'start it', FREELY, '--output-format', 'stream-json', '--verbose']);
  assert.equal(exit.code, 0);
  const [told = '', ...more] = news(at);
  assert.match(
    told,
    /Job c1 ended after [\d.]+ s with exit code 7, having printed 0 bytes: touch over; exit 7\n/,
  );
  assert.deepEqual(more, []);
  const { spoken } = await onlySession(at);
  assert.ok(spoken.length > 0);
  assert.ok(JSON.stringify(linesOf(exit)).includes('ended after'), 'the person is told, too');
  // It is on the tape: a resumed conversation sends the same.
  const before = at.asked().at(-1)?.messages ?? [];
  await at.run(['-p', 'go on', '--continue', FREELY]);
  assert.deepEqual(at.asked().at(-1)?.messages.slice(0, before.length), before);
});

onEachWire('a program in a terminal is typed to and answers', async (wire) => {
  const script = [
    background('read -r -p "Name? " name; echo "Hello $name"; test -t 0 && echo terminal; sleep 60', {
      pty: true,
    }),
    one('task_input', { task_id: 'c1', input: 'Ada\n' }),
    one('task_stop', { task_id: 'c1' }),
    one('bash', { command: 'test -t 1 && printf "\\033[31mred\\033[0m\\n"; exit 2', pty: true }),
    { text: 'Done.' },
  ];
  await using at = await journey(wire, { script });
  assert.equal((await at.run(['-p', 'talk', FREELY])).code, 0);
  const [, answer = '', stopped = '', red = ''] = results(at);
  assert.match(answer, /Hello Ada\nterminal\n\nJob c1 has been running/);
  assert.match(stopped, /^Job c1 was stopped after/);
  assert.equal(red, 'red\n\nExit code 2');
});

onEachWire('nothing of a job outlives the program, ended or killed by a signal', async (wire) => {
  for (const signal of [undefined, 'SIGTERM', 'SIGINT'] as const) {
    const nap = `sleep 60.${randomInt(1e12)}`;
    const job = background(`trap '' TERM; (setsid ${nap} &); ${nap} & ${nap}; ${nap}`);
    const last: readonly Reply[] =
      signal === undefined ? [{ text: 'Done.' }] : [one('bash', { command: nap })];
    await using at = await journey(wire, { script: [job, ...last] });
    await using crab = at.start(['-p', 'go', FREELY]);
    crab.stdin.end();
    await eventually(
      'the job runs',
      async () => signal === undefined || (await processesWith(nap)).length >= 3,
    );
    if (signal !== undefined) crab.kill(signal);
    await crab.exited;
    await eventually('nothing is left', async () => (await processesWith(nap)).length === 0);
  }
});

onEachWire(
  'what is typed into a program, and a command in the background, need leave like any other',
  async (wire) => {
    const script = [
      background('touch made'),
      one('task_input', { task_id: 'c1', input: 'ls\n' }),
      one('monitor', { command: 'touch made' }),
      { text: 'Done.' },
    ];
    await using at = await journey(wire, { script });
    await at.run(['-p', 'go']);
    assert.equal(results(at).length, 3);
    for (const text of results(at)) assert.match(text, /refused/);
  },
);
