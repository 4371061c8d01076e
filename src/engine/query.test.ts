import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALONE, resultText, runQuery, testTool } from '../../test/support/query.ts';
import { scriptedModel } from '../../test/support/scripted-model.ts';
import { CrabError, ToolFailure } from '../core/errors.ts';
import { MAX_RESULT_BYTES } from '../core/limits.ts';
import { type Message, userMessage } from '../core/message.ts';
import { errorOutput, textOutput } from '../core/tool.ts';
import { NO_USAGE } from '../core/usage.ts';

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const call = (name: string, input: Record<string, unknown> = {}) => ({ name, input });

describe('the loop', () => {
  it('ends with the answer when the model calls nothing', async () => {
    const model = scriptedModel([{ text: ['Hel', 'lo'] }]);
    const { events, written, end } = await runQuery({ model });
    assert.deepEqual(
      events.map((event) => event.type).filter((type) => type !== 'contentBlockStop'),
      [
        'promptAccepted',
        'turnStart',
        'messageStart',
        'contentDelta',
        'contentDelta',
        'requestEnd',
        'messageEnd',
        'contextUsage',
        'runEnd',
      ],
    );
    assert.deepEqual(
      written.map((message) => message.role),
      ['user', 'assistant'],
    );
    assert.deepEqual([end.outcome, end.text, end.turns], ['done', 'Hello', 1]);
  });

  it('feeds results back until nothing is called', async () => {
    const model = scriptedModel([{ calls: [call('look', { at: 1 })] }, { text: 'Seen: {{result}}' }]);
    const { end, results } = await runQuery({ model, tools: [testTool({ name: 'look' })] });
    assert.deepEqual(results.map(resultText), ['look {"at":1}']);
    assert.equal(end.text, 'Seen: look {"at":1}');
    assert.deepEqual(model.violations, []);
  });

  it('stops at the limit of turns, with everything done so far kept', async () => {
    const model = scriptedModel([{ calls: [call('look')], repeat: 9 }]);
    const { end, results } = await runQuery({
      model,
      tools: [testTool({ name: 'look' })],
      limits: { turns: 2 },
    });
    assert.deepEqual([end.outcome, end.turns, end.error?.code], ['turnLimit', 2, 'turn-limit']);
    assert.equal(results.length, 2);
  });
});

