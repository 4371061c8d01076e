// The bill of a run: every try has its line, the lines add up to what the provider charges, and budgets hold.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runQuery, testTool } from '../../test/support/query.ts';
import { scriptedModel } from '../../test/support/scripted-model.ts';
import { virtualClock } from '../../test/support/virtual-clock.ts';
import { CrabError, type ErrorCode } from '../core/errors.ts';
import type { Event, RequestEnd } from '../core/event.ts';
import type { Model, ModelChunk, ModelInfo, ModelRequest } from '../core/model.ts';
import { type BudgetKind, type BudgetState, NO_TOKENS, type TokenCounts, usageOf } from '../core/usage.ts';
import type { Accounts } from './requests.ts';

const PRICE = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

const INFO: ModelInfo = {
  provider: 'scripted',
  id: 'm',
  api: 'scripted',
  contextWindow: 200_000,
  maxOutput: 64_000,
  price: PRICE,
};

interface Ledger extends Accounts {
  readonly lines: RequestEnd[];
  usd(): number;
}

/** Accounts with the budgets given, all of which the run's own requests draw on. */
function ledger(limits: Partial<Record<BudgetKind, number>> = {}, before = 0): Ledger {
  const lines: RequestEnd[] = [];
  const usd = () => lines.reduce((sum, line) => sum + line.usage.cost.total, before);
  const unreported = () => lines.reduce((sum, line) => sum + (line.unreportedUsd ?? 0), 0);
  return {
    lines,
    usd,
    warned: new Set(),
    spent: (line) => void lines.push(line),
    budgets: () =>
      Object.entries(limits).map(
        ([kind, limitUsd]): BudgetState => ({
          kind: kind as BudgetKind,
          limitUsd,
          spentUsd: usd() + unreported(),
        }),
      ),
  };
}

type Answering = (
  request: ModelRequest,
  number: number,
  signal: AbortSignal,
) => AsyncIterable<readonly ModelChunk[]>;

function modelOf(
  answering: Answering,
  info: Partial<ModelInfo> = {},
): Model & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    info: { ...INFO, ...info },
    asked,
    stream: (request, signal) => {
      asked.push({ ...request, messages: [...request.messages] });
      return answering(request, asked.length, signal);
    },
  };
}

const START: ModelChunk = { type: 'messageStart', id: 'x', model: 'm' };
const words = (delta: string): ModelChunk => ({ type: 'contentDelta', index: 0, delta });
const tokens = (input: number, output: number): TokenCounts => ({ ...NO_TOKENS, input, output });
const end = (counts: TokenCounts, stopReason: 'stop' | 'length' | 'toolUse' = 'stop'): ModelChunk => ({
  type: 'end',
  stopReason,
  tokens: counts,
});
const failure = (code: ErrorCode, counts?: TokenCounts, status?: number): ModelChunk => ({
  type: 'failure',
  error: new CrabError(code, `It ended with ${code}.`, status === undefined ? {} : { status }),
  ...(counts && { tokens: counts }),
});
const retry = (attempt: number, counts?: TokenCounts): ModelChunk => ({
  type: 'retry',
  attempt,
  maxAttempts: 5,
  delayMs: 100,
  status: 529,
  reason: 'busy',
  ...(counts && { tokens: counts }),
});

async function* say(...chunks: readonly ModelChunk[]): AsyncGenerator<readonly ModelChunk[]> {
  for (const chunk of chunks) yield [chunk];
}

const look = (id: string): readonly ModelChunk[] => [
  { type: 'toolUseStart', index: 1, id, name: 'look' },
  { type: 'toolUseDelta', id, delta: '{}' },
  { type: 'contentBlockStop', index: 1 },
];

/** What a line says beside its times. */
const told = ({ model, cause, outcome, status, usage }: RequestEnd) =>
  [model, cause, outcome, status, usage.input, usage.output] as const;

const requestEnds = (events: readonly Event[]) => events.filter((event) => event.type === 'requestEnd');

