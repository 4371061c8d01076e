import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { A_RUN, assistant, ONE_OF_EACH, RUN_START, runEnd } from '../../../test/support/channels/recorded.ts';
import {
  brokenSink,
  type MemorySink,
  memorySink,
  numbered,
  OPEN,
  play,
  type Script,
  scriptedPlatform,
  settled,
  slowSink,
  until,
  virtualClock,
  whenAborted,
} from '../../../test/support/channels/scripted.ts';
import { CrabError } from '../../core/errors.ts';
import type { Event } from '../../core/event.ts';
import type { Platform, Prompt } from '../../core/platform.ts';
import { type PrintOptions, runPrint } from './print.ts';
import { GRACE_MS } from './run.ts';

async function* prompts(...texts: string[]): AsyncIterable<Prompt> {
  for (const text of texts) yield { text };
}

interface Setup extends Partial<Omit<PrintOptions, 'platform'>> {
  readonly platform?: Platform;
  readonly script?: Script;
}

function setup({
  script,
  ...given
}: Setup = {}): PrintOptions & { readonly stdout: MemorySink; readonly stderr: MemorySink } {
  return {
    platform: scriptedPlatform(script ?? play(A_RUN)),
    open: OPEN,
    prompts: prompts('fix it'),
    format: 'text',
    clock: virtualClock(),
    uuid: numbered(),
    signal: new AbortController().signal,
    idleTimeoutMs: 120_000,
    verbose: false,
    includePartial: false,
    replayUser: false,
    stdout: memorySink(),
    stderr: memorySink(),
    ...given,
  } as PrintOptions & { readonly stdout: MemorySink; readonly stderr: MemorySink };
}

/** Runs until aborted, then ends as a run does that was cancelled. */
const untilAborted: Script = async function* (_prompt, signal) {
  yield [RUN_START, ONE_OF_EACH.promptAccepted];
  yield [ONE_OF_EACH.messageStart, { type: 'contentDelta', index: 0, delta: 'So far' }];
  await whenAborted(signal);
  yield [runEnd('cancelled', { text: 'So far' })];
};

function resultOf(sink: MemorySink): Record<string, unknown> {
  return JSON.parse(sink.text().trimEnd().split('\n').at(-1) ?? '');
}

