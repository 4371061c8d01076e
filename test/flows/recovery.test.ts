// What a run makes of a provider that does not do what it should: what is mended by itself and said, what ends the run
// and with which status, and that nothing which arrived is lost and nothing half-arrived is run.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { Entry } from '../../src/core/tape.ts';
import type { Reply } from '../../src/dev/scenario.ts';
import {
  type FlowWire,
  type Journey,
  journey,
  type Line,
  linesOf,
  MODELS,
  onEachWire,
  onlySession,
  resultOf,
} from '../support/journey.ts';
import { assistant, call, result, type Spoken, user } from '../support/spoken.ts';

const NO_RETRIES = { env: { CRAB_MAX_RETRIES: '0' } };
const STREAM = ['--output-format', 'stream-json'];

const ofSubtype = (lines: readonly Line[], subtype: string) =>
  lines.filter((line) => line['subtype'] === subtype);

function without(line: Line | undefined, ...names: readonly string[]): Line {
  return Object.fromEntries(Object.entries(line ?? {}).filter(([name]) => !names.includes(name)));
}

onEachWire('a provider that is busy is asked again when it said, and the wait is announced', async (wire) => {
  const busy = { status: 429, headers: { 'retry-after': '1' }, message: 'Slow down.' };
  await using at = await journey(wire, { script: [{ text: 'Here I am.', fault: busy, times: 1 }] });
  const exit = await at.run(['-p', 'hello', ...STREAM]);
  assert.deepEqual({ code: exit.code, result: resultOf(exit)['result'] }, { code: 0, result: 'Here I am.' });
  const retries = ofSubtype(linesOf(exit), 'api_retry');
  assert.deepEqual(
    retries.map((line) => without(line, 'uuid', 'session_id', 'reason')),
    [
      {
        type: 'system',
        subtype: 'api_retry',
        attempt: 1,
        max_retries: 4,
        retry_delay_ms: 1000,
        error_status: 429,
        error: 'rate_limit',
      },
    ],
  );
  assert.match(String(retries[0]?.['reason']), /429.*Slow down\./);
  const [first, second] = at.provider.requests.filter((request) => request.wire !== undefined);
  assert.deepEqual(second?.body, first?.body, 'the same is asked again');
  const waited = (second?.arrivedMs ?? 0) - (first?.arrivedMs ?? 0);
  assert.ok(waited >= 995, `asked again after ${waited} ms`);
});

onEachWire('CRAB_MAX_RETRIES=0 asks once, and a number that is none is refused', async (wire) => {
  const busy = { status: 429, headers: { 'retry-after': '0' } };
  await using at = await journey(wire, { script: [{ text: 'Here.', fault: busy, times: 1 }] });
  const exit = await at.run(['-p', 'hello', ...STREAM], NO_RETRIES);
  assert.deepEqual({ code: exit.code, asked: at.asked().length }, { code: 4, asked: 1 });
  assert.deepEqual(ofSubtype(linesOf(exit), 'api_retry'), []);
  assert.match(exit.stderr, /\[rate-limited\]\nWait and try again/);
  const wrong = await at.run(['-p', 'hello'], { env: { CRAB_MAX_RETRIES: 'many' } });
  assert.deepEqual({ code: wrong.code, asked: at.asked().length }, { code: 2, asked: 1 });
  assert.match(wrong.stderr, /CRAB_MAX_RETRIES must be a whole number from 0 to 10\. \[usage\]/);
});

onEachWire(
  'when the retries are used up the fallback model goes on, and the rest of the run is its own',
  async (wire) => {
    const other = wire === 'anthropic' ? 'claude-haiku-4-5' : 'gpt-4.1-mini';
    const script: readonly Reply[] = [
      { text: 'Look.', calls: [{ name: 'ls', input: {} }], fault: { status: 529 }, times: 2 },
      { text: 'Done by another.' },
    ];
    await using at = await journey(wire, { script });
    const args = ['-p', 'hello', '--fallback-model', `${wire}/${other}`, ...STREAM];
    const exit = await at.run(args, { env: { CRAB_MAX_RETRIES: '1' } });
    assert.deepEqual(
      { code: exit.code, result: resultOf(exit)['result'] },
      { code: 0, result: 'Done by another.' },
    );
    assert.deepEqual(
      at.asked().map(({ model }) => model),
      [MODELS[wire], MODELS[wire], other, other],
    );
    const [recovery] = ofSubtype(linesOf(exit), 'recovery');
    const { cause, attempt, detail } = recovery ?? {};
    assert.deepEqual({ cause, attempt }, { cause: 'fallbackModel', attempt: 1 });
    assert.ok(String(detail).endsWith(`Going on with ${wire}/${other}.`), String(detail));
  },
);