describe('the bill of a run', () => {
  it('has a line for each try, and adds up to what the provider charges', async () => {
    const book = ledger();
    const stop = new AbortController();
    const bill: number[] = [];
    const charge = (counts: TokenCounts) => {
      bill.push(usageOf(counts, PRICE).cost.total);
      return counts;
    };
    const model = modelOf((_request, number) => {
      // A busy provider that had counted the prompt, then an answer; then one that is cut after its price was known.
      if (number === 1)
        return say(
          retry(1),
          retry(2, charge(tokens(120, 0))),
          START,
          words('I look.'),
          ...look('c1'),
          end(charge(tokens(1000, 40)), 'toolUse'),
        );
      return say(START, words('Half'), failure('stream-cut', charge(tokens(1100, 3))));
    });
    const other = modelOf(
      (_request, number, signal) => {
        if (number === 1)
          return say(START, words('I look'), ...look('c2'), end(charge(tokens(1200, 50)), 'toolUse'));
        return cut(signal);
      },
      { id: 'other' },
    );
    async function* cut(signal: AbortSignal): AsyncGenerator<readonly ModelChunk[]> {
      yield [START, words('The ans')];
      stop.abort(new Error('Enough.'));
      assert.equal(signal.aborted, true);
      yield [failure('interrupted', charge(tokens(1300, 2)))];
    }
    const { events, end: last } = await runQuery({
      model,
      fallbacks: { other: () => other },
      tools: [testTool({ name: 'look' })],
      accounts: book,
      signal: stop.signal,
    });
    assert.equal(last.outcome, 'cancelled');
    assert.deepEqual(book.lines.map(told), [
      ['m', 'turn', 'retried', 529, 0, 0],
      ['m', 'retry', 'retried', 529, 120, 0],
      ['m', 'retry', 'done', undefined, 1000, 40],
      ['m', 'turn', 'failed', undefined, 1100, 3],
      ['other', 'fallback', 'done', undefined, 1200, 50],
      ['other', 'turn', 'aborted', undefined, 1300, 2],
    ]);
    const charged = bill.reduce((sum, each) => sum + each, 0);
    assert.ok(Math.abs(book.usd() - charged) < 1e-12, `${book.usd()} is not ${charged}`);
    assert.ok(Math.abs(last.usage.cost.total - charged) < 1e-12);
    assert.deepEqual(requestEnds(events), book.lines, 'everybody who listens is told the same');
  });

  it('is written also when whoever listened has left in the middle of the answer', async () => {
    const book = ledger();
    const model = modelOf(async function* (_request, _number, signal) {
      yield [START, words('One')];
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      yield [failure('interrupted', tokens(10, 1))];
    });
    const leave = (event: Event) => {
      if (event.type === 'contentDelta') throw new Error('I have heard enough.');
    };
    await assert.rejects(runQuery({ model, accounts: book, onEvent: leave }), /heard enough/);
    while (book.lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(book.lines.map(told), [['m', 'turn', 'aborted', undefined, 10, 1]]);
  });

  it('has no line for a try that was stopped before it was sent', async () => {
    const book = ledger();
    const stop = new AbortController();
    const model = modelOf(async function* () {
      yield [retry(1)];
      stop.abort(new Error('Enough.'));
      yield [failure('interrupted')];
    });
    await runQuery({ model, accounts: book, signal: stop.signal });
    assert.deepEqual(book.lines.map(told), [['m', 'turn', 'retried', 529, 0, 0]]);
  });

  it('has no line for the wait before a first try, whose time is not counted', async () => {
    const clock = virtualClock();
    const book = ledger();
    const model = modelOf(async function* () {
      yield [{ ...retry(1), attempt: 0 } as ModelChunk];
      await clock.advance(100);
      yield [START, words('x'), end(tokens(1, 1))];
    });
    await runQuery({ model, accounts: book, clock });
    assert.deepEqual(
      book.lines.map((line) => [line.cause, line.outcome, line.durationMs]),
      [['turn', 'done', 0]],
    );
  });

  it('takes the provider’s own word for the cost before the table', async () => {
    const book = ledger();
    const said: ModelChunk = { type: 'end', stopReason: 'stop', tokens: tokens(1000, 10), costUsd: 0.25 };
    const { end: last, written } = await runQuery({
      model: modelOf(() => say(START, words('x'), said)),
      accounts: book,
    });
    const [line] = book.lines;
    assert.deepEqual([line?.usage.cost.total, line?.priced, last.usage.cost.total], [0.25, 'provider', 0.25]);
    const kept = written.at(-1);
    assert.equal(kept?.role === 'assistant' && kept.usage.cost.total, 0.25);
  });

  it('knows what it does not know: a price, and what was written when nobody counted', async () => {
    const { price: _, ...unpriced } = INFO;
    const book = ledger();
    const nameless = { ...modelOf(() => say(START, words('x'), end(tokens(5, 5)))), info: unpriced };
    await runQuery({ model: nameless, accounts: book });
    assert.deepEqual([book.lines[0]?.priced, book.lines[0]?.usage.cost.total], ['unknown', 0]);
    const cut = ledger();
    const text = 'x'.repeat(3000);
    await runQuery({ model: modelOf(() => say(START, words(text), failure('stream-cut'))), accounts: cut });
    const [line] = cut.lines;
    assert.equal(line?.usage.cost.total, 0, 'never an estimate');
    assert.ok((line?.unreportedUsd ?? 0) >= (1000 * PRICE.output) / 1e6, `${line?.unreportedUsd}`);
  });

  it('measures the time to the first token and the speed behind it', async () => {
    const clock = virtualClock();
    const book = ledger();
    const model = modelOf(async function* () {
      await clock.advance(400);
      yield [START, words('x')];
      await clock.advance(2000);
      yield [end(tokens(10, 100))];
    });
    await runQuery({ model, accounts: book, clock });
    const [line] = book.lines;
    assert.deepEqual([line?.ttftMs, line?.durationMs, line?.tokensPerSecond], [400, 2400, 50]);
  });
});

describe('a budget', () => {
  const once = () => modelOf(() => say(START, words('x'), end(tokens(10, 10))));

  it('that has nothing left sends no request, and says which it is and what to do', async () => {
    const hints: Record<BudgetKind, RegExp> = {
      run: /--max-budget-usd/,
      conversation: /\[budget\] conversation_usd/,
      day: /\[budget\] day_usd/,
      sender: /\[budget\] sender_usd/,
    };
    for (const kind of Object.keys(hints) as BudgetKind[]) {
      const model = once();
      const { end: last } = await runQuery({ model, accounts: ledger({ [kind]: 0.5 }, 0.5) });
      assert.deepEqual(
        [last.outcome, last.error?.code, model.asked.length],
        ['budget', 'budget-exhausted', 0],
        kind,
      );
      assert.match(last.error?.message ?? '', /is used up: \$0\.5000 of \$0\.5000\.$/);
      assert.match(last.error?.hint ?? '', hints[kind]);
    }
  });

  it('is the one with the least left, of several', async () => {
    const model = once();
    const { end: last } = await runQuery({ model, accounts: ledger({ run: 9, day: 1, sender: 5 }, 1) });
    assert.match(last.error?.message ?? '', /The budget for today/);
  });

  it('cuts what the answer may have to what is left, and is never overshot by more than that answer', async () => {
    for (const limit of [0.02, 0.05, 0.1, 0.5]) {
      const book = ledger({ run: limit });
      // The greediest model there is: it writes all it may, whatever it is told, and counts its input in full.
      const model = modelOf((request, number) => {
        const input = JSON.stringify(request.messages).length;
        const counts = tokens(input, request.maxTokens);
        return say(START, words('w'), ...look(`c${number}`), end(counts, 'toolUse'));
      });
      const { end: last } = await runQuery({
        model,
        accounts: book,
        tools: [testTool({ name: 'look' })],
        limits: { maxTokens: 4000 },
      });
      assert.equal(last.error?.code, 'budget-exhausted');
      assert.ok(model.asked.length > 0, `${limit} buys something`);
      const reply = book.lines.at(-1)?.usage.cost.total ?? 0;
      assert.ok(book.usd() <= limit + reply, `${book.usd()} of ${limit}`);
      assert.ok(book.usd() <= limit * 1.5, `${book.usd()} of ${limit}`);
      const least = Math.min(...model.asked.map((request) => request.maxTokens));
      assert.ok(least >= 256 && least < 4000, `clamped to ${least}`);
    }
  });

  it('keeps an answer that it cut, and ends the run', async () => {
    const model = modelOf((request) =>
      say(START, words('So far'), end(tokens(10, request.maxTokens), 'length')),
    );
    const { end: last, events } = await runQuery({ model, accounts: ledger({ run: 0.02 }) });
    assert.deepEqual([last.outcome, last.text, model.asked.length], ['budget', 'So far', 1]);
    assert.match(last.error?.message ?? '', /^The answer was cut where the budget for this run ended/);
    assert.deepEqual(
      events.filter((event) => event.type === 'recovery'),
      [],
    );
  });

  it('refuses a model of unknown price before the first request, and lets one of one’s own be', async () => {
    const { price: _, ...info } = INFO;
    const unpriced = { ...once(), info };
    const refused = await runQuery({ model: unpriced, accounts: ledger({ day: 5 }) });
    assert.deepEqual(
      [refused.end.outcome, refused.end.error?.code, unpriced.asked.length],
      ['failed', 'budget-unpriced', 0],
    );
    assert.match(refused.end.error?.hint ?? '', /\[models\."scripted\/m"\.price\]/);
    const price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const local = { ...once(), info: { ...info, local: true, price } };
    const free = await runQuery({ model: local, accounts: ledger({ day: 5 }, 5) });
    assert.equal(free.end.outcome, 'done');
  });

  it('warns once when four fifths are gone', async () => {
    const book = ledger({ day: 1 }, 0.85);
    const model = modelOf((_request, number) =>
      number < 3
        ? say(START, ...look(`c${number}`), end(tokens(10, 10), 'toolUse'))
        : say(START, words('x'), end(tokens(10, 10))),
    );
    const { events } = await runQuery({ model, accounts: book, tools: [testTool({ name: 'look' })] });
    const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    assert.deepEqual(notices, ['85 % of the budget for today is spent: $0.8500 of $1.0000.']);
  });

  it('reckons a prompt that is in the cache by the cache’s price', async () => {
    const cached = { input: 0, output: 10, cacheRead: 100_000, cacheWrite: 0 };
    const history = [
      { role: 'user', content: 'q', timestamp: 0 },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'a' }],
        api: 'scripted',
        provider: 'scripted',
        model: 'm',
        usage: usageOf(cached, PRICE),
        stopReason: 'stop',
        timestamp: virtualClock().now(),
      },
    ] as const;
    // 100,000 tokens cost $0.03 from the cache, $0.375 when they are written to it.
    const warm = await runQuery({ model: once(), history, accounts: ledger({ run: 0.1 }) });
    assert.equal(warm.end.outcome, 'done');
    const another = modelOf(() => say(START, words('x'), end(tokens(10, 10))), { id: 'another' });
    const cold = await runQuery({ model: another, history, accounts: ledger({ run: 0.1 }) });
    assert.deepEqual([cold.end.error?.code, another.asked.length], ['budget-exhausted', 0]);
    assert.match(cold.end.error?.message ?? '', /the next request would cost about \$0\.37/);
  });
});