suite('print: text', () => {
  test('a pipe gets the last answer alone, with one line end, in one write', async () => {
    const options = setup();
    assert.equal(await runPrint(options), 0);
    assert.deepEqual(options.stdout.writes, ['All done.\n']);
    assert.equal(options.stderr.text(), '⊘ bash was refused: deny rule Bash(rm *)\n');
  });

  test('a terminal gets each answer as it comes, and what happens between them on standard error', async () => {
    const screen = memorySink({ terminal: true });
    assert.equal(await runPrint(setup({ stdout: screen, stderr: screen })), 0);
    assert.equal(
      screen.text(),
      [
        '↻ rate limited (429), trying again in 3 s, 2 of 5',
        'Hm.',
        'I will look.',
        '● bash $ ls',
        '⊘ bash was refused: deny rule Bash(rm *)',
        '  ✓ bash exit 0, 1 line (1.2 s)',
        'All done.',
        '',
      ].join('\n'),
    );
    assert.ok(
      screen.writes.includes('All '),
      'the first half of the answer is written before the second has come',
    );
  });

  test('thinking is dimmed where colours are wanted', async () => {
    const stderr = memorySink({ terminal: true, colour: true });
    await runPrint(setup({ stderr }));
    assert.ok(stderr.text().includes('\u001b[2mHm.\u001b[22m'));
  });

  test('a pipe gets the text as it is; a terminal gets controls as marks', async () => {
    const text = 'a\u001b[2Jb\n\n\n';
    const run: Event[] = [
      RUN_START,
      ONE_OF_EACH.messageStart,
      { type: 'contentDelta', index: 0, delta: text },
    ];
    const script = play([
      run,
      [{ type: 'messageEnd', message: assistant([{ type: 'text', text }]) }],
      [runEnd('done', { text })],
    ]);
    const pipe = setup({ script });
    const terminal = setup({ script, stdout: memorySink({ terminal: true }) });
    await runPrint(pipe);
    await runPrint(terminal);
    assert.equal(pipe.stdout.text(), 'a\u001b[2Jb\n');
    assert.equal(terminal.stdout.text(), 'a␛[2Jb\n');
  });

  test('a failure is told on standard error with what to do, and is the exit status', async () => {
    const error = {
      code: 'auth-refused',
      message: 'anthropic answered 401: invalid key.',
      hint: 'Check the key.',
    } as const;
    const options = setup({ script: play([[RUN_START], [runEnd('failed', { error })]]) });
    assert.equal(await runPrint(options), 3);
    assert.equal(options.stdout.text(), '');
    assert.equal(
      options.stderr.text(),
      'crab: anthropic answered 401: invalid key. [auth-refused]\nCheck the key.\n',
    );
  });

  test('a session that cannot be opened is an error like any other', async () => {
    const platform: Platform = {
      ...scriptedPlatform(play([])),
      open: () => Promise.reject(new CrabError('session-held', 'Process 7 has it open.')),
    };
    const text = setup({ platform });
    const json = setup({ platform, format: 'json' });
    assert.equal(await runPrint(text), 9);
    assert.equal(await runPrint(json), 9);
    assert.match(text.stderr.text(), /^crab: Process 7 has it open\. \[session-held\]\n/);
    assert.equal(resultOf(json.stdout)['exit_code'], 9);
    assert.equal(json.stderr.text(), text.stderr.text());
  });

  test('the output of a command is its result; its error is told once', async () => {
    const good = setup({ script: play([[RUN_START, ONE_OF_EACH.commandResult, runEnd('command')]]) });
    assert.equal(await runPrint(good), 0);
    assert.equal(good.stdout.text(), 'Commands: …\n');
    const failed = {
      type: 'commandResult',
      name: 'x',
      effect: { kind: 'error', message: 'There is no /x.' },
    } as const;
    const error = {
      code: 'command-failed',
      message: 'There is no /x.',
      hint: 'See the output above.',
    } as const;
    const bad = setup({ script: play([[RUN_START, failed, runEnd('failed', { error })]]) });
    assert.equal(await runPrint(bad), 1);
    assert.equal(bad.stdout.text(), '');
    assert.equal(bad.stderr.text(), '✗ There is no /x.\n');
  });

  test('a shell line prints its output and ends it with one line end', async () => {
    const out = (delta: string): Event => ({ type: 'shellOutput', delta });
    const batches: Event[][] = [
      [RUN_START, ONE_OF_EACH.shellStart],
      [out('a\n')],
      [out('b')],
      [out('\n')],
      [runEnd('command')],
    ];
    const options = setup({ script: play(batches) });
    await runPrint(options);
    assert.equal(options.stdout.text(), 'a\nb\n');
  });

  test('a value that was asked for by schema is printed as JSON', async () => {
    const options = setup({
      script: play([[RUN_START, runEnd('done', { text: 'Here:', structured: { a: [1] } })]]),
    });
    await runPrint(options);
    assert.equal(options.stdout.text(), '{"a":[1]}\n');
  });

  test('notices of the session are told', async () => {
    const options = setup({
      platform: scriptedPlatform(play(A_RUN), { notices: ['A torn line was set aside.'] }),
    });
    await runPrint(options);
    assert.match(options.stderr.text(), /^! A torn line was set aside\.\n/);
  });

  test('a question that comes all the same is answered with no', async () => {
    const platform = scriptedPlatform(play([[RUN_START, ONE_OF_EACH.question], [runEnd('refused')]]));
    assert.equal(await runPrint(setup({ platform })), 7);
    assert.deepEqual(platform.answers, [
      { id: 'q1', answer: { kind: 'permission', allowed: false, feedback: 'Nobody is there to ask.' } },
    ]);
  });
});

suite('print: the bill of a request', () => {
  const isTold = async (more: Setup): Promise<boolean> => {
    const options = setup(more);
    await runPrint(options);
    return /claude-test, turn: 1600 in/.test(options.stderr.text());
  };

  test('is told to those who asked for all of it, and to nobody else', async () => {
    assert.deepEqual(
      [await isTold({ verbose: true }), await isTold({ stderr: memorySink({ terminal: true }) })],
      [true, false],
    );
  });
});

