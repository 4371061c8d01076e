// A run that somebody stops, politely or not: it ends with the status of the signal and no process behind it, what was
// acknowledged is on disk, and the conversation goes on with a history that every provider accepts.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Reply } from '../../src/dev/scenario.ts';
import type { CrabExit, CrabProcess } from '../support/crab.ts';
import {
  type Journey,
  journey,
  type Line,
  linesOf,
  onEachWire,
  onlySession,
  resultOf,
} from '../support/journey.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { filesBelow } from '../support/session-files.ts';
import { assistant, call, result, user } from '../support/spoken.ts';

const STREAM = ['--output-format', 'stream-json', '--include-partial-messages'];

const STORY = Array.from({ length: 300 }, (_, at) => `word ${at} `);

/** Falls silent in the middle of its first answer, and has another one for whoever comes back. */
const STALLING: readonly Reply[] = [{ text: STORY, fault: { stallAfter: 8000 } }, { text: 'Where was I?' }];

/** What arrived of the answer, as a program that reads the stream has seen it. */
function heard(lines: readonly Line[]): string {
  return lines.map(({ event }) => Object((event as Line | undefined)?.['delta']).text ?? '').join('');
}

/** Whole lines of what a process that still runs has written. */
const linesSoFar = ({ stdout }: CrabProcess) =>
  linesOf({ stdout: stdout.slice(0, stdout.lastIndexOf('\n') + 1) });

async function startStory(at: Journey): Promise<CrabProcess> {
  const crab = at.start(['-p', 'tell a story', ...STREAM]);
  crab.stdin.end();
  await crab.waitFor('text_delta');
  return crab;
}

/** A command that takes long and can be told from all others. */
const uniqueNap = () => `sleep 60.${randomInt(1e12)}`;

const SIGNALS = [
  { signal: 'SIGINT', status: 130, code: 'interrupted' },
  { signal: 'SIGTERM', status: 143, code: 'terminated' },
] as const;

for (const { signal, status, code } of SIGNALS) {
  onEachWire(
    `${signal} while an answer streams: status ${status}, and what was heard is kept`,
    async (wire) => {
      await using at = await journey(wire, { script: STALLING });
      await using crab = await startStory(at);
      crab.kill(signal);
      const exit = await crab.exited;
      const { is_error, exit_code, error, result: said } = resultOf(exit);
      const words = heard(linesOf(exit));
      assert.deepEqual(
        { code: exit.code, is_error, exit_code, error: Object(error).code, said },
        { code: status, is_error: true, exit_code: status, error: code, said: words },
      );
      assert.ok(words !== '' && STORY.join('').startsWith(words));
      assert.deepEqual((await onlySession(at)).spoken, [user('tell a story'), assistant(words)]);
      const again = await at.run(['-p', 'go on', '--continue']);
      assert.deepEqual(again, { code: 0, signal: null, stdout: 'Where was I?\n', stderr: '' });
      assert.deepEqual(at.asked().at(-1)?.messages, [user('tell a story'), assistant(words), user('go on')]);
    },
  );

  onEachWire(
    `${signal} while a command runs: nothing of it survives, and its call is answered`,
    async (wire) => {
      const nap = uniqueNap();
      const command = `(setsid ${nap} &); ${nap} & ${nap}; touch late`;
      const script = [
        { text: 'I wait.', calls: [{ name: 'bash', input: { command } }] },
        { text: 'Enough.' },
      ];
      await using at = await journey(wire, { script });
      await using crab = at.start(['-p', 'wait', ...STREAM, '--dangerously-skip-permissions']);
      crab.stdin.end();
      await crab.waitFor('"tool_start"');
      await eventually('three naps', async () => (await processesWith(nap)).length >= 4);
      crab.kill(signal);
      const exit = await crab.exited;
      const { exit_code, error } = resultOf(exit);
      assert.deepEqual(
        { code: exit.code, exit_code, error: Object(error).code },
        { code: status, exit_code: status, error: code },
      );
      await eventually('no nap', async () => (await processesWith(nap)).length === 0);
      assert.equal(existsSync(at.work.file('late')), false);
      const again = await at.run(['-p', 'go on', '--continue']);
      assert.deepEqual(again, { code: 0, signal: null, stdout: 'Enough.\n', stderr: '' });
      const messages = at.asked().at(-1)?.messages ?? [];
      const asked = assistant('I wait.', call('call_1_1', 'bash', { command }));
      assert.deepEqual([messages[0], messages[1], messages[3]], [user('wait'), asked, user('go on')]);
      assert.ok(messages[2]?.role === 'result' && /interrupted|cancelled/.test(messages[2].text));
    },
  );
}

onEachWire('SIGTERM in the json format still writes the one object', async (wire) => {
  await using at = await journey(wire, { script: STALLING });
  await using crab = at.start(['-p', 'tell a story', '--output-format', 'json']);
  crab.stdin.end();
  await answering(at);
  crab.kill('SIGTERM');
  const exit = await crab.exited;
  assert.deepEqual({ code: exit.code, lines: linesOf(exit).length }, { code: 143, lines: 1 });
  assert.equal(resultOf(exit)['exit_code'], 143);
});

onEachWire(
  'SIGINT in the text format prints what there is, and the error on standard error',
  async (wire) => {
    await using at = await journey(wire, { script: STALLING });
    await using crab = at.start(['-p', 'tell a story']);
    crab.stdin.end();
    await answering(at);
    crab.kill('SIGINT');
    const exit = await crab.exited;
    assert.equal(exit.code, 130);
    assert.ok(`${STORY.join('')}\n`.startsWith(exit.stdout.trimEnd()));
    assert.match(exit.stderr, /^crab: Interrupted\. \[interrupted\]\nGo on with --continue\.\n$/);
  },
);