describe('calls of one message', () => {
  it('run together when they are safe, and reach history in call order, whoever ends first', async () => {
    const gates = { slow: deferred(), fast: deferred() };
    const order: string[] = [];
    const wait = async (name: 'slow' | 'fast') => {
      await gates[name].promise;
      order.push(name);
      return textOutput(name);
    };
    const model = scriptedModel([{ calls: [call('slow'), call('fast')] }, { text: 'ok' }]);
    const ran = runQuery({
      model,
      tools: [
        testTool({ name: 'slow', run: () => wait('slow') }),
        testTool({ name: 'fast', run: () => wait('fast') }),
      ],
      onEvent: (event) => {
        if (event.type === 'toolStart' && event.name === 'fast') gates.fast.resolve();
        if (event.type === 'toolResult' && event.message.toolName === 'fast') gates.slow.resolve();
      },
    });
    const { events } = await ran;
    assert.deepEqual(order, ['fast', 'slow']);
    const shown = events.flatMap((event) => (event.type === 'toolResult' ? [event.message.toolName] : []));
    assert.deepEqual(shown, ['fast', 'slow']);
    const sent = model.requests[1]?.messages.filter((message) => message.role === 'toolResult');
    assert.deepEqual(
      sent?.map((message) => message.toolName),
      ['slow', 'fast'],
    );
  });

  it('run ten at once at most', async () => {
    let running = 0;
    let most = 0;
    const tool = testTool({
      name: 'look',
      run: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return textOutput('x');
      },
    });
    const model = scriptedModel([{ calls: Array.from({ length: 25 }, (_, at) => call('look', { at })) }, {}]);
    await runQuery({ model, tools: [tool] });
    assert.equal(most, 10);
  });

  it('start while the message streams when they are safe and allowed', async () => {
    const order: string[] = [];
    const model = scriptedModel([{ calls: [call('look'), call('write')], delayMs: 2 }, { text: 'ok' }]);
    await runQuery({
      model,
      tools: [testTool({ name: 'look' }), testTool({ name: 'write', plan: ALONE })],
      onEvent: (event) => {
        if (event.type === 'toolStart') order.push(`start ${event.name}`);
        if (event.type === 'messageEnd') order.push('messageEnd');
        if (event.type === 'toolResult') order.push(`result ${event.message.toolName}`);
      },
    });
    assert.deepEqual(order.slice(0, 5), [
      'start look',
      'messageEnd',
      'result look',
      'start write',
      'result write',
    ]);
  });

  it('never start behind one that is not safe: a read after a write sees the write', async () => {
    const order: string[] = [];
    const tools = ['write', 'look'].map((name) =>
      testTool({
        name,
        ...(name === 'write' && { plan: ALONE }),
        run: () => {
          order.push(name);
          return textOutput(name);
        },
      }),
    );
    await runQuery({ model: scriptedModel([{ calls: [call('write'), call('look')] }, {}]), tools });
    assert.deepEqual(order, ['write', 'look']);
  });

  it('that are not safe to repeat wait until their message is durable', async () => {
    const durable = deferred();
    let ranBefore = true;
    const tool = testTool({
      name: 'write',
      plan: ALONE,
      run: () => {
        ranBefore = !isDurable;
        return textOutput('x');
      },
    });
    let isDurable = false;
    await runQuery({
      model: scriptedModel([{ calls: [call('write')] }, {}]),
      tools: [tool],
      synced: async (message) => {
        if (message.role !== 'assistant') return;
        setImmediate(() => {
          isDurable = true;
          durable.resolve();
        });
        await durable.promise;
      },
    });
    assert.equal(ranBefore, false);
  });

  it('skip what follows a failed command, and say so', async () => {
    const tools = [
      testTool({ name: 'bash', plan: ALONE, run: () => errorOutput('exit 1') }),
      testTool({ name: 'write', plan: { ...ALONE, access: { kind: 'write', paths: ['/w/a'] } } }),
      testTool({ name: 'look' }),
    ];
    const model = scriptedModel([{ calls: [call('bash'), call('write'), call('look')] }, {}]);
    const { results } = await runQuery({ model, tools });
    assert.deepEqual(results.map(resultText), [
      'exit 1',
      'Not run: an earlier command of this message failed.',
      'look {}',
    ]);
  });
});

