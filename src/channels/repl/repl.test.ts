import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { A_RUN, ONE_OF_EACH, RUN_START, runEnd } from '../../../test/support/channels/recorded.ts';
import {
  brokenSink,
  memorySink,
  OPEN,
  play,
  type Script,
  scriptedPlatform,
  settled,
  until,
  virtualClock,
  whenAborted,
} from '../../../test/support/channels/scripted.ts';
import { CrabError } from '../../core/errors.ts';
import type { Event } from '../../core/event.ts';
import type { OpenReply } from '../../core/platform.ts';
import type { Question } from '../../core/question.ts';
import type { Lines } from './lines.ts';
import { REPL_COMMANDS, type ReplOptions, runRepl } from './repl.ts';

/** A keyboard: lines are typed one by one; what was asked and given back is remembered. */
function keyboard(): Lines & {
  type(line: string | undefined): void;
  readonly prompts: string[];
  readonly given: string[];
} {
  const typed: (string | undefined)[] = [];
  const prompts: string[] = [];
  const given: string[] = [];
  let wake: ((line: string | undefined) => void) | undefined;
  return {
    prompts,
    given,
    type(line) {
      if (wake === undefined) typed.push(line);
      else {
        const give = wake;
        wake = undefined;
        give(line);
      }
    },
    read() {
      if (typed.length > 0) return Promise.resolve(typed.shift());
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    prompt(text) {
      prompts.push(text);
    },
    prefill(text) {
      given.push(text);
    },
  };
}

interface Setup {
  readonly script?: Script;
  readonly interactive?: boolean;
  readonly reply?: Partial<OpenReply>;
}

function setup({ script = play(A_RUN), interactive = true, reply }: Setup = {}) {
  const platform = scriptedPlatform(script, reply);
  const keys = keyboard();
  const stdout = memorySink({ terminal: interactive });
  const stderr = memorySink();
  const clock = virtualClock();
  const stop = new AbortController();
  let press = (): void => {};
  const options: ReplOptions = {
    platform,
    open: OPEN,
    model: 'anthropic/claude-test',
    lines: keys,
    isInteractive: interactive,
    stdout,
    stderr,
    clock,
    onInterrupt(listener) {
      press = listener;
      return () => {};
    },
    signal: stop.signal,
  };
  return { platform, keys, stdout, stderr, clock, stop, options, press: () => press() };
}

const untilAborted: Script = async function* (_prompt, signal) {
  yield [RUN_START, ONE_OF_EACH.promptAccepted, ONE_OF_EACH.messageStart];
  await whenAborted(signal);
  yield [runEnd('cancelled')];
};

/** Asks, and goes on once the question is answered. */
function asking(platform: () => { readonly answers: readonly unknown[] }): Script {
  return async function* () {
    yield [RUN_START, ONE_OF_EACH.question];
    await until(() => platform().answers.length > 0, 'an answer');
    yield [ONE_OF_EACH.questionAnswered, runEnd('done')];
  };
}

suite('REPL', () => {
  test('greets, runs a prompt, says how to come back', async () => {
    const { options, keys, stdout, platform } = setup();
    keys.type('fix it');
    const exit = runRepl(options);
    await until(() => stdout.text().includes('All done.'), 'the answer');
    await settled();
    keys.type(undefined);
    assert.equal(await exit, 0);
    assert.deepEqual(platform.prompts, [{ text: 'fix it' }]);
    assert.equal(
      stdout.text(),
      [
        'crab  anthropic/claude-test  /work/project',
        'session 01JSESSION, mode default; ,help for commands, Ctrl-D to leave',
        '↻ rate limited (429), trying again in 3 s, 2 of 5',
        'Hm.',
        'I will look.',
        '● bash $ ls',
        '⊘ bash was refused: deny rule Bash(rm *)',
        '  ✓ bash exit 0, 1 line (1.2 s)',
        'All done.',
        'Go on with: crab --resume 01JSESSION',
        '',
      ].join('\n'),
    );
    assert.deepEqual(platform.opened[0]?.commands, REPL_COMMANDS);
  });

  test('a pipe gets neither prompts nor greeting, and the status of the last failure', async () => {
    const ends = [runEnd('turnLimit'), runEnd('done')];
    const script: Script = async function* () {
      const end = ends.shift();
      if (end) yield [RUN_START, end];
    };
    const { options, keys, stdout, platform } = setup({ script, interactive: false });
    keys.type('a');
    keys.type('b');
    keys.type(undefined);
    assert.equal(await runRepl(options), 53);
    assert.deepEqual(platform.prompts, [{ text: 'a' }, { text: 'b' }]);
    assert.equal(stdout.text(), '! Stopped after 1 turn, as many as were allowed.\n');
    assert.ok(keys.prompts.every((prompt) => prompt === ''));
  });

  test('a session that cannot be opened is told', async () => {
    const { options, stderr } = setup();
    const open = () => Promise.reject(new CrabError('session-held', 'Process 7 has it open.'));
    assert.equal(await runRepl({ ...options, platform: { ...options.platform, open } }), 9);
    assert.match(stderr.text(), /^crab: Process 7 has it open\. \[session-held\]/);
  });

  test('a screen that is gone ends it quietly, and cancels what runs', async () => {
    const { options, keys, stderr } = setup({ script: untilAborted, interactive: false });
    keys.type('go');
    const stdout = brokenSink(0);
    const script: Script = async function* (_prompt, signal) {
      yield [RUN_START, ONE_OF_EACH.notice];
      await whenAborted(signal);
      yield [runEnd('cancelled')];
    };
    const platform = scriptedPlatform(script);
    assert.equal(await runRepl({ ...options, platform, stdout }), 1);
    assert.equal(stderr.text(), '');
  });

  test('commands of the channel leave, after their run has ended', async () => {
    const quit: Event = {
      type: 'commandResult',
      name: 'quit',
      effect: { kind: 'channel', name: 'quit', args: '' },
    };
    const { options, keys } = setup({ script: play([[RUN_START, quit], [runEnd('command')]]) });
    keys.type('/quit');
    assert.equal(await runRepl(options), 0);
  });

  test('a new session is the one to come back to', async () => {
    const fresh: Event = {
      type: 'commandResult',
      name: 'new',
      effect: { kind: 'session', session: '01JNEW', text: 'A new session.' },
    };
    const { options, keys, stdout } = setup({
      script: play([[RUN_START, ONE_OF_EACH.promptAccepted, fresh, runEnd('command')]]),
    });
    keys.type('/new');
    const exit = runRepl(options);
    await until(() => stdout.text().includes('A new session.'), 'the new session');
    await settled();
    keys.type(undefined);
    await exit;
    assert.match(stdout.text(), /A new session\.\nGo on with: crab --resume 01JNEW\n$/);
  });

  test('a turn that stopped at its limit can go on with Enter', async () => {
    const ends = [runEnd('turnLimit', { turns: 5 }), runEnd('done')];
    const script: Script = async function* () {
      const end = ends.shift();
      if (end) yield [RUN_START, end];
    };
    const { options, keys, stdout, platform } = setup({ script });
    keys.type('');
    keys.type('work');
    const exit = runRepl(options);
    await until(() => stdout.text().includes('Enter goes on'), 'the offer');
    await settled();
    keys.type('');
    await until(() => platform.prompts.length === 2, 'the next turn');
    await settled();
    keys.type('');
    keys.type(undefined);
    assert.equal(await exit, 0);
    assert.ok(stdout.text().includes('Stopped after 5 turns'));
    assert.deepEqual(platform.prompts, [{ text: 'work' }, { text: 'Go on.' }]);
  });

  test('prompts of several lines: backslash and paste', async () => {
    const { options, keys, platform } = setup({
      script: play([[RUN_START, runEnd('done')]]),
      interactive: false,
    });
    for (const line of ['one\\', 'two\\\\', '\u001b[200~a', '', 'b\u001b[201~', 'last\\']) keys.type(line);
    keys.type(undefined);
    await runRepl(options);
    assert.deepEqual(platform.prompts, [{ text: 'one\ntwo\\\\' }, { text: 'a\n\nb' }, { text: 'last' }]);
  });

  test('what is typed while a turn runs is queued and shown; Ctrl-C cancels the turn and gives it back', async () => {
    const { options, keys, stdout, press, platform } = setup({ script: untilAborted });
    keys.type('first');
    const exit = runRepl(options);
    await until(() => platform.prompts.length === 1, 'the turn runs');
    keys.type('second');
    await until(() => stdout.text().includes('queued (1): second'), 'it is shown');
    keys.type('third');
    await until(() => stdout.text().includes('queued (2): third'), 'it is shown');
    press();
    await until(
      () => stdout.text().includes('Interrupted; what came so far is kept.'),
      'the turn is cancelled',
    );
    assert.deepEqual(keys.given, ['second\nthird']);
    keys.type(undefined);
    assert.equal(await exit, 0);
    assert.deepEqual(platform.prompts, [{ text: 'first' }]);
  });

  test('queued prompts follow, one after another', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const script: Script = async function* () {
      yield [RUN_START];
      await gate;
      yield [runEnd('done')];
    };
    const { options, keys, platform } = setup({ script });
    for (const line of ['a', 'b', 'c']) keys.type(line);
    const exit = runRepl(options);
    await settled();
    assert.equal(platform.prompts.length, 1);
    release();
    await until(() => platform.prompts.length === 3, 'all have run');
    keys.type(undefined);
    await exit;
    assert.deepEqual(platform.prompts, [{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
  });

  test('Ctrl-C twice leaves: at an empty prompt, and within two seconds in a turn that does not end', async () => {
    const idle = setup();
    const left = runRepl(idle.options);
    await settled();
    idle.press();
    await until(() => idle.stdout.text().includes('Ctrl-C again leaves.'), 'the hint');
    idle.press();
    assert.equal(await left, 0);

    const stuck: Script = async function* () {
      yield [RUN_START];
      await whenAborted(new AbortController().signal);
    };
    const busy = setup({ script: stuck });
    busy.keys.type('go');
    const away = runRepl(busy.options);
    await until(() => busy.platform.prompts.length === 1, 'the turn runs');
    busy.press();
    await busy.clock.advance(1_999);
    busy.press();
    assert.equal(await away, 0);
  });

  test('Ctrl-C stops what others make the conversation do, and then it leaves', async () => {
    const stopped: unknown[] = [];
    const all = setup();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const left = runRepl({
      ...all.options,
      async *follow(_, signal) {
        yield [RUN_START, ONE_OF_EACH.question];
        await over;
        yield [runEnd('cancelled')];
        await whenAborted(signal);
      },
      async stopOthers(address) {
        stopped.push(address);
        end();
      },
    });
    await until(() => all.keys.prompts.some((prompt) => prompt.startsWith('Allow bash?')), 'it is asked');
    all.press();
    await until(() => all.keys.prompts.at(-1) === '› ', 'it has ended');
    assert.deepEqual(stopped, [{ agent: 'crab', sender: 'cli:01J' }]);
    assert.ok(!all.stdout.text().includes('again leaves'));
    await all.clock.advance(2_001);
    all.press();
    await until(() => all.stdout.text().includes('Ctrl-C again leaves.'), 'the hint');
    all.press();
    assert.equal(await left, 0);
  });

  test('a pipe leaves the questions of a conversation that it shares to those who can answer', async () => {
    const all = setup({ interactive: false });
    const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
    const left = runRepl({
      ...all.options,
      async *follow() {
        yield [RUN_START, ONE_OF_EACH.question];
        yield [runEnd('done')];
        hear();
      },
    });
    await heard;
    all.keys.type(undefined);
    assert.equal(await left, 0);
    assert.deepEqual(all.platform.answers, []);
  });

  test('Ctrl-C ends the REPL of a pipe with 130', async () => {
    for (const line of ['go', undefined]) {
      const { options, keys, press, platform } = setup({ script: untilAborted, interactive: false });
      if (line !== undefined) keys.type(line);
      const exit = runRepl(options);
      await until(
        () => keys.prompts.length > 0 && (line === undefined || platform.prompts.length === 1),
        'it waits',
      );
      await settled();
      press();
      assert.equal(await exit, 130);
    }
  });

  test('two Ctrl-C far apart cancel twice', async () => {
    const { options, keys, press, platform, clock } = setup({ script: untilAborted });
    keys.type('a');
    const exit = runRepl(options);
    await until(() => platform.prompts.length === 1, 'the turn runs');
    press();
    await settled();
    await clock.advance(2_001);
    keys.type('b');
    await until(() => platform.prompts.length === 2, 'the next turn runs');
    press();
    await settled();
    keys.type(undefined);
    assert.equal(await exit, 0);
  });

  test('in a turn that does not end, a late second Ctrl-C does not leave and a quick third does', async () => {
    const stuck: Script = async function* () {
      yield [RUN_START];
      await whenAborted(new AbortController().signal);
    };
    const { options, keys, press, platform, clock } = setup({ script: stuck });
    keys.type('go');
    let code: number | undefined;
    const exit = runRepl(options).then((status) => {
      code = status;
    });
    await until(() => platform.prompts.length === 1, 'the turn runs');
    press();
    await clock.advance(2_001);
    press();
    await settled();
    assert.equal(code, undefined);
    press();
    await exit;
    assert.equal(code, 0);
  });

  test('Ctrl-D in a turn cancels it, hears it out and leaves', async () => {
    const { options, keys, stdout, platform } = setup({ script: untilAborted });
    keys.type('go');
    const exit = runRepl(options);
    await until(() => platform.prompts.length === 1, 'the turn runs');
    keys.type('queued');
    keys.type(undefined);
    assert.equal(await exit, 0);
    assert.match(
      stdout.text(),
      /Interrupted; what came so far is kept\.\nGo on with: crab --resume 01JSESSION\n$/,
    );
    assert.deepEqual(platform.prompts, [{ text: 'go' }]);
  });

  test('a turn that ends with the daemon says so', async () => {
    const { options, keys, stdout } = setup({
      script: async function* () {
        yield [RUN_START, ONE_OF_EACH.promptAccepted];
        yield [runEnd('cancelled', { error: new CrabError('terminated', 'The daemon was stopped.') })];
      },
    });
    keys.type('go');
    keys.type(undefined);
    assert.equal(await runRepl(options), 0);
    assert.match(stdout.text(), /\nThe daemon was stopped; what came so far is kept\.\n/);
  });

  test('SIGTERM ends it with 143', async () => {
    const { options, keys, stop, platform } = setup({ script: untilAborted });
    keys.type('go');
    const exit = runRepl(options);
    await until(() => platform.prompts.length === 1, 'the turn runs');
    stop.abort(new CrabError('terminated', 'Told to end.'));
    assert.equal(await exit, 143);
  });

  test('long waits are told with their reason and age', async () => {
    const script: Script = async function* (_prompt, signal) {
      yield [RUN_START];
      await clock.sleep(15_000, signal);
      yield [ONE_OF_EACH.toolStart];
      await clock.sleep(100_000, signal);
      yield [ONE_OF_EACH.toolResult, runEnd('done')];
    };
    const { options, keys, stdout, clock } = setup({ script });
    keys.type('go');
    const exit = runRepl(options);
    await settled();
    for (let second = 0; second < 120; second++) await clock.advance(1_000);
    keys.type(undefined);
    await exit;
    const waits = stdout
      .text()
      .split('\n')
      .filter((line) => line.startsWith('… '));
    assert.deepEqual(waits, [
      '… waiting for the model, 10 s',
      '… running bash, 10 s',
      '… running bash, 30 s',
      '… running bash, 1 min',
    ]);
  });
});

suite('REPL: questions', () => {
  for (const [line, answer] of [
    ['y', { kind: 'permission', allowed: true }],
    ['YES', { kind: 'permission', allowed: true }],
    ['a', { kind: 'permission', allowed: true, remember: 'session' }],
    ['P', { kind: 'permission', allowed: true, remember: 'always' }],
    ['n', { kind: 'permission', allowed: false }],
    ['n use rg instead', { kind: 'permission', allowed: false, feedback: 'use rg instead' }],
    ['No, too slow', { kind: 'permission', allowed: false, feedback: 'too slow' }],
  ] as const) {
    test(`"${line}" answers`, async () => {
      const all: ReturnType<typeof setup> = setup({ script: asking(() => all.platform) });
      all.keys.type('go');
      const exit = runRepl(all.options);
      await until(() => all.keys.prompts.some((prompt) => prompt.startsWith('Allow bash?')), 'it is asked');
      all.keys.type(line);
      await until(() => all.platform.answers.length === 1, 'it is answered');
      all.keys.type(undefined);
      await exit;
      assert.deepEqual(all.platform.answers, [{ id: 'q1', answer }]);
      assert.ok(all.stdout.text().includes('? bash wants to run:\n  ls\n  in /work/project\n'));
    });
  }

  test('nothing but the exact words allows anything', async () => {
    const all: ReturnType<typeof setup> = setup({ script: asking(() => all.platform) });
    all.keys.type('go');
    const exit = runRepl(all.options);
    await until(() => all.keys.prompts.some((prompt) => prompt.startsWith('Allow bash?')), 'it is asked');
    for (const line of ['', 'yes please also do this', 'yy', 'nope', 'ok', '1']) all.keys.type(line);
    await settled();
    assert.deepEqual(all.platform.answers, []);
    all.keys.type('n');
    await until(() => all.platform.answers.length === 1, 'it is answered');
    all.keys.type(undefined);
    await exit;
    assert.deepEqual(all.platform.answers, [{ id: 'q1', answer: { kind: 'permission', allowed: false } }]);
  });

  test('a line of a paste is no answer', async () => {
    const all: ReturnType<typeof setup> = setup({ script: asking(() => all.platform) });
    all.keys.type('go');
    const exit = runRepl(all.options);
    await until(() => all.keys.prompts.some((prompt) => prompt.startsWith('Allow bash?')), 'it is asked');
    for (const line of ['\u001b[200~notes', 'y', 'end\u001b[201~']) all.keys.type(line);
    await until(() => all.stdout.text().includes('queued (1): notes ⏎ y ⏎ end'), 'it is queued');
    assert.deepEqual(all.platform.answers, []);
    all.press();
    all.press();
    await exit;
  });

  test('of two questions the second is shown once the first is answered, and each gets its own answer', async () => {
    const { question } = ONE_OF_EACH.question;
    const second = { ...question, id: 'q2', callId: 'call-2', tool: 'edit' } as Question;
    const all: ReturnType<typeof setup> = setup({
      script: async function* () {
        yield [RUN_START, ONE_OF_EACH.question, { type: 'question', question: second }];
        await until(() => all.platform.answers.length === 2, 'both answers');
        yield [runEnd('done')];
      },
    });
    all.keys.type('go');
    const exit = runRepl(all.options);
    await until(
      () => all.keys.prompts.some((prompt) => prompt.startsWith('Allow bash?')),
      'the first is asked',
    );
    assert.ok(!all.stdout.text().includes('edit wants to run'));
    all.keys.type('n');
    await until(
      () => all.keys.prompts.some((prompt) => prompt.startsWith('Allow edit?')),
      'the second is asked',
    );
    assert.ok(all.stdout.text().includes('edit wants to run'));
    all.keys.type('y');
    await until(() => all.platform.answers.length === 2, 'both are answered');
    await settled();
    all.keys.type(undefined);
    await exit;
    assert.deepEqual(all.platform.answers, [
      { id: 'q1', answer: { kind: 'permission', allowed: false } },
      { id: 'q2', answer: { kind: 'permission', allowed: true } },
    ]);
  });

  test('the next line of a pipe is a prompt and never a yes', async () => {
    const all: ReturnType<typeof setup> = setup({ script: asking(() => all.platform), interactive: false });
    all.keys.type('go');
    all.keys.type('y');
    all.keys.type(undefined);
    await runRepl(all.options);
    assert.deepEqual(all.platform.prompts, [{ text: 'go' }, { text: 'y' }]);
    assert.ok(
      all.platform.answers.length > 0 &&
        all.platform.answers.every(({ answer }) => answer.kind === 'permission' && !answer.allowed),
    );
  });

  test('a question that was answered elsewhere is no longer asked here', async () => {
    const script: Script = async function* (_prompt, signal) {
      yield [RUN_START, ONE_OF_EACH.question];
      yield [ONE_OF_EACH.questionAnswered];
      await whenAborted(signal);
      yield [runEnd('cancelled')];
    };
    const { options, keys, stdout, press, platform } = setup({ script });
    keys.type('go');
    const exit = runRepl(options);
    await until(
      () =>
        keys.prompts.at(-1) === '' &&
        keys.prompts.includes('Allow bash? y / n / a (this session) / p (always here) / n and why: '),
      'it was asked and closed',
    );
    assert.ok(stdout.text().includes('answered elsewhere: yes\n'));
    keys.type('y');
    await until(() => stdout.text().includes('queued (1): y'), 'the line is a prompt');
    assert.deepEqual(platform.answers, []);
    press();
    await settled();
    keys.type(undefined);
    await exit;
  });

  test('choices are answered by number or in words', async () => {
    const question: Event = {
      type: 'question',
      question: {
        kind: 'choice',
        id: 'q1',
        callId: 'c',
        questions: [
          {
            text: 'Which database?',
            options: [{ label: 'sqlite', description: 'one file' }, { label: 'postgres' }],
          },
          { text: 'Which tests?', options: [{ label: 'unit' }, { label: 'flows' }], multiple: true },
          { text: 'Name?', options: [] },
        ],
      },
    };
    const all: ReturnType<typeof setup> = setup({
      script: async function* () {
        yield [RUN_START, question];
        await until(() => all.platform.answers.length > 0, 'an answer');
        yield [ONE_OF_EACH.questionAnswered, runEnd('done')];
      },
    });
    all.keys.type('go');
    const exit = runRepl(all.options);
    await until(() => all.keys.prompts.some((prompt) => prompt.startsWith('Answer 1 of 3')), 'it is asked');
    for (const line of ['2', '1, 2', '', 'crab']) all.keys.type(line);
    await until(() => all.platform.answers.length === 1, 'it is answered');
    all.keys.type(undefined);
    await exit;
    assert.deepEqual(all.platform.answers, [
      { id: 'q1', answer: { kind: 'choice', answers: ['postgres', 'unit, flows', 'crab'] } },
    ]);
    assert.ok(all.stdout.text().includes('? Which database?\n  1  sqlite one file\n  2  postgres\n'));
  });
});
