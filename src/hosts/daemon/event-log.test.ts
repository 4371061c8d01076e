import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../core/event.ts';
import { EventLog } from './event-log.ts';

const word = (delta: string, index = 0): Event => ({ type: 'contentDelta', index, delta });
const output = (id: string, delta: string): Event => ({ type: 'toolOutputDelta', id, delta });

function saidIn(log: EventLog): readonly (readonly [first: number, events: readonly Event[]])[] {
  const said: [number, readonly Event[]][] = [];
  for (let next = 0; ; ) {
    const reading = log.read(next);
    if (reading === undefined) return said;
    const { first, count, json } = reading.events;
    said.push([first, JSON.parse(json)]);
    next = first + count;
  }
}

test('pieces of one block that came together are one, and are counted as one; others stay as they are', () => {
  const log = new EventLog();
  const told = [
    word('a'),
    word('b'),
    word('c', 1),
    { type: 'thinkingDelta', index: 1, delta: 'd' },
    word('e', 1),
  ];
  log.append(told as readonly Event[], 1);
  log.append([word('f', 1)], 1);
  log.append([output('x', '1'), output('x', '2'), output('y', '3'), { type: 'turnStart', turn: 2 }], 1);
  assert.deepEqual(saidIn(log), [
    [0, [word('ab'), word('c', 1), { type: 'thinkingDelta', index: 1, delta: 'd' }, word('e', 1)]],
    [4, [word('f', 1)]],
    [5, [output('x', '12'), output('y', '3'), { type: 'turnStart', turn: 2 }]],
  ]);
  assert.deepEqual(told[0], word('a'), 'what others hear is not touched');
});

test('what is too much goes, deltas first, and its readers are told of the gap', () => {
  const log = new EventLog(200);
  log.append([{ type: 'turnStart', turn: 1 }], 1);
  log.append([word('x'.repeat(60))], 1);
  log.append([word('y'.repeat(60))], 1);
  log.append([{ type: 'turnStart', turn: 2 }], 1);
  assert.deepEqual(
    saidIn(log).map(([first]) => first),
    [0, 2, 3],
  );
  assert.equal(log.read(1)?.gap, true);
});