suite('print: JSON', () => {
  test('json is the result as one object', async () => {
    const options = setup({ format: 'json' });
    assert.equal(await runPrint(options), 0);
    assert.equal(options.stdout.writes.length, 1);
    const { type, subtype, is_error, result, exit_code, session_id } = resultOf(options.stdout);
    assert.deepEqual(
      { type, subtype, is_error, result, exit_code, session_id },
      {
        type: 'result',
        subtype: 'success',
        is_error: false,
        result: 'All done.',
        exit_code: 0,
        session_id: '01JSESSION',
      },
    );
  });

  test('stream-json is one write a batch that has lines', async () => {
    const options = setup({ format: 'stream-json' });
    assert.equal(await runPrint(options), 0);
    const types = options.stdout.writes.map((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).type),
    );
    assert.deepEqual(types, [
      ['system'],
      ['system'],
      ['assistant', 'system'],
      ['system'],
      ['user'],
      ['assistant', 'system'],
      ['system', 'result'],
    ]);
    assert.equal(options.stderr.text(), '');
  });

  test('each prompt has its result, and the last failure is the exit status', async () => {
    const ends = [runEnd('turnLimit'), runEnd('budget'), runEnd('done', { text: 'ok' })];
    const platform = scriptedPlatform(async function* () {
      const end = ends.shift();
      if (end) yield [RUN_START, end];
    });
    const options = setup({ platform, format: 'json', prompts: prompts('a', 'b', 'c') });
    assert.equal(await runPrint(options), 5);
    const results = options.stdout
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).subtype);
    assert.deepEqual(results, ['error_max_turns', 'error_max_budget_usd', 'success']);
    assert.deepEqual(platform.prompts, [{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
  });

  test('a prompt that cannot be read ends the input with a result', async () => {
    async function* broken(): AsyncIterable<Prompt> {
      yield { text: 'a' };
      throw new CrabError('input-malformed', 'Line 2 of the input: `type` must be "user".');
    }
    const options = setup({ format: 'json', prompts: broken() });
    assert.equal(await runPrint(options), 42);
    const results = options.stdout
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      results.map((line) => [line.exit_code, line.session_id, line.result]),
      [
        [0, '01JSESSION', 'All done.'],
        [42, '01JSESSION', ''],
      ],
    );
  });

  test('no prompt at all is an error', async () => {
    const options = setup({ prompts: prompts() });
    assert.equal(await runPrint(options), 42);
    assert.match(options.stderr.text(), /^crab: There is no prompt\. \[input-empty\]\n/);
  });

  for (const format of ['text', 'json', 'stream-json'] as const) {
    for (const end of [
      runEnd('done'),
      runEnd('turnLimit'),
      runEnd('refused'),
      runEnd('failed'),
      runEnd('cancelled'),
    ]) {
      test(`${format}: is_error of ${end.outcome} agrees with the exit status`, async () => {
        const options = setup({ format, script: play([[RUN_START, end]]) });
        const code = await runPrint(options);
        if (format === 'text') assert.equal(options.stderr.text() === '', code === 0);
        else assert.equal(resultOf(options.stdout)['is_error'], code !== 0);
      });
    }
  }
});