describe('the chain of fallback models', () => {
  const down = (id: string) => modelOf(() => say(failure('provider-overloaded', undefined, 529)), { id });
  const up = (id: string, info: Partial<ModelInfo> = {}) =>
    modelOf(() => say(START, words(`I am ${id}.`), end(tokens(1, 1))), { id, ...info });
  const texts = (events: readonly Event[]) =>
    events.flatMap((event) =>
      event.type === 'recovery'
        ? [`${event.cause} ${event.attempt}/${event.maxAttempts}: ${event.detail}`]
        : event.type === 'notice'
          ? [event.text]
          : [],
    );

  it('is gone down as far as needed, each switch told with its reason', async () => {
    const { end: last, events } = await runQuery({
      model: down('a'),
      fallbacks: { b: () => down('b'), c: () => up('c') },
    });
    assert.equal(last.text, 'I am c.');
    assert.deepEqual(texts(events), [
      'fallbackModel 1/2: It ended with provider-overloaded. Going on with scripted/b.',
      'fallbackModel 2/2: It ended with provider-overloaded. Going on with scripted/c.',
    ]);
  });

  it('ends with the last error when nobody is left', async () => {
    const last = down('b');
    const ran = await runQuery({ model: down('a'), fallbacks: { b: () => last } });
    assert.deepEqual([ran.end.error?.code, last.asked.length], ['provider-overloaded', 1]);
  });

  it('passes over what has no key, no price under a budget, or a provider that keeps failing', async () => {
    const missing = () => {
      throw new CrabError('auth-missing', 'There is no key for b.');
    };
    const { price: _, ...unpriced } = INFO;
    const { end: last, events } = await runQuery({
      model: down('a'),
      accounts: ledger({ day: 5 }),
      fallbacks: {
        b: missing,
        c: () => ({ ...up('c'), info: { ...unpriced, id: 'c' } }),
        d: () => ({ ...up('d'), health: () => 'open' as const }),
        e: () => up('e'),
      },
    });
    assert.equal(last.text, 'I am e.');
    assert.deepEqual(texts(events), [
      'The fallback model b is passed over: There is no key for b.',
      'The fallback model c is passed over: its price is not known, and there is a budget.',
      'The fallback model d is passed over: it failed again and again.',
      'fallbackModel 4/4: It ended with provider-overloaded. Going on with scripted/e.',
    ]);
  });

  it('is taken at once while the first model’s provider keeps failing', async () => {
    const broken = { ...down('a'), health: () => 'open' as const };
    const { end: last, events } = await runQuery({ model: broken, fallbacks: { b: () => up('b') } });
    assert.deepEqual([last.text, broken.asked.length], ['I am b.', 0]);
    assert.deepEqual(texts(events), [
      'fallbackModel 1/1: scripted/a failed again and again. Going on with scripted/b.',
    ]);
  });

  it('keeps the words of an answer that broke off, and asks the next model without them', async () => {
    const cut = modelOf(() => say(START, words('Half an answer'), failure('stream-cut', tokens(5, 5))));
    const other = up('b');
    const { written } = await runQuery({ model: cut, fallbacks: { b: () => other } });
    assert.deepEqual(
      written.map((message) =>
        message.role === 'assistant' ? [message.model, message.stopReason] : message.role,
      ),
      ['user', ['m', 'error'], ['b', 'stop']],
    );
    assert.deepEqual(
      other.asked[0]?.messages.map(({ role }) => role),
      ['user'],
    );
  });
});

