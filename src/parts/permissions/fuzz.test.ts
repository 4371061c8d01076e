import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gateWith, runs } from './workspace-for-test.ts';

const PIECES =
  'ls|cat|echo|grep|git log|find .|rm|touch|sed|sh|bash -c|sudo|xargs|a|b.txt|-rf|-c|--x=y|$(touch x)|`touch x`|${x}|$x|$|"|\'|\\|(|)|{|}|{a,b}|<|>|>>|<<E|<<<|<(|&|&&|;|\n|\t| | | |#|*|?|[|]|!|=|A=1|~|~/a|~bob|/etc/x|../x|é|\u0000|\u202e|🦀|\r'
    .split('|')
    .concat('|', '||');

/** mulberry32: the same texts in every run, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function scramble(next: () => number): string {
  const length = 1 + Math.floor(next() * 12);
  return Array.from({ length }, () => PIECES[Math.floor(next() * PIECES.length)]).join('');
}

test('no random command throws, and a verdict always has a reason', async () => {
  const next = random(1);
  const gate = gateWith({ deny: ['Bash(curl *)', 'Read(.env)'], allow: ['Bash(ls *)'] });
  for (let count = 0; count < 2_000; count += 1) {
    const text = scramble(next);
    const { decision, reason } = await gate.check(runs(text));
    assert.ok(['allow', 'ask', 'deny'].includes(decision) && reason.length > 0, JSON.stringify(text));
  }
});

test('a command that holds an active substitution is never allowed without a rule', async () => {
  const next = random(2);
  const gate = gateWith();
  for (let count = 0; count < 300; count += 1) {
    // Balanced text around it, so that the substitution is active whatever stands there.
    const plain = () => scramble(next).replaceAll(/["'`\\#\n]|<<E/g, '');
    for (const active of ['$(touch x)', '`touch x`', '"$(touch x)"', '"`touch x`"', '<(touch x)', '${x}']) {
      const text = `${plain()} ${active} ${plain()}`;
      for (const mode of ['default', 'acceptEdits', 'trustProject'] as const)
        assert.equal((await gate.check(runs(text, mode))).decision, 'ask', JSON.stringify(text));
    }
  }
});

test('a writer hidden anywhere in a chain is never allowed without a rule', async () => {
  const gate = gateWith();
  const readers = [
    'ls',
    'cat a',
    'grep -n x a',
    'git log -3',
    'sed -n 1p a',
    'echo "a && b"',
    "printf '%s' ';'",
  ];
  const joins = [' && ', ' || ', '; ', ' | ', ' & ', '\n', '&&', ';', '|'];
  const next = random(3);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  for (let count = 0; count < 1_000; count += 1) {
    const commands = Array.from({ length: 1 + Math.floor(next() * 5) }, () => pick(readers));
    const joined = () => commands.reduce((text, command) => text + pick(joins) + command);
    assert.equal((await gate.check(runs(joined()))).decision, 'allow', joined());
    commands.splice(
      Math.floor(next() * (commands.length + 1)),
      0,
      pick(['touch x', 'rm x', 'npm test', 'ls > x', 'frob']),
    );
    const text = joined();
    assert.equal((await gate.check(runs(text))).decision, 'ask', text);
  }
});
