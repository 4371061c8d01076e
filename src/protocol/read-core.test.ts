import assert from 'node:assert/strict';
import { test } from 'node:test';
import { userMessage } from '../core/message.ts';
import type { OpenRequest } from '../core/platform.ts';
import { SANDBOX_OFF } from '../core/sandbox.ts';
import { NO_USAGE } from '../core/usage.ts';
import { RequestFailure } from './failure.ts';
import { readAnswer, readControl, readEvents, readOpenRequest, readPrompt } from './read-core.ts';
import { MAX_DEPTH } from './strict-json.ts';

const REQUEST: OpenRequest = {
  agent: 'crab',
  cwd: '/work',
  session: { kind: 'resume', id: '01J', fork: true },
  declaration: {
    agent: { name: 'crab', effort: 'high', defaults: {}, tools: ['read'] },
    mode: 'default',
    rules: [{ decision: 'deny', text: 'Bash(rm *)', source: '--disallowedTools' }],
    directories: ['/tmp'],
    sandbox: SANDBOX_OFF,
    withoutTools: [],
    limits: { turns: 3, budget: { runUsd: 1 }, context: { pauseAt: { share: 0.9, reserveTokens: 1 } } },
    instructions: { given: false, append: ['be brief'], files: [], environment: [] },
    canAsk: true,
    outputSchema: { type: 'object', properties: { a: { type: 'string' } }, minProperties: 1 },
  },
  commands: [{ name: 'quit', aliases: ['q'], description: 'Leave.', usage: '', side: 'channel' }],
};

function refusal(read: () => unknown): readonly [number, string] {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof RequestFailure, String(error));
    return [error.code, error.message];
  }
  return assert.fail('it was taken');
}

/** The request with one value put in, by its path. */
function withValue(path: readonly (string | number)[], value: unknown): string {
  const copy: unknown = structuredClone(REQUEST);
  let at = copy as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  at[path.at(-1) ?? ''] = value;
  return JSON.stringify(copy);
}

test('a request that is whole is taken as it is', () => {
  assert.deepEqual(readOpenRequest(JSON.stringify(REQUEST)), REQUEST);
  assert.deepEqual(readPrompt('{"text":"hi","cwd":"C:\\\\work"}'), { text: 'hi', cwd: 'C:\\work' });
  assert.deepEqual(readControl('{"kind":"moveTo","target":null,"summary":""}'), {
    kind: 'moveTo',
    target: null,
    summary: '',
  });
  assert.deepEqual(readAnswer('{"kind":"choice","answers":["a"]}'), { kind: 'choice', answers: ['a'] });
});

test('what is wrong is told with its place', () => {
  for (const [path, value, message] of [
    [['cwd'], undefined, 'OpenRequest.cwd is missing.'],
    [['cwd'], 'work', 'OpenRequest: "work" is no absolute path.'],
    [
      ['session', 'kind'],
      'other',
      /^OpenRequest\.session\.kind must be "new", .*"memory", and is "other"\.$/,
    ],
    [['session', 'id'], 7, 'OpenRequest.session.id must be a string, and is 7.'],
    [['declaration', 'mode'], 'yolo', /^OpenRequest\.declaration\.mode must be "plan", .* and is "yolo"\.$/],
    [
      ['declaration', 'rules', 0, 'decision'],
      null,
      /^OpenRequest\.declaration\.rules\[0\]\.decision must be/,
    ],
    [
      ['declaration', 'rules'],
      {},
      'OpenRequest.declaration.rules must be an array, and is a value of type object.',
    ],
    [['declaration', 'jail'], true, 'OpenRequest.declaration.jail is not known here.'],
    [['declaration', 'canAsk'], 'yes', 'OpenRequest.declaration.canAsk must be true or false, and is "yes".'],
    [['declaration', 'directories'], ['x'], 'OpenRequest: "x" is no absolute path.'],
    [
      ['commands', 0, 'side'],
      'far',
      'OpenRequest.commands[0].side must be "runtime", "channel", and is "far".',
    ],
  ] as const) {
    const [code, said] = refusal(() => readOpenRequest(withValue(path, value)));
    assert.equal(code, 400);
    if (typeof message === 'string') assert.equal(said, message);
    else assert.match(said, message);
  }
});

test('what two readers could understand in two ways is refused', () => {
  const deep = `${'['.repeat(MAX_DEPTH)}${']'.repeat(MAX_DEPTH)}`;
  for (const [json, message] of [
    ['{"text":"a","text":"b"}', 'Prompt.text stands there twice.'],
    ['{"text":"a","\\u0074ext":"b"}', 'Prompt.text stands there twice.'],
    ['{"text":"a","__proto__":{}}', 'Prompt.__proto__ is a name that is not taken.'],
    ['{"text":"\\ud800"}', 'Prompt.text has half of a surrogate pair.'],
    ['{"text":"\ud800"}', 'Prompt.text has half of a surrogate pair.'],
    [`{"text":${deep}}`, /^Prompt\.text(?:\[0\]){63} is deeper than 64 levels\.$/],
    ['{"text":"a"', /^Prompt is not JSON: /],
    ['[1, "\\"", 2]', 'Prompt must be an object, and is an array.'],
    ['null', 'Prompt must be an object, and is null.'],
  ] as const) {
    const [code, said] = refusal(() => readPrompt(json));
    assert.equal(code, 400);
    if (typeof message === 'string') assert.equal(said, message);
    else assert.match(said, message);
  }
  assert.deepEqual(readPrompt('{"text":"\\\\\\" \\ud83e\\udd80"}'), { text: '\\" 🦀' });
  const [code] = refusal(() => readPrompt(`{"text":"${'a'.repeat(16 * 1024 * 1024)}"}`));
  assert.equal(code, 413);
});

test('events are held against their type, and what is new in one is passed over', () => {
  const events = [
    { type: 'promptAccepted', message: userMessage([{ type: 'text', text: 'hi' }], 1) },
    { type: 'retry', attempt: 1, maxAttempts: 2, delayMs: 3, reason: 'busy', model: 'm', since: 'later' },
    {
      type: 'runEnd',
      outcome: 'done',
      text: '',
      turns: 1,
      usage: NO_USAGE,
      durationMs: 1,
      apiMs: 1,
      denials: [],
    },
  ];
  assert.deepEqual(readEvents(JSON.stringify(events)), events);
  assert.deepEqual(
    refusal(() => readEvents('[{"type":"contentDelta","index":0,"delta":5}]')),
    [500, 'Events[0].delta must be a string, and is 5.'],
  );
  assert.match(refusal(() => readEvents('[{"type":"later"}]'))[1], /^Events\[0\]\.type must be "runStart"/);
});
