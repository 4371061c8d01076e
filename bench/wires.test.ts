import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBare, readByWire, readsOf, WIRES } from './wires.ts';

for (const wire of WIRES) {
  test(`${wire.name}: both readers read the same text, so their costs can be compared`, () => {
    const reads = readsOf(wire, 500);
    const expected = Array.from({ length: 500 }, (_, at) => `piece ${String(at).padStart(5, '0')} of it\n`);
    assert.equal(readByWire(wire, reads), expected.join(''));
    assert.equal(readBare(wire, reads), expected.join(''));
    assert.ok(reads.length > 1);
  });
}
