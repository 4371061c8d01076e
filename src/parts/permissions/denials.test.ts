import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDenialTracker } from './denials.ts';

const call = (command: string) => ({ tool: 'bash', input: { command } });

test('the same call is remarked on from the third refusal on, whatever came between', () => {
  const tracker = createDenialTracker();
  const advised = ['a', 'b', 'a', 'a', 'b', 'b'].map((command) => {
    const { advice } = tracker.denied(call(command));
    return advice?.slice(0, 35);
  });
  const third = 'This very call was refused 3 times.';
  assert.deepEqual(advised, [undefined, undefined, undefined, third, undefined, third]);
});

test('ten refusals in a row end the run; one permitted call begins the count anew', () => {
  const tracker = createDenialTracker();
  const stops = () => Array.from({ length: 9 }, (_, at) => tracker.denied(call(`x${at}`)).stop);
  assert.deepEqual(stops(), Array(9).fill(undefined));
  tracker.permitted();
  assert.deepEqual(stops(), Array(9).fill(undefined));
  const { stop } = tracker.denied(call('last'));
  assert.deepEqual(
    [stop?.code, stop?.message],
    ['permission-refused', 'The run was stopped: 10 calls in a row were refused, and nothing else was done.'],
  );
});