onEachWire('a key that is refused is not offered to the fallback model', async (wire) => {
  await using at = await journey(wire, { script: [{ fault: { status: 401 } }] });
  const exit = await at.run(['-p', 'hello', '--fallback-model', MODELS[wire]]);
  assert.deepEqual({ code: exit.code, asked: at.asked().length }, { code: 3, asked: 1 });
});

const prompts = (...texts: readonly string[]) =>
  texts
    .map((content) => `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`)
    .join('');

onEachWire('a history that is too long is shortened in the request and whole on the tape', async (wire) => {
  const script: readonly Reply[] = [
    { text: 'One.' },
    { text: 'Two.' },
    { text: 'Three.' },
    { text: 'Four.', fault: { overflow: true }, times: 1 },
    { text: 'Not this.' },
  ];
  await using at = await journey(wire, { script });
  const stdin = prompts('first', 'second', 'third', 'fourth');
  const exit = await at.run(['--input-format', 'stream-json', ...STREAM], { stdin });
  assert.equal(exit.code, 0, exit.stderr);
  const history = (await onlySession(at)).spoken;
  const whole = [
    ...[user('first'), assistant('One.'), user('second'), assistant('Two.')],
    ...[user('third'), assistant('Three.'), user('fourth')],
  ];
  assert.deepEqual(history.slice(0, -1), whole);
  const [tooLong, shorter] = at.asked().slice(-2);
  assert.deepEqual(tooLong?.messages, whole);
  assert.ok(shorter !== undefined && shorter.messages.length < whole.length);
  assert.deepEqual(shorter.messages, whole.slice(-shorter.messages.length), 'the newest stay, in order');
  assert.equal(shorter.messages[0]?.role, 'user');
  const { cause } = ofSubtype(linesOf(exit), 'recovery')[0] ?? {};
  assert.equal(cause, 'promptTooLong');
});

onEachWire('a prompt that is too long by itself ends with status 6', async (wire) => {
  await using at = await journey(wire, { script: [{ fault: { overflow: true } }] });
  const exit = await at.run(['-p', 'hello']);
  assert.deepEqual(
    { code: exit.code, stdout: exit.stdout, asked: at.asked().length },
    { code: 6, stdout: '', asked: 1 },
  );
  assert.match(exit.stderr, /\[context-overflow\]/);
});

const STORY = Array.from({ length: 200 }, (_, at) => `word ${at} `);

/** The messages of the tape with why each answer ended. */
const endings = (entries: readonly Entry[]) =>
  entries.flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'assistant' ? [entry.message.stopReason] : [],
  );

const MIDDLE: readonly { readonly name: string; readonly reply: Reply; readonly code: string }[] = [
  { name: 'that breaks', reply: { text: STORY, fault: { cutAfter: 6000 } }, code: 'stream-cut' },
  { name: 'that ends without an end', reply: { text: STORY, fault: { noStop: true } }, code: 'stream-cut' },
];

/** The words that arrived are the beginning of the story. */
function beginning(said: Spoken | undefined): string {
  assert.ok(said?.role === 'assistant' && said.text !== '' && STORY.join('').startsWith(said.text));
  return said.text;
}

for (const { name, reply, code } of MIDDLE)
  onEachWire(`of a stream ${name} the words are kept, and the conversation goes on`, async (wire) => {
    await using at = await journey(wire, { script: [reply, { text: 'As I was saying.' }] });
    const exit = await at.run(['-p', 'tell a story', '--output-format', 'json']);
    const told = resultOf(exit);
    const { entries, spoken } = await onlySession(at);
    const kept = beginning(spoken[1]);
    assert.deepEqual(
      {
        code: exit.code,
        result: told['result'],
        error: Object(told['error']).code,
        asked: at.asked().length,
      },
      { code: 8, result: kept, error: code, asked: 1 },
    );
    assert.deepEqual(endings(entries), ['error']);
    const text = await at.run(['-p', 'go on', '--continue']);
    assert.deepEqual(text, { code: 0, signal: null, stdout: 'As I was saying.\n', stderr: '' });
    assert.deepEqual(at.asked().at(-1)?.messages, [user('tell a story'), assistant(kept), user('go on')]);
  });