describe('a value from a model that answers in a shape', () => {
  function finishing(info: Partial<ModelInfo>, answers: readonly string[]) {
    let value: unknown;
    const output = { name: 'structured_output', schema: { type: 'object' } } as const;
    const accept = (text: string) => {
      if (!text.startsWith('{')) return 'The answer is not valid JSON.';
      value = JSON.parse(text);
      return undefined;
    };
    const model = modelOf(
      (_request, number) => say(START, words(answers[number - 1] ?? ''), end(tokens(1, 1))),
      info,
    );
    const finish = { tool: 'structured_output', value: () => value, native: { output, accept } };
    return { model, finish, output };
  }

  it('is its text, asked for as such, and checked', async () => {
    const { model, finish, output } = finishing({ structured: true }, ['It is 7.', 'seven', '{"n":7}']);
    const book = ledger();
    const { end: last } = await runQuery({ model, finish, accounts: book });
    assert.deepEqual([last.outcome, last.structured], ['done', { n: 7 }]);
    assert.deepEqual(
      model.asked.map((request) => [request.output, request.toolChoice]),
      [
        [undefined, undefined],
        [output, undefined],
        [output, undefined],
      ],
    );
    assert.deepEqual(
      book.lines.map(({ cause }) => cause),
      ['turn', 'structured', 'structured'],
    );
    const said = model.asked[2]?.messages.at(-1);
    assert.match(
      JSON.stringify(said?.content),
      /The answer is not valid JSON\. Give the final answer as JSON/,
    );
  });

  it('is never its text where the model does not know how', async () => {
    const { model, finish } = finishing({}, ['{"n":7}', '{"n":7}', '{"n":7}', '{"n":7}']);
    const { end: last } = await runQuery({ model, finish });
    assert.equal(last.error?.code, 'structured-output');
    assert.deepEqual(
      model.asked.map((request) => request.toolChoice),
      [undefined, 'structured_output', 'structured_output', 'structured_output'],
    );
  });
});

describe('how a request is asked', () => {
  it('is read before each one', async () => {
    const efforts = ['low', 'high'] as const;
    let asked = 0;
    const model = scriptedModel([{ calls: [{ name: 'look', input: {} }] }, { text: 'ok' }]);
    await runQuery({
      model,
      tools: [testTool({ name: 'look' })],
      style: () => ({ effort: efforts[asked++] ?? 'off', fast: asked > 1, conversation: 'S' }),
    });
    assert.deepEqual(
      model.requests.map(({ effort, fast, conversation }) => [effort, fast, conversation]),
      [
        ['low', false, 'S'],
        ['high', true, 'S'],
      ],
    );
  });
});