describe('a call', () => {
  const strict = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
  const cases = [
    ['of an unknown tool names the known ones', call('nope'), 'Tool not found: nope. The tools are: look.'],
    ['with missing arguments says which', call('look'), 'The arguments do not fit look: /n is required.'],
    ['with a number in quotes is understood', call('look', { n: '7' }), 'look {"n":7}'],
  ] as const;
  for (const [what, scripted, expected] of cases)
    it(what, async () => {
      const model = scriptedModel([{ calls: [scripted] }, {}]);
      const { results } = await runQuery({ model, tools: [testTool({ name: 'look', input: strict })] });
      assert.deepEqual(results.map(resultText), [expected]);
      assert.deepEqual(model.violations, []);
    });

  it('whose arguments are not JSON is answered and never run', async () => {
    let ran = 0;
    const tool = testTool({
      name: 'look',
      run: () => {
        ran++;
        return textOutput('x');
      },
    });
    const model = scriptedModel([{ calls: [call('look')], fault: { badJson: true } }, {}]);
    const { results } = await runQuery({ model, tools: [tool] });
    assert.match(resultText(results[0]), /^The arguments are not valid JSON/);
    assert.equal(ran, 0);
    assert.deepEqual(model.violations, []);
  });

  it('whose arguments are nested beyond measure is answered and never run', async () => {
    const deep = { name: 'look', input: {}, depth: 10_000 };
    const model = scriptedModel([{ calls: [deep] }, { text: 'I see.' }]);
    const run = () => assert.fail('it ran');
    const { results, end } = await runQuery({ model, tools: [testTool({ name: 'look', run })] });
    assert.equal(resultText(results[0]), 'The arguments are nested more than 64 levels deep.');
    assert.deepEqual([end.outcome, end.text], ['done', 'I see.']);
  });

  it('of a tool whose name no provider allows does not spoil the history', async () => {
    const names = ['no tool', 'größer', '', 'x'.repeat(300)];
    const model = scriptedModel([{ calls: names.map((name) => call(name)) }, { text: 'I see.' }]);
    const { results, end } = await runQuery({ model });
    assert.deepEqual(
      results.map(({ toolName, isError }) => [toolName, isError]),
      [
        ['no_tool', true],
        ['gr__er', true],
        ['unnamed', true],
        ['x'.repeat(64), true],
      ],
    );
    assert.deepEqual([end.outcome, model.violations], ['done', []]);
  });

  it('that throws becomes an error result, and the others are kept', async () => {
    const tools = [
      testTool({ name: 'bad', run: () => Promise.reject(new Error('broken pipe')) }),
      testTool({ name: 'wrong', run: () => Promise.reject(new ToolFailure('There is no such file.')) }),
      testTool({ name: 'look' }),
    ];
    const model = scriptedModel([{ calls: [call('bad'), call('wrong'), call('look')] }, {}]);
    const { results } = await runQuery({ model, tools });
    const byName = Object.fromEntries(
      results.map((result) => [result.toolName, [resultText(result), result.isError]]),
    );
    assert.deepEqual(byName, {
      bad: ['bad failed: broken pipe', true],
      wrong: ['There is no such file.', true],
      look: ['look {}', false],
    });
  });

  it('with too much output is cut, and says where the rest is (law 5)', async () => {
    const tool = testTool({ name: 'look', run: () => textOutput('ä'.repeat(MAX_RESULT_BYTES)) });
    const model = scriptedModel([{ calls: [call('look')] }, {}]);
    const { results } = await runQuery({ model, tools: [tool] });
    const text = resultText(results[0]);
    assert.ok(Buffer.byteLength(text) <= MAX_RESULT_BYTES);
    assert.match(text, /\n\[\d+ bytes left out here; the whole output is in \/spill\/\S+\]\nä/);
    assert.deepEqual(model.violations, []);
  });

  it('passes the points before and after it', async () => {
    const extension = {
      name: 'points',
      beforeCall: async ({ input }: { input: Readonly<Record<string, unknown>> }) =>
        input.secret === true ? ({ block: true, reason: 'No secrets.' } as const) : undefined,
      afterCall: async () => textOutput('replaced'),
    };
    const model = scriptedModel([{ calls: [call('look', { secret: true }), call('look')] }, {}]);
    const { results } = await runQuery({
      model,
      tools: [testTool({ name: 'look' })],
      extensions: [extension],
    });
    assert.deepEqual(results.map(resultText).sort(), ['No secrets.', 'replaced']);
  });
});

describe('permission', () => {
  const ask = { decision: 'ask', reason: 'It writes.' } as const;
  const tools = [testTool({ name: 'write', plan: ALONE })];

  it('is refused with the reason where nobody can be asked, and the run ends as refused', async () => {
    const { end, results, events } = await runQuery({
      model: scriptedModel([{ calls: [call('write')] }, { text: 'I may not.' }]),
      tools,
      gate: () => ask,
    });
    assert.deepEqual(results.map(resultText), ['It writes. Nobody can be asked here, so it is refused.']);
    assert.deepEqual(
      [end.outcome, end.error?.code, end.text],
      ['refused', 'permission-refused', 'I may not.'],
    );
    assert.deepEqual(
      end.denials.map(({ tool }) => tool),
      ['write'],
    );
    assert.equal(
      events.some((event) => event.type === 'toolStart'),
      false,
    );
  });

  it('that was refused and then done another way is a success that lists the refusal', async () => {
    const { end } = await runQuery({
      model: scriptedModel([{ calls: [call('write')] }, { calls: [call('look')] }, { text: 'Done.' }]),
      tools: [...tools, testTool({ name: 'look' })],
      gate: ({ tool }) => (tool === 'write' ? ask : { decision: 'allow', reason: '' }),
    });
    assert.deepEqual([end.outcome, end.denials.length], ['done', 1]);
  });

  it('that a person refuses tells the model why', async () => {
    const { results } = await runQuery({
      model: scriptedModel([{ calls: [call('write')] }, {}]),
      tools,
      gate: () => ask,
      answer: () => ({ kind: 'permission', allowed: false, feedback: 'use the other file' }),
    });
    assert.deepEqual(results.map(resultText), ['The user refused it: use the other file']);
  });

  it('that a person grants lets it run', async () => {
    const { results } = await runQuery({
      model: scriptedModel([{ calls: [call('write')] }, {}]),
      tools,
      gate: () => ask,
      answer: () => ({ kind: 'permission', allowed: true }),
    });
    assert.deepEqual(results.map(resultText), ['write {}']);
  });
});