onEachWire('an error in the middle of a stream ends the run with what was said', async (wire) => {
  const type = wire === 'anthropic' ? 'overloaded_error' : 'server_error';
  const fault = { errorEvent: { type, message: 'Too much to do.' } };
  await using at = await journey(wire, { script: [{ text: 'So far', fault }] });
  const exit = await at.run(['-p', 'hello']);
  assert.equal(exit.stdout, 'So far\n');
  assert.notEqual(exit.code, 0);
  assert.match(exit.stderr, /Too much to do\. \[provider-(overloaded|failed)\]/);
  assert.deepEqual((await onlySession(at)).spoken, [user('hello'), assistant('So far')]);
});

onEachWire('a stream that breaks before its first word is asked again', async (wire) => {
  for (const fault of [{ cutAfter: 0 }, { reset: true }] as const) {
    await using at = await journey(wire, { script: [{ text: 'Here.', fault, times: 1 }] });
    const exit = await at.run(['-p', 'hello']);
    assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Here.\n', stderr: '' });
    assert.equal(at.asked().length, 2);
  }
});

onEachWire('a call that broke off in its middle is never run', async (wire) => {
  const made = { name: 'bash', input: { command: 'mkdir made-by-half-a-call' } };
  const fault = { cutAfter: 'call' } as const;
  const script = [{ text: 'I make it.', calls: [made], fault }, { text: 'Never mind.' }];
  await using at = await journey(wire, { script });
  const exit = await at.run(['-p', 'make it', '--dangerously-skip-permissions']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 8, stdout: 'I make it.\n' });
  assert.equal(existsSync(at.work.file('made-by-half-a-call')), false);
  const again = await at.run(['-p', 'and?', '--continue']);
  assert.equal(again.stdout, 'Never mind.\n');
  const said = [user('make it'), assistant('I make it.'), user('and?')];
  assert.deepEqual(at.asked().at(-1)?.messages, said);
});

onEachWire('a call whose arguments cannot be read is answered, not run', async (wire) => {
  const calls = [{ name: 'bash', input: { command: 'mkdir made' } }];
  const script: readonly Reply[] = [{ calls, fault: { badJson: true } }, { text: 'Sorry.' }];
  await using at = await journey(wire, { script });
  const exit = await at.run(['-p', 'make it', '--dangerously-skip-permissions']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 0, stdout: 'Sorry.\n' });
  assert.equal(existsSync(at.work.file('made')), false);
  const [, asked, told] = at.asked()[1]?.messages ?? [];
  assert.deepEqual(asked, assistant('', call('call_1_1', 'bash', {})));
  assert.ok(told?.role === 'result' && told.text.startsWith('The arguments are not valid JSON'), told?.role);
});

onEachWire('a web page in place of a stream ends at once with status 8', async (wire) => {
  await using at = await journey(wire, { script: [{ fault: { html: true } }] });
  const exit = await at.run(['-p', 'hello']);
  assert.deepEqual(
    { code: exit.code, stdout: exit.stdout, asked: at.asked().length },
    { code: 8, stdout: '', asked: 1 },
  );
  assert.match(exit.stderr, /Sign in.* \[provider-protocol\]\nCheck that the base URL/s);
});