suite('print: what stops it', () => {
  for (const [code, status] of [
    ['interrupted', 130],
    ['terminated', 143],
  ] as const) {
    test(`${code}: the run is cancelled, the result told, the status ${status}`, async () => {
      const stop = new AbortController();
      const options = setup({ script: untilAborted, format: 'stream-json', signal: stop.signal });
      const exit = runPrint(options);
      await until(() => options.stdout.writes.length > 0, 'the run has begun');
      stop.abort(new CrabError(code, 'Stopped.'));
      assert.equal(await exit, status);
      const { is_error, exit_code, result } = resultOf(options.stdout);
      assert.deepEqual(
        { is_error, exit_code, result },
        { is_error: true, exit_code: status, result: 'So far' },
      );
    });
  }

  test('a signal while the next prompt is awaited ends it as well', async () => {
    const stop = new AbortController();
    async function* hanging(): AsyncIterable<Prompt> {
      await whenAborted(new AbortController().signal);
      yield { text: 'never' };
    }
    const exit = runPrint(setup({ prompts: hanging(), signal: stop.signal }));
    await settled();
    stop.abort(new CrabError('interrupted', 'Interrupted.'));
    assert.equal(await exit, 130);
  });

  test('a provider that is silent for as long as allowed ends the run with 124', async () => {
    const clock = virtualClock();
    const options = setup({ script: untilAborted, clock, format: 'json' });
    const exit = runPrint(options);
    await settled();
    await clock.advance(119_999);
    assert.equal(options.stdout.text(), '');
    await clock.advance(1);
    assert.equal(await exit, 124);
    const { is_error, exit_code, error } = resultOf(options.stdout);
    assert.deepEqual(
      { is_error, exit_code, code: (error as { code: string }).code },
      {
        is_error: true,
        exit_code: 124,
        code: 'idle-timeout',
      },
    );
  });

  test('a tool that runs and a pause that was announced are not silence', async () => {
    const clock = virtualClock();
    const script: Script = async function* (_prompt, signal) {
      yield [RUN_START, ONE_OF_EACH.toolStart];
      await clock.sleep(600_000, signal);
      yield [ONE_OF_EACH.toolResult];
      await clock.sleep(100_000, signal);
      yield [{ ...ONE_OF_EACH.retry, delayMs: 110_000 }];
      await clock.sleep(200_000, signal);
      yield [runEnd('done', { text: 'slow' })];
    };
    const options = setup({ script, clock });
    const exit = runPrint(options);
    await settled();
    for (let minute = 0; minute < 25; minute++) await clock.advance(60_000);
    assert.equal(await exit, 0);
    assert.equal(options.stdout.text(), 'slow\n');
  });

  test('a pause that is longer than the limit ends the run at once, and says how long it would be', async () => {
    const script: Script = async function* (_prompt, signal) {
      yield [RUN_START, { ...ONE_OF_EACH.retry, status: 429, reason: 'Slow down.', delayMs: 3_600_000 }];
      await whenAborted(signal);
      yield [runEnd('cancelled')];
    };
    const options = setup({ script, clock: virtualClock(), format: 'json' });
    assert.equal(await runPrint(options), 4);
    const { error } = resultOf(options.stdout);
    const { code, message } = error as { readonly code: string; readonly message: string };
    assert.equal(code, 'rate-limited');
    assert.equal(message, 'Slow down. The next try would be in 60 min, and --timeout allows 2 min.');
  });

  test('a limit of 0 is no limit', async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const options = setup({ script: untilAborted, clock, idleTimeoutMs: 0, signal: stop.signal });
    const exit = runPrint(options);
    await settled();
    await clock.advance(10_000_000);
    stop.abort(new CrabError('interrupted', 'Interrupted.'));
    assert.equal(await exit, 130);
  });

  test('a platform that throws because it was stopped is a run that was stopped', async () => {
    const stop = new AbortController();
    const script: Script = async function* (_prompt, signal) {
      yield [RUN_START];
      await whenAborted(signal);
      throw new DOMException('This operation was aborted', 'AbortError');
    };
    const options = setup({ script, format: 'json', signal: stop.signal });
    const exit = runPrint(options);
    await settled();
    stop.abort(new CrabError('terminated', 'Told to end.'));
    assert.equal(await exit, 143);
    assert.equal(resultOf(options.stdout)['exit_code'], 143);
  });

  test('what goes wrong behind the end of a run does not give it a second one', async () => {
    const script: Script = async function* () {
      yield [RUN_START, runEnd('done', { text: 'ok' })];
      throw new Error('too late');
    };
    const options = setup({ script, format: 'json' });
    assert.equal(await runPrint(options), 0);
    assert.equal(options.stdout.writes.length, 1);
  });

  test('a run that does not end when told to is left behind', async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const stuck: Script = async function* () {
      yield [RUN_START];
      await whenAborted(new AbortController().signal);
    };
    const options = setup({ script: stuck, clock, signal: stop.signal, format: 'json' });
    const exit = runPrint(options);
    await settled();
    stop.abort(new CrabError('terminated', 'Told to end.'));
    await clock.whenSleeping();
    await clock.advance(GRACE_MS);
    assert.equal(await exit, 143);
    assert.equal(resultOf(options.stdout)['exit_code'], 143);
  });

  test('a reader that goes away cancels the run; nothing is said about it', async () => {
    let cancelled = false;
    const script: Script = async function* (_prompt, signal) {
      yield [RUN_START];
      yield [ONE_OF_EACH.messageEnd];
      cancelled = signal.aborted;
      yield [runEnd('cancelled')];
    };
    const options = setup({ script, format: 'stream-json', stdout: brokenSink(1) });
    assert.equal(await runPrint(options), 1);
    assert.equal(cancelled, true);
    assert.equal(options.stderr.text(), '');
  });

  test('an output that fails for another reason is told, and a finished run is no success then', async () => {
    const options = setup({ stdout: brokenSink(0, 'output-failed') });
    assert.equal(await runPrint(options), 1);
    assert.match(options.stderr.text(), /\[output-failed\]/);
  });

  test('a log that goes nowhere does not cost the result', async () => {
    const options = setup({ stderr: brokenSink(0), verbose: true });
    assert.equal(await runPrint(options), 0);
    assert.equal(options.stdout.text(), 'All done.\n');
  });

  test('a platform that throws, or ends without saying how, is a fault that is told', async () => {
    const throwing: Script = async function* () {
      yield [RUN_START];
      throw new TypeError('x is undefined');
    };
    const silent: Script = async function* () {
      yield [RUN_START];
    };
    for (const script of [throwing, silent]) {
      const options = setup({ script, format: 'json' });
      assert.equal(await runPrint(options), 1);
      assert.equal((resultOf(options.stdout)['error'] as { code: string }).code, 'internal');
    }
  });
});