/** Resolves when words of an answer are on disk. */
function answering(at: Journey): Promise<void> {
  return eventually('words on disk', async () =>
    (await filesBelow(at.work.home)).some((path) => path.endsWith('.partial')),
  );
}

onEachWire('a signal while a retry waits ends the run at once', async (wire) => {
  const fault = { status: 429, headers: { 'retry-after': '600' } };
  await using at = await journey(wire, { script: [{ fault }] });
  await using crab = at.start(['-p', 'hello', '--timeout', '0', ...STREAM]);
  crab.stdin.end();
  await crab.waitFor('api_retry');
  crab.kill('SIGINT');
  assert.equal((await crab.exited).code, 130);
});

onEachWire('a signal between two prompts of a stream ends it', async (wire) => {
  await using at = await journey(wire, { script: [{ text: 'One.' }] });
  await using crab = at.start(['--input-format', 'stream-json', '--output-format', 'stream-json']);
  crab.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content: 'first' } })}\n`);
  await crab.waitFor('"type":"result"');
  crab.kill('SIGTERM');
  const exit = await crab.exited;
  assert.equal(exit.code, 143);
  assert.deepEqual((await onlySession(at)).spoken, [user('first'), assistant('One.')]);
});

async function killed(crab: CrabProcess): Promise<CrabExit> {
  crab.kill('SIGKILL');
  const exit = await crab.exited;
  assert.equal(exit.signal, 'SIGKILL');
  return exit;
}

onEachWire(
  'kill -9 while an answer streams: --continue has its prompt and its words, marked as interrupted',
  async (wire) => {
    await using at = await journey(wire, { script: STALLING });
    await using crab = await startStory(at);
    await answering(at);
    await killed(crab);
    const words = heard(linesSoFar(crab));
    const again = await at.run(['-p', 'go on', '--continue']);
    assert.deepEqual({ code: again.code, stdout: again.stdout }, { code: 0, stdout: 'Where was I?\n' });
    assert.equal(again.stderr, '! The last answer was interrupted; the text that had arrived is kept.\n');
    const { entries, spoken } = await onlySession(at);
    const kept = spoken[1];
    assert.ok(kept?.role === 'assistant' && kept.text !== '' && words.startsWith(kept.text));
    assert.deepEqual(at.asked().at(-1)?.messages, [user('tell a story'), kept, user('go on')]);
    const reasons = entries.flatMap((entry) =>
      entry.type === 'message' && entry.message.role === 'assistant' ? [entry.message.stopReason] : [],
    );
    assert.deepEqual(reasons, ['aborted', 'stop']);
  },
);

onEachWire(
  'kill -9 while a command runs: every result that was told is there, the open call is answered',
  async (wire) => {
    const nap = uniqueNap();
    const calls = [
      { name: 'read', input: { path: 'a.txt' } },
      { name: 'bash', input: { command: nap } },
    ];
    const script = [{ text: 'I read and wait.', calls }, { text: 'Enough.' }];
    await using at = await journey(wire, { script, files: { 'a.txt': 'hello\n' } });
    await using crab = at.start(['-p', 'wait', ...STREAM, '--dangerously-skip-permissions']);
    crab.stdin.end();
    await crab.waitFor(/tool_result.*\n/);
    await crab.waitFor('"tool_name":"bash"');
    await eventually('a nap', async () => (await processesWith(nap)).length > 0);
    await killed(crab);
    await eventually('no nap', async () => (await processesWith(nap)).length === 0);
    const again = await at.run(['-p', 'go on', '--continue']);
    assert.deepEqual(again, { code: 0, signal: null, stdout: 'Enough.\n', stderr: '' });
    assert.deepEqual(at.asked().at(-1)?.messages, [
      user('wait'),
      assistant(
        'I read and wait.',
        call('call_1_1', 'read', { path: 'a.txt' }),
        call('call_1_2', 'bash', { command: nap }),
      ),
      result('call_1_1', '1\thello'),
      result('call_1_2', 'This call was interrupted before it ended; its effects are unknown.'),
      user('go on'),
    ]);
  },
);

onEachWire(
  'kill -9 at any moment of many turns: what was told is there, and the conversation goes on',
  async (wire) => {
    const look: Reply = {
      text: 'Look {{n}}.',
      calls: [{ name: 'read', input: { path: 'a.txt' } }],
      repeat: 40,
    };
    await using at = await journey(wire, {
      script: [look, { text: 'Done.' }],
      files: { 'a.txt': 'hello\n' },
    });
    let told = 0;
    for (const turns of [1, 2, 4, 7]) {
      const choice = told === 0 ? [] : ['--continue'];
      await using crab = at.start(['-p', `prompt ${turns}`, ...STREAM, ...choice]);
      crab.stdin.end();
      for (let turn = 0; turn < turns; turn++) await crab.waitFor(/"tool_result".*\n/);
      await killed(crab);
      told += linesSoFar(crab).filter(({ type }) => type === 'user').length;
      const { spoken } = await onlySession(at);
      const results = spoken.filter(({ role }) => role === 'result').length;
      assert.ok(results >= told, `${told} results were told, ${results} are on disk`);
    }
    const end = await at.run(['-p', 'finish', '--continue']);
    assert.deepEqual({ code: end.code, stdout: end.stdout }, { code: 0, stdout: 'Done.\n' });
    assert.deepEqual(at.provider.violations, []);
  },
);
