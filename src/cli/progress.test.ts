import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressOn } from './progress.ts';

function sink(isTerminal: boolean) {
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  return {
    written,
    taken: () => waiting.splice(0).forEach((take) => void take()),
    isTerminal,
    colour: false,
    write: (text: string) => {
      written.push(text);
      return new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

test('a terminal is told on one line, which is taken away; what a slow one cannot take is left out', async () => {
  const stderr = sink(true);
  const progress = progressOn(stderr);
  progress.tell('1 of 3');
  progress.tell('2 of 3');
  stderr.taken();
  await Promise.resolve();
  progress.tell('3 of 3');
  const over = progress.over();
  stderr.taken();
  await over;
  assert.deepEqual(stderr.written, ['\r1 of 3\u001b[K', '\r3 of 3\u001b[K', '\r\u001b[K']);
});

test('nothing is written where nobody looks, or where nothing was told', async () => {
  for (const [isTerminal, told] of [
    [false, true],
    [true, false],
  ] as const) {
    const stderr = sink(isTerminal);
    const progress = progressOn(stderr);
    if (told) progress.tell('1 of 3');
    await progress.over();
    assert.deepEqual(stderr.written, []);
  }
});
