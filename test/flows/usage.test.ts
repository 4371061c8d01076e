// What requests cost, seen from outside: the ledger against the provider's bill, budgets, and the commands and flags
// that choose how a model is asked.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
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
} from '../support/journey.ts';

const USAGE = { input: 1000, output: 100, cacheRead: 500, cacheWrite: 0 };

/** US dollars for one answer with `USAGE`, by the price lists of the two models. */
const COST: Readonly<Record<FlowWire, number>> = {
  anthropic: (1000 * 3 + 100 * 15 + 500 * 0.3) / 1e6,
  openai: (1000 * 1.25 + 100 * 10 + 500 * 0.125) / 1e6,
};

const NOW = { env: { CRAB_MAX_RETRIES: '1' } };

async function report(at: Journey, ...args: readonly string[]): Promise<Line> {
  const exit = await at.run(['usage', '--json', ...args]);
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
  return linesOf(exit)[0] ?? {};
}

const near = (a: unknown, b: number) => assert.ok(Math.abs(Number(a) - b) < 1e-9, `${a} is not ${b}`);

onEachWire('crab usage adds up to the bill, with failed tries in their own right', async (wire) => {
  const busy = { status: 529, headers: { 'retry-after': '0' } };
  const script: readonly Reply[] = [
    { text: 'I look.', calls: [{ name: 'ls', input: {} }], usage: USAGE, fault: busy, times: 1 },
    { text: 'Done.', usage: USAGE },
  ];
  await using at = await journey(wire, { script });
  assert.equal((await at.run(['-p', 'look'], NOW)).code, 0);
  assert.equal((await at.run(['-p', 'look', '--no-session'], NOW)).code, 0);
  const { total, rows, skipped } = await report(at, '--by', 'cause');
  const { requests, failures, tokens, costUsd, unpriced } = Object(total);
  assert.deepEqual(
    { requests, failures, skipped, unpriced },
    { requests: 5, failures: 1, skipped: 0, unpriced: 0 },
  );
  assert.deepEqual(tokens, { input: 4000, output: 400, cacheRead: 2000, cacheWrite: 0 });
  near(costUsd, 4 * COST[wire]);
  const causes = (rows as readonly Line[]).map(({ key, requests: count, failures: failed }) => [
    key,
    count,
    failed,
  ]);
  assert.deepEqual(causes.toSorted(), [
    ['retry', 1, 0],
    ['turn', 4, 1],
  ]);
  const byModel = await report(at, '--by', 'model', '--days', '1');
  assert.deepEqual(
    (byModel['rows'] as readonly Line[]).map(({ key }) => key),
    [`${wire}/${MODELS[wire]}`],
  );
  const table = await at.run(['usage']);
  assert.match(table.stdout, /^day +requests +failed .*\n\d{4}-\d\d-\d\d +5 +1 .*\ntotal +5 +1 /);
});

test('crab usage has nothing to tell before there was a request, and refuses what it does not know', async () => {
  await using at = await journey('anthropic', { script: [] });
  assert.match((await at.run(['usage'])).stdout, /^No requests from .* to .*\.\n$/);
  assert.match((await at.run(['usage', '--help'])).stdout, /^Usage: crab usage /);
  const wrong = [
    ['--by', 'colour'],
    ['--days', '0'],
    ['--since', '2025-02-30'],
    ['--days', '1', '--since', '2025-01-01'],
    ['--what'],
    ['x'],
  ];
  for (const args of wrong) {
    const exit = await at.run(['usage', ...args]);
    assert.deepEqual({ args, code: exit.code, stdout: exit.stdout }, { args, code: 2, stdout: '' });
    assert.match(exit.stderr, /\[usage\]/);
  }
});

const prompts = (...texts: readonly string[]) =>
  texts
    .map((content) => `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`)
    .join('');