describe('recovery', () => {
  const overflow = { fault: { status: 400, body: { error: { message: 'prompt is too long' } } } };

  it('leaves the oldest messages out of a request that is too long, and keeps them in history', async () => {
    const history: Message[] = Array.from({ length: 8 }, (_, at) => [
      userMessage(`question ${at}`, at),
      {
        role: 'assistant' as const,
        content: [{ type: 'text' as const, text: `answer ${at}` }],
        ...{
          api: 'x',
          provider: 'x',
          model: 'x',
          usage: NO_USAGE,
          stopReason: 'stop' as const,
          timestamp: at,
        },
      },
    ]).flat();
    let requests = 0;
    const inner = scriptedModel([], { info: { id: 'm' } });
    const model = {
      info: inner.info,
      stream: (request: Parameters<typeof inner.stream>[0], signal: AbortSignal) => {
        requests++;
        if (request.messages.length > 9) return failing();
        return inner.stream(request, signal);
      },
    };
    async function* failing() {
      yield [{ type: 'failure', error: new CrabError('context-overflow', 'too long') } as const];
    }
    const { end, events, written } = await runQuery({ model, history });
    assert.equal(end.outcome, 'done');
    assert.equal(requests, 3);
    assert.deepEqual(
      written.map((message) => message.role),
      ['user', 'assistant'],
    );
    assert.equal(events.filter((event) => event.type === 'recovery').length, 2);
    assert.deepEqual(inner.violations, []);
  });

  it('gives up on a prompt that cannot be shortened', async () => {
    const model = scriptedModel([overflow]);
    const { end } = await runQuery({ model });
    assert.equal(end.outcome, 'failed');
  });

  it('asks again with more room when an answer is cut at its limit, three times at most', async () => {
    const model = scriptedModel([{ text: 'half of it', stop: 'length' }], { info: { maxOutput: 1_000_000 } });
    const { end, written, events } = await runQuery({ model, limits: { maxTokens: 100 } });
    assert.deepEqual(
      model.requests.map((request) => request.maxTokens),
      [100, 200, 400, 800],
    );
    assert.deepEqual([end.outcome, end.error?.code, end.text], ['failed', 'output-limit', 'half of it']);
    assert.deepEqual(
      written.map((message) => message.role),
      ['user', 'assistant'],
    );
    assert.equal(events.filter((event) => event.type === 'recovery').length, 3);
  });

  it('goes to the fallback model once, and says so', async () => {
    const model = scriptedModel([{ fault: { status: 529 } }]);
    const fallback = scriptedModel([{ text: 'from the other' }], { info: { id: 'other' } });
    const { end, events } = await runQuery({ model, fallbacks: { other: () => fallback } });
    assert.deepEqual([end.outcome, end.text], ['done', 'from the other']);
    const recovery = events.find((event) => event.type === 'recovery');
    assert.match(recovery?.type === 'recovery' ? recovery.detail : '', /Going on with scripted\/other\.$/);
  });

  it('keeps the words of an answer that was cut, and none of its calls', async () => {
    const model = scriptedModel([{ text: 'Half an', calls: [call('look')], fault: { cutAfter: 'call' } }]);
    const { end, written } = await runQuery({ model, tools: [testTool({ name: 'look' })] });
    assert.deepEqual([end.outcome, end.error?.code], ['failed', 'stream-cut']);
    const kept = written.at(-1);
    assert.deepEqual(kept?.role === 'assistant' && [kept.stopReason, kept.content], [
      'error',
      [{ type: 'text', text: 'Half an' }],
    ]);
  });

  it('sends the model back to work when a stop is refused, three times at most', async () => {
    const extension = { name: 'stubborn', beforeStop: async () => ({ retry: 'The tests still fail.' }) };
    const model = scriptedModel([{ text: 'Done.', repeat: 9 }]);
    const { end } = await runQuery({ model, extensions: [extension] });
    assert.deepEqual([end.outcome, end.turns], ['done', 4]);
    assert.deepEqual(model.violations, []);
  });
});