onEachWire('a refused key ends at once with status 3 and is shown nowhere', async (wire) => {
  const secret = 'sk-very-secret-0123456789';
  const fault = { status: 401, message: `invalid key ${secret}` };
  await using at = await journey(wire, { script: [{ fault }] });
  const env = { [wire === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY']: secret };
  const exit = await at.run(['-p', 'hello', ...STREAM, '--verbose'], { env });
  assert.deepEqual({ code: exit.code, asked: at.asked().length }, { code: 3, asked: 1 });
  assert.match(exit.stderr, /401.*invalid key \[key\] \[auth-refused\]/);
  assert.equal(`${exit.stdout}${exit.stderr}`.includes(secret), false);
  assert.equal(JSON.stringify(await at.sessions()).includes(secret), false);
});

onEachWire('a host that cannot be reached ends with status 8 after the retries', async (wire) => {
  await using at = await journey(wire, { script: [] });
  await at.provider.close();
  const exit = await at.run(['-p', 'hello', ...STREAM], { env: { CRAB_MAX_RETRIES: '1' } });
  assert.equal(exit.code, 8);
  assert.equal(ofSubtype(linesOf(exit), 'api_retry').length, 1);
  assert.match(
    exit.stderr,
    /127\.0\.0\.1:\d+ could not be reached: the connection was refused .*\[network\]/,
  );
});

onEachWire(
  'a provider that falls silent ends the run with status 124, and its words are kept',
  async (wire) => {
    const script: readonly Reply[] = [{ text: STORY, fault: { stallAfter: 6000 } }, { text: 'On.' }];
    await using at = await journey(wire, { script });
    const exit = await at.run(['-p', 'tell a story', '--timeout', '1', '--output-format', 'json']);
    const { is_error, exit_code, result: said, error } = resultOf(exit);
    const { spoken } = await onlySession(at);
    const kept = beginning(spoken[1]);
    assert.deepEqual(
      { code: exit.code, is_error, exit_code, said, error: Object(error).code },
      { code: 124, is_error: true, exit_code: 124, said: kept, error: 'idle-timeout' },
    );
    assert.equal((await at.run(['-p', 'go on', '--continue'])).stdout, 'On.\n');
    assert.deepEqual(at.asked().at(-1)?.messages, [user('tell a story'), assistant(kept), user('go on')]);
  },
);

onEachWire('a tool that works longer than the timeout is no silence', async (wire) => {
  const calls = [{ name: 'bash', input: { command: 'sleep 1.5; echo rested' } }];
  await using at = await journey(wire, { script: [{ calls }, { text: '{{result}}' }] });
  const exit = await at.run(['-p', 'rest', '--timeout', '1', '--dangerously-skip-permissions']);
  assert.deepEqual(exit, { code: 0, signal: null, stdout: 'rested\n', stderr: '' });
});

const LOOK: Reply = {
  text: 'I look.',
  calls: [{ name: 'ls', input: {} }],
  usage: { input: 1_000_000, output: 0 },
};

onEachWire(
  'a budget ends the run before the request that it does not cover, and a larger one goes on',
  async (wire) => {
    await using at = await journey(wire, { script: [{ ...LOOK, repeat: 2 }, { text: 'Done.' }] });
    const exit = await at.run(['-p', 'look', '--max-budget-usd', '1', '--no-auto-compact']);
    assert.deepEqual({ code: exit.code, asked: at.asked().length }, { code: 5, asked: 1 });
    assert.match(
      exit.stderr,
      /The budget for this run is used up: \$\d\.\d+ of \$1\.0000\. \[budget-exhausted\]/,
    );
    const more = await at.run(['-p', 'go on', '--continue', '--max-budget-usd', '100', '--no-auto-compact']);
    assert.deepEqual({ code: more.code, stdout: more.stdout }, { code: 0, stdout: 'Done.\n' });
    assert.deepEqual(at.asked().at(-1)?.messages.slice(0, 4), [
      user('look'),
      assistant('I look.', call('call_1_1', 'ls', {})),
      result('call_1_1', '[The folder is empty.]'),
      user('go on'),
    ]);
  },
);

onEachWire('a turn limit ends the run with its calls answered, and --continue goes on', async (wire) => {
  await using at = await journey(wire, { script: [{ ...LOOK, repeat: 3 }, { text: 'Done.' }] });
  const exit = await at.run(['-p', 'look', '--max-turns', '2', '--no-auto-compact']);
  assert.deepEqual(
    { code: exit.code, stdout: exit.stdout, asked: at.asked().length },
    { code: 53, stdout: 'I look.\n', asked: 2 },
  );
  assert.match(exit.stderr, /Stopped after 2 turns, the limit of this run\. \[turn-limit\]/);
  assert.equal((await at.run(['-p', 'go on', '--continue', '--no-auto-compact'])).stdout, 'Done.\n');
});

const LIMITS: Readonly<Record<FlowWire, readonly number[]>> = {
  anthropic: [16_384, 32_768, 64_000],
  openai: [16_384, 32_768, 65_536, 128_000],
};

onEachWire(
  'an answer that is cut at its limit is asked for again with more room, as far as the model has it',
  async (wire) => {
    await using at = await journey(wire, { script: [{ text: 'So much to say', stop: 'length' }] });
    const exit = await at.run(['-p', 'tell all', ...STREAM]);
    assert.deepEqual(
      { code: exit.code, result: resultOf(exit)['result'] },
      { code: 1, result: 'So much to say' },
    );
    assert.deepEqual(maxTokens(at), LIMITS[wire]);
    assert.equal(ofSubtype(linesOf(exit), 'recovery').length, LIMITS[wire].length - 1);
    assert.match(exit.stderr, /\[output-limit\]/);
    assert.deepEqual((await onlySession(at)).spoken, [user('tell all'), assistant('So much to say')]);
  },
);

function maxTokens({ provider }: Journey): readonly unknown[] {
  const bodies = provider.requests.flatMap(({ body }) => (body === undefined ? [] : [body]));
  return bodies.map((body) => body['max_tokens']);
}
