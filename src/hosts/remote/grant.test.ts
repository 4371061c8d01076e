import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomMessage } from '../../../test/support/random-message.ts';
import { seeded } from '../../core/seeded.ts';
import type { ClientMessageCase } from '../../protocol/messages.ts';
import { TYPES } from '../../protocol/types.ts';
import { admit, type Grant, OWNER } from './grant.ts';

const ANN: Grant = { name: 'ann', agents: ['crab'] };

/** Values of Crab's own types, where a message carries one. */
const CARRIED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  enter: { session: '{"kind":"head"}' },
  prompt: { prompt: '{"text":"hi"}' },
  answer: { answer: '{"kind":"choice","answers":["yes"]}' },
  control: { control: '{"kind":"compact"}' },
};

/** One of each, drawn at random, about the grant's own agent and conversation where it names one. */
function everyMessage(): readonly ClientMessageCase[] {
  const type = TYPES['ClientMessage'];
  assert.ok(type?.kind === 'message');
  const random = seeded(1);
  return Object.entries(type.cases ?? {}).map(([name, [inner]]) => {
    const { guest: _guest, cwd: _cwd, ...value } = randomMessage<Record<string, unknown>>(inner, random);
    const own = { ...value, agent: 'crab', sender: 'ann', content: 'hi' };
    return { case: name, value: { ...own, ...CARRIED[name] } } as unknown as ClientMessageCase;
  });
}

function admitted(grant: Grant, now = 0): readonly string[] {
  return everyMessage().flatMap((message) => {
    try {
      return [admit(grant, message, now).case];
    } catch {
      return [];
    }
  });
}

const TALK = [
  ...['send', 'stream', 'kill', 'replyToAsk', 'compact', 'generateTitle', 'watch', 'leave'],
  ...['enter', 'prompt', 'answer', 'control'],
];
const ALWAYS = ['ping', 'hello', 'unwatch'];

test('the owner may send everything; a list of agents leaves what talks to them', () => {
  assert.deepEqual(
    admitted(OWNER),
    everyMessage().map((message) => message.case),
  );
  assert.deepEqual([...admitted(ANN)].sort(), [...TALK, ...ALWAYS].sort());
});

test('methods narrow a grant, and only they let it answer for a call', () => {
  assert.deepEqual(
    [...admitted({ ...ANN, methods: ['send', 'replyToPermission', 'setConfig'] })].sort(),
    ['send', 'replyToPermission', ...ALWAYS].sort(),
  );
  assert.deepEqual(
    [...admitted({ name: 'bot', methods: ['getStats'] })].sort(),
    ['getStats', ...ALWAYS].sort(),
  );
});

test('nothing is admitted when the time is over', () => {
  const grant = { ...OWNER, expiresAt: 100 };
  assert.notDeepEqual(admitted(grant, 99_999), []);
  assert.deepEqual(admitted(grant, 100_000), []);
});

test('a grant speaks as itself, or as a part of itself', () => {
  const send = (sender?: string): ClientMessageCase => ({
    case: 'send',
    value: { agent: 'crab', content: 'hi', ...(sender !== undefined && { sender }) },
  });
  assert.deepEqual(admit(ANN, send(), 0), send('ann'));
  assert.deepEqual(admit(ANN, send('ann:phone'), 0), send('ann:phone'));
  assert.deepEqual(admit(OWNER, send(), 0), send());
  for (const sender of ['user', 'anna', 'Ann', '', 'cli:1', 'event:x'])
    assert.throws(() => admit(ANN, send(sender), 0), { name: 'RequestFailure', code: 403 }, sender);
});

test('what a conversation is opened with, told, answered and set to is held to the grant', () => {
  const own = { agent: 'crab', sender: 'ann' };
  const enter = (more: object): ClientMessageCase => ({
    case: 'enter',
    value: { ...own, asks: true, ...more },
  });
  const prompt = (more: object): ClientMessageCase => ({
    case: 'prompt',
    value: { ...own, prompt: JSON.stringify({ text: 'hi', ...more }) },
  });
  const control = (value: object): ClientMessageCase => ({
    case: 'control',
    value: { ...own, control: JSON.stringify(value) },
  });
  const allow: ClientMessageCase = {
    case: 'answer',
    value: { ...own, questionId: 'q', answer: '{"kind":"permission","allowed":true}' },
  };
  const refused: readonly (readonly [ClientMessageCase, RegExp])[] = [
    [enter({ agent: 'other' }), /may not reach the agent "other"/],
    [enter({ sender: 'user' }), /may not speak as "user"/],
    [enter({ cwd: '/' }), /may not choose a folder/],
    [enter({ session: '{"kind":"resume","id":"01J"}' }), /may not choose a session/],
    [enter({ session: '{"kind":"file","path":"/etc/passwd"}' }), /may not choose a session/],
    [prompt({ text: '!rm -rf /' }), /may not begin a line with a comma/],
    [prompt({ guest: 'other' }), /may not reach the agent "other"/],
    [prompt({ cwd: '/' }), /may not choose a folder/],
    [control({ kind: 'setMode', mode: 'bypassPermissions' }), /may not change it with setMode/],
    [control({ kind: 'addRule', decision: 'allow', rule: 'Bash' }), /may not change it with addRule/],
    [allow, /its methods would have to name replyToPermission/],
  ];
  for (const [message, reason] of refused)
    assert.throws(() => admit(ANN, message, 0), { name: 'RequestFailure', code: 403, message: reason });
  const malformed: ClientMessageCase = { case: 'prompt', value: { ...own, prompt: '{"text":1}' } };
  assert.throws(() => admit(ANN, malformed, 0), { name: 'RequestFailure', code: 400 });
  assert.deepEqual(admit(ANN, prompt({ text: '/etc is full', plain: true }), 0).case, 'prompt');
  // Whoever cannot answer is not asked.
  assert.deepEqual(admit(ANN, enter({}), 0), enter({ asks: false }));
  const answering: Grant = { ...ANN, methods: ['enter', 'answer', 'replyToPermission'] };
  assert.deepEqual(admit(answering, enter({}), 0), enter({}));
  assert.deepEqual(admit(answering, allow, 0), allow);
});