onEachWire('the budget of a run covers all prompts of a process', async (wire) => {
  const costly = { input: 1_000_000, output: 10 };
  await using at = await journey(wire, {
    script: [
      { text: 'One.', usage: costly },
      { text: 'Two.', usage: costly },
    ],
  });
  const args = [
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--max-budget-usd',
    '2',
    '--no-auto-compact',
  ];
  const exit = await at.run(args, { stdin: prompts('one', 'two', 'three') });
  assert.equal(exit.code, 5);
  const results = linesOf(exit).filter(({ type }) => type === 'result');
  assert.deepEqual(
    results.map(({ subtype }) => subtype),
    ['success', 'error_max_budget_usd', 'error_max_budget_usd'],
  );
  // One answer cost so much that the input of the next, a million tokens again, could not be paid.
  assert.equal(at.asked().length, 1);
});

onEachWire('a budget with a model of unknown price is refused, and nothing is asked', async (wire) => {
  await using at = await journey(wire, { script: [{ text: 'Hi.' }] });
  const exit = await at.run(['-p', 'hi', '--max-budget-usd', '1', '--model', `${wire}/nobody-knows`]);
  assert.deepEqual(
    { code: exit.code, stdout: exit.stdout, asked: at.asked() },
    { code: 5, stdout: '', asked: [] },
  );
  assert.match(
    exit.stderr,
    /the price of \w+\/nobody-knows is not known, .* \[budget-unpriced\]\n.*\.price\]/,
  );
});

onEachWire('a budget makes the longest answer shorter', async (wire) => {
  await using at = await journey(wire, { script: [{ text: 'Hi.' }] });
  assert.equal((await at.run(['-p', 'hi', '--max-budget-usd', '0.1'])).code, 0);
  const body = Object(at.provider.requests.at(-1)?.body);
  const most = Number(body.max_tokens ?? body.max_completion_tokens);
  assert.ok(most > 256 && most < 10_000, String(most));
});

onEachWire(',usage tells what the session used, whichever process it was', async (wire) => {
  await using at = await journey(wire, {
    script: [
      { text: 'One.', usage: USAGE },
      { text: 'Two.', usage: USAGE },
    ],
  });
  await at.run(['-p', 'one']);
  await at.run(['-p', 'two', '--continue']);
  await at.run(['-p', 'elsewhere']);
  const session = (await at.sessions())[0]?.header.id ?? '';
  const { stdout } = await at.run(['-p', ',usage', '--resume', session]);
  assert.match(
    stdout,
    new RegExp(
      `^model .*\\n${wire}/${MODELS[wire]} +2 +0 +2000 +1000 +0 +200 +\\$${(2 * COST[wire]).toFixed(4)} `,
    ),
  );
  assert.equal(
    (await at.run(['-p', '/cost', '--no-session'])).stdout,
    'No request was sent in this session.\n',
  );
});

onEachWire('the plan model answers while the mode is plan, and only then', async (wire) => {
  const other = wire === 'anthropic' ? 'claude-opus-4-5' : 'gpt-4.1';
  await using at = await journey(wire, { script: [{ text: 'A plan.' }, { text: 'Done.' }] });
  const args = ['--plan-model', `${wire}/${other}`];
  await at.run(['-p', 'think', '--permission-mode', 'plan', ...args]);
  await at.run(['-p', 'do', '--continue', ...args]);
  assert.deepEqual(
    at.asked().map(({ model }) => model),
    [other, MODELS[wire]],
  );
  const { entries } = await onlySession(at);
  assert.deepEqual(
    entries.flatMap((entry) => (entry.type === 'model_change' ? [entry.modelId] : [])),
    [MODELS[wire]],
  );
});