describe('cancelling', () => {
  it('ends a running tool, answers every call and leaves a valid history', async () => {
    const stop = new AbortController();
    const tool = testTool({
      name: 'wait',
      plan: ALONE,
      run: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
    });
    const model = scriptedModel([{ calls: [call('wait'), call('wait')] }, {}]);
    const { end, results } = await runQuery({
      model,
      tools: [tool],
      signal: stop.signal,
      onEvent: (event) => event.type === 'toolStart' && stop.abort(new Error('Enough.')),
    });
    assert.equal(end.outcome, 'cancelled');
    assert.deepEqual(results.map(resultText), [
      'The call was interrupted.',
      'Not run: the run was cancelled.',
    ]);
  });

  it('keeps what the model had said', async () => {
    const stop = new AbortController();
    const model = scriptedModel([{ text: ['One ', 'two ', 'three'], delayMs: 1 }]);
    const { end, written } = await runQuery({
      model,
      signal: stop.signal,
      onEvent: (event) => event.type === 'contentDelta' && stop.abort(new Error('Enough.')),
    });
    assert.equal(end.outcome, 'cancelled');
    const kept = written.at(-1);
    assert.equal(kept?.role === 'assistant' && kept.stopReason, 'aborted');
  });
});

describe('durability', () => {
  it('acknowledges nothing before it is durable', async () => {
    const durable = new Set<Message>();
    const early: string[] = [];
    await runQuery({
      model: scriptedModel([{ calls: [call('look')] }, { text: 'ok' }]),
      tools: [testTool({ name: 'look' })],
      synced: async (message) => {
        await new Promise((resolve) => setImmediate(resolve));
        durable.add(message);
      },
      onEvent: (event) => {
        const acknowledges =
          event.type === 'promptAccepted' || event.type === 'messageEnd' || event.type === 'toolResult';
        if (acknowledges && !durable.has(event.message)) early.push(event.type);
      },
    });
    assert.deepEqual(early, []);
  });

  it('ends the run as failed when the disk gives way', async () => {
    const lost = new CrabError('storage-full', 'The disk is full.');
    const { end, events } = await runQuery({
      model: scriptedModel([{ text: 'ok' }]),
      synced: async (message) => {
        if (message.role === 'assistant') throw lost;
      },
    });
    assert.deepEqual([end.outcome, end.error?.code], ['failed', 'storage-full']);
    assert.equal(
      events.some((event) => event.type === 'messageEnd'),
      false,
    );
  });
});

describe('a run that must end with a value', () => {
  it('sends the model back until it calls the tool', async () => {
    let value: unknown;
    const tool = testTool({
      name: 'structured_output',
      plan: { parallel: false },
      run: (input) => {
        value = input;
        return textOutput('ok');
      },
    });
    const model = scriptedModel([{ text: 'It is 7.' }, { calls: [call('structured_output', { n: 7 })] }]);
    const { end } = await runQuery({ model, tools: [tool], finish: { tool: tool.name, value: () => value } });
    assert.deepEqual([end.outcome, end.structured], ['done', { n: 7 }]);
    assert.equal(model.requests[1]?.toolChoice, 'structured_output');
    assert.deepEqual(model.violations, []);
  });
});
