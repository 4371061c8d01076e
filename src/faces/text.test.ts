import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { DISPLAYS, ONE_OF_EACH, runEnd } from '../../test/support/channels/recorded.ts';
import type { Display } from '../core/display.ts';
import { ERRORS } from '../core/errors.ts';
import type { Event, EventType } from '../core/event.ts';
import { details, headline, outcome } from './display-text.ts';
import { paintFor } from './paint.ts';
import { eventText } from './text.ts';

const PLAIN = { colour: false };
const paint = paintFor(false);

const TEXTS: Readonly<Record<EventType, string>> = {
  runStart: '',
  promptAccepted: '',
  turnStart: '',
  messageStart: '',
  contentDelta: 'Hello',
  thinkingDelta: 'Hm.',
  toolUseStart: '',
  toolUseDelta: '',
  contentBlockStop: '',
  messageEnd: '',
  toolStart: '● bash $ ls\n',
  toolOutputDelta: 'a.ts\n',
  toolProgress: '  … reading 1/3\n',
  toolResult: '  ✓ bash exit 0, 1 line (1.2 s)\n',
  question:
    '? bash wants to run:\n  ls\n  in /work/project\n  because default mode asks before commands\n  a and p allow Bash(ls)\n',
  questionAnswered: '',
  permissionDenied: '⊘ bash was refused: deny rule Bash(rm *)\n',
  retry: '↻ rate limited (429), trying again in 3 s, 2 of 5\n',
  requestEnd:
    '  anthropic/claude-test, turn: 1600 in (500 cached), 20 out, $0.0038, began after 0.4 s, 25 tokens/s\n',
  recovery: '↻ the answer reached its limit: asked to go on (1 of 3)\n',
  contextUsage: '',
  compactStart: '⇊ Compacting the conversation: 12 messages\n',
  compactEnd: '✓ 12 messages summarised, 900 → about 200 tokens: Fix the parser\n',
  scopeViolation: '⊘ bash is outside the scope of scout\n',
  agentWorkerStarted: '',
  agentWorkerCompleted: '  ✓ worker: look (1.2 s, 15 tokens)\n',
  memoryLoaded: '',
  jobFired: '',
  memorySaved: '',
  sessionResumed: '',
  sessionSaved: '',
  sessionNamed: '',
  contextUpgraded: '· a/large takes 200 tokens, 100 before\n',
  notification: '✉ The report is done.\n  /work/project/report.pdf\n',
  sandboxViolation: '⊘ bash: /etc/hosts is read-only in the sandbox.\n',
  notice: '! A torn line was set aside.\n',
  commandResult: 'Commands: …\n',
  shellStart: '$ git status\n',
  shellOutput: 'clean\n',
  shellEnd: '✗ exit 1\n',
  runEnd: '',
};

const DRAWN: { readonly [K in Display['kind']]: readonly [string, string, readonly string[]] } = {
  command: ['$ npm test', 'exit 0, 2 lines', ['ok', 'ok']],
  diff: ['src/a.ts +1 −1', 'src/a.ts +1 −1', ['@@ -1 +1 @@', '-old', '+new', ' same']],
  file: ['src/a.ts:10–11', '2 lines', ['one', 'two']],
  matches: ['TODO in src', '2 matches, cut', ['a:1', 'b:2']],
  table: ['2 rows', '2 rows', ['name  size', 'a     1', 'long  22']],
  todo: ['1 of 3 done', '1 of 3 done', ['☑ read', '▶ write', '☐ test']],
  markdown: ['# Title', '3 lines', ['# Title', '', 'Text']],
  image: ['shot.png', '', []],
  progress: ['downloading 3/10', 'downloading 3/10', []],
  subrun: ['research: find the bug ⏎ in parser', '', []],
};

suite('text for people', () => {
  for (const type of Object.keys(TEXTS) as EventType[]) {
    test(`${type} is written`, () => assert.equal(eventText(ONE_OF_EACH[type], PLAIN), TEXTS[type]));

    test(`${type} in colours says the same`, () => {
      const text = eventText(ONE_OF_EACH[type], { colour: true });
      assert.equal(stripVTControlCharacters(text), TEXTS[type]);
    });
  }

  for (const kind of Object.keys(DRAWN) as Display['kind'][]) {
    test(`a ${kind} is drawn`, () => {
      const display = DISPLAYS[kind];
      const drawn = [headline(display, paint), outcome(display, paint), details(display, paint)];
      assert.deepEqual(drawn, DRAWN[kind]);
    });
  }

  test('a guest is named before he speaks', () => {
    assert.equal(eventText({ ...ONE_OF_EACH.runStart, guest: 'scout' }, PLAIN), '@ scout\n');
  });

  test('an error says what happened, which code it is, and what to do', () => {
    const error = {
      code: 'rate-limited',
      message: 'The provider said 429.',
      hint: ERRORS['rate-limited'].hint,
    } as const;
    assert.equal(
      eventText(runEnd('failed', { error }), PLAIN),
      'crab: The provider said 429. [rate-limited]\nWait and try again, or use another model.\n',
    );
  });

  test('a diff shows its changes in colour, and no more than fits a glance', () => {
    const diff = Array.from({ length: 50 }, (_, at) => `+line ${at}`).join('\n');
    const display: Display = { kind: 'diff', path: 'a.ts', diff, added: 50, removed: 0 };
    const event: Event = { ...ONE_OF_EACH.toolResult, display };
    const lines = eventText(event, PLAIN).split('\n');
    assert.equal(lines.length, 1 + 40 + 1 + 1);
    assert.deepEqual(lines.slice(-3), ['    +line 39', '    … 10 more lines', '']);
    assert.ok(eventText(event, { colour: true }).includes('\u001b[32m+line 0\u001b[39m'));
  });

  test('a failed command shows the end of its output', () => {
    const output = Array.from({ length: 12 }, (_, at) => `${at}\n`).join('');
    const { message } = ONE_OF_EACH.toolResult;
    const text = eventText(
      {
        ...ONE_OF_EACH.toolResult,
        message: { ...message, isError: true },
        display: { kind: 'command', command: 'x', exitCode: 2, output },
      },
      PLAIN,
    );
    assert.deepEqual(text.split('\n').slice(0, 3), [
      '  ✗ bash exit 2, 12 lines (1.2 s)',
      '    … 2 more lines',
      '    2',
    ]);
  });

  test('a permission question hides nothing of a long or disguised command', () => {
    const command = `echo ${'a'.repeat(5000)}\nrm -rf \u202e/tmp\u200b/x \u001b[2K\u00a0end`;
    const { question } = ONE_OF_EACH.question;
    const text = eventText(
      { type: 'question', question: { ...question, display: { kind: 'command', command } } as never },
      PLAIN,
    );
    assert.ok(text.includes('a'.repeat(5000)));
    assert.ok(text.includes('  rm -rf <U+202E>/tmp<U+200B>/x ␛[2K<U+00A0>end\n'));
  });

  test('a permission question shows a whole diff', () => {
    const diff = Array.from({ length: 500 }, (_, at) => `+${at}\n`).join('');
    const { question } = ONE_OF_EACH.question;
    const display: Display = { kind: 'diff', path: 'p'.repeat(400), diff, added: 500, removed: 0 };
    const text = eventText({ type: 'question', question: { ...question, display } as never }, PLAIN);
    assert.ok(text.includes(`${'p'.repeat(400)} +500 −0`));
    assert.ok(text.includes('  +499\n'));
  });
});