suite('print: back-pressure', () => {
  const deltas = Array.from(
    { length: 20_000 },
    (_, at): Event => ({ type: 'contentDelta', index: 0, delta: `${at} ` }),
  );
  const text = Array.from({ length: 20_000 }, (_, at) => `${at} `).join('');

  /** Counts the batches that were asked for. */
  function counted(): { readonly script: Script; asked(): number } {
    let asked = 0;
    return {
      asked: () => asked,
      async *script() {
        yield [RUN_START, ONE_OF_EACH.messageStart];
        for (let at = 0; at < deltas.length; at += 50) {
          asked++;
          yield deltas.slice(at, at + 50);
        }
        yield [{ type: 'messageEnd', message: assistant([{ type: 'text', text }]) }];
        yield [runEnd('done', { text })];
      },
    };
  }

  test('20,000 deltas reach a slow terminal in order, one write a batch', async () => {
    const sink = slowSink();
    const stdout = { ...sink, isTerminal: true };
    assert.equal(await runPrint(setup({ script: counted().script, stdout })), 0);
    assert.equal(sink.text(), `${text}\n`);
    assert.equal(sink.overlapped(), false);
    assert.equal(sink.writes.length, 400 + 1);
  });

  test('a slow pipe gets every line whole and in order', async () => {
    const sink = slowSink();
    const options = setup({
      script: counted().script,
      stdout: sink,
      format: 'stream-json',
      includePartial: true,
    });
    assert.equal(await runPrint(options), 0);
    const lines = sink
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const read = lines.map((line) => line.event?.delta?.text ?? '').join('');
    assert.equal(read, text);
    assert.equal(sink.overlapped(), false);
  });

  test('a reader that stalls stops the run from being read: no batch is asked for ahead', async () => {
    const source = counted();
    let release = (): void => {};
    let writes = 0;
    const stalled = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stdout = {
      ...memorySink({ terminal: true }),
      async write() {
        if (++writes === 3) await stalled;
      },
    };
    const clock = virtualClock();
    const exit = runPrint(setup({ script: source.script, stdout, clock }));
    await until(() => writes === 3, 'the third write');
    await settled();
    assert.equal(source.asked(), 3);
    await clock.advance(1_000_000);
    assert.equal(source.asked(), 3, 'and the idle clock does not run meanwhile');
    release();
    assert.equal(await exit, 0);
    assert.equal(source.asked(), 400);
  });
});