onEachWire(
  ',effort and ,model hold from the next request on, and in the session from then on',
  async (wire) => {
    const other = wire === 'anthropic' ? 'claude-opus-4-5' : 'gpt-5';
    await using at = await journey(wire, {
      script: [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }],
    });
    const lines = ['one', ',effort high', `,model ${wire}/${other}`, 'two', ',effort sideways'];
    const exit = await at.run(['chat'], { stdin: `${lines.join('\n')}\n` });
    assert.match(exit.stdout, /The effort is high\.\nThe model is .*\nTwo\./);
    assert.match(
      exit.stdout,
      /There is no effort sideways\. \[usage\]\nUse one of off, low, medium, high, max\./,
    );
    await at.run(['-p', 'three', '--continue']);
    assert.deepEqual(
      at.asked().map(({ model }) => model),
      [MODELS[wire], other, other],
    );
    const thinks = at.provider.requests
      .filter((request) => request.wire !== undefined)
      .map(({ body }) => JSON.stringify(Object(body).thinking ?? Object(body).reasoning_effort ?? null));
    assert.equal(thinks[0], 'null');
    assert.notEqual(thinks[1], 'null');
    assert.equal(thinks[2], thinks[1]);
    const { entries } = await onlySession(at);
    assert.deepEqual(
      entries.flatMap((entry) => (entry.type === 'thinking_level_change' ? [entry.thinkingLevel] : [])),
      ['high'],
    );
  },
);

onEachWire('a chain of fallback models is gone down, and each prompt begins at its top', async (wire) => {
  const [second, third] =
    wire === 'anthropic' ? ['claude-haiku-4-5', 'claude-opus-4-5'] : ['gpt-4.1', 'gpt-4.1-mini'];
  const script: readonly Reply[] = [{ text: 'One.', fault: { status: 529 }, times: 2 }, { text: 'Two.' }];
  await using at = await journey(wire, { script });
  const chain = `${wire}/${second},${wire}/${third}`;
  const args = [
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--fallback-model',
    chain,
  ];
  const exit = await at.run(args, { stdin: prompts('one', 'two'), env: { CRAB_MAX_RETRIES: '0' } });
  assert.equal(exit.code, 0, exit.stderr);
  assert.deepEqual(
    at.asked().map(({ model }) => model),
    [MODELS[wire], second, third, MODELS[wire]],
  );
  const causes = linesOf(exit).flatMap(({ subtype, cause, outcome }) =>
    subtype === 'request_end' ? [`${cause} ${outcome}`] : [],
  );
  assert.deepEqual(causes, ['turn failed', 'fallback failed', 'fallback done', 'turn done']);
});

onEachWire('two processes share the budget of a day: each sees what the other spent', async (wire) => {
  const slow = [{ name: 'bash', input: { command: 'until [ -e go ]; do sleep 0.05; done' } }];
  const costly = { input: 1_000_000, output: 10 };
  const script = {
    scripts: [
      { when: 'wait', replies: [{ text: 'I wait.', calls: slow }, { text: 'Never said.' }] },
      { when: 'spend', replies: [{ text: 'Spent.', usage: costly }] },
    ],
  };
  await using at = await journey(wire, { script });
  await mkdir(join(at.work.home, '.crab'), { recursive: true });
  await writeFile(join(at.work.home, '.crab', 'config.toml'), '[budget]\nday_usd = 1\n');
  await using waiting = at.start(['-p', 'wait', '--verbose', '--dangerously-skip-permissions']);
  await waiting.waitFor('bash', { on: 'stderr' });
  assert.equal((await at.run(['-p', 'spend'])).code, 0);
  await at.work.write('go', '');
  const exit = await waiting.exited;
  assert.deepEqual({ code: exit.code, asked: at.asked().length }, { code: 5, asked: 2 });
  assert.match(
    exit.stderr,
    /The budget for today is used up: \$\d\.\d+ of \$1\.0000\. \[budget-exhausted\]\nRaise \[budget\] day_usd/,
  );
  assert.match(
    (await at.run(['usage'])).stdout,
    /^budget day: \$\d\.\d+ of \$1\.0000 spent, \$0\.0000 left$/m,
  );
});
