// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's variables, not templates.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';
import type { PermissionGate } from './gate.ts';
import { gateWith, runs } from './workspace-for-test.ts';

const PIECES =
  'ls|cat|echo|grep|git log|find .|rm|touch|sed|sh|bash -c|sudo|xargs|a|b.txt|-rf|-c|--x=y|$(touch x)|`touch x`|${x}|$x|$|"|\'|\\|(|)|{|}|{a,b}|<|>|>>|<<E|<<<|<(|&|&&|;|\n|\t| | | |#|*|?|[|]|!|=|A=1|~|~/a|~bob|/etc/x|../x|é|\u0000|\u202e|🦀|\r'
    .split('|')
    .concat('|', '||');

function scramble(next: () => number): string {
  const length = 1 + Math.floor(next() * 12);
  return Array.from({ length }, () => PIECES[Math.floor(next() * PIECES.length)]).join('');
}

test('no random command throws, and a verdict always has a reason', async () => {
  const next = seeded(1);
  const gate = gateWith({ deny: ['Bash(curl *)', 'Read(.env)'], allow: ['Bash(ls *)'] });
  for (let count = 0; count < 2_000; count += 1) {
    const text = scramble(next);
    const { decision, reason } = await gate.check(runs(text));
    assert.ok(['allow', 'ask', 'deny'].includes(decision) && reason.length > 0, JSON.stringify(text));
  }
});

/** The texts that a gate would run without a question. */
async function unasked(gate: PermissionGate, texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const text of texts)
    for (const mode of ['default', 'acceptEdits', 'dontAsk'] as const)
      if ((await gate.check(runs(text, mode))).decision === 'allow') found.push(text);
  return found;
}

function substitutions(): readonly string[] {
  const next = seeded(2);
  // Balanced text around it, so that the substitution is active whatever stands there.
  const plain = () => scramble(next).replaceAll(/["'`\\#\n]|<<E/g, '');
  const active = ['$(touch x)', '`touch x`', '"$(touch x)"', '"`touch x`"', '<(touch x)', '${x}'];
  return Array.from({ length: 300 }, () => active.map((one) => `${plain()} ${one} ${plain()}`)).flat();
}

const READERS = [
  'ls',
  'cat a',
  'grep -n x a',
  'git log -3',
  'sed -n 1p a',
  'echo "a && b"',
  "printf '%s' ';'",
];
const WRITERS = ['touch x', 'rm x', 'npm test', 'ls > x', 'frob'];
const JOINS = [' && ', ' || ', '; ', ' | ', ' & ', '\n', '&&', ';', '|'];

/** Chains of readers, and the same chains with a writer somewhere in them. */
function chains(): { readonly readers: readonly string[]; readonly writers: readonly string[] } {
  const next = seeded(3);
  const pick = (list: readonly string[]) => list[Math.floor(next() * list.length)] ?? '';
  const join = (commands: readonly string[]) =>
    commands.reduce((text, command) => text + pick(JOINS) + command);
  const lists = Array.from({ length: 1_000 }, () =>
    Array.from({ length: 1 + Math.floor(next() * 5) }, () => pick(READERS)),
  );
  return {
    readers: lists.map(join),
    writers: lists.map((list) =>
      join(list.toSpliced(Math.floor(next() * (list.length + 1)), 0, pick(WRITERS))),
    ),
  };
}

test('a command that holds an active substitution is never run unasked', async () => {
  assert.deepEqual(await unasked(gateWith(), substitutions()), []);
});

test('a chain of readers runs unasked, and never with a writer hidden in it', async () => {
  const { readers, writers } = chains();
  const unaskedReaders = new Set(await unasked(gateWith(), readers));
  assert.deepEqual(
    readers.filter((text) => !unaskedReaders.has(text)),
    [],
  );
  assert.deepEqual(await unasked(gateWith(), writers), []);
});

test('the campaigns see a gate that lets too much through', async () => {
  const careless = gateWith({ allow: ['Bash'] });
  assert.notDeepEqual(await unasked(careless, substitutions()), []);
  assert.notDeepEqual(await unasked(careless, chains().writers), []);
});
