import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SANDBOX_OFF, type SandboxPolicy, tightest } from './sandbox.ts';

const POLICY: SandboxPolicy = {
  mode: 'preferred',
  writable: ['/a', '/b'],
  unreadable: ['/secret'],
  network: { hosts: ['a.org', 'b.org'], privateHosts: ['a.org'] },
  unixSockets: true,
  limits: { fileMib: 10 },
  mayAskToLeave: true,
};

test('of two policies only what both allow is allowed', () => {
  const other: SandboxPolicy = {
    mode: 'required',
    writable: ['/b', '/c'],
    unreadable: ['/other'],
    network: { hosts: ['b.org', 'c.org'], privateHosts: ['b.org'] },
    unixSockets: false,
    limits: { fileMib: 20, cpuSeconds: 5 },
    mayAskToLeave: true,
  };
  const both: SandboxPolicy = {
    mode: 'required',
    writable: ['/b'],
    unreadable: ['/secret', '/other'],
    network: { hosts: ['b.org'], privateHosts: [] },
    unixSockets: false,
    limits: { fileMib: 10, cpuSeconds: 5 },
    mayAskToLeave: true,
  };
  assert.deepEqual(tightest(POLICY, other), both);
  assert.deepEqual(tightest(other, POLICY), { ...both, unreadable: ['/other', '/secret'] });
});

test('of two lists what both name is left, and one list holds alone', () => {
  const one = { ...POLICY, readable: ['/a', '/b'] };
  const other = { ...POLICY, readable: ['/b'], executable: ['/usr/bin'] };
  for (const both of [tightest(one, other), tightest(other, one)])
    assert.deepEqual([both.readable, both.executable], [['/b'], ['/usr/bin']]);
});

test('nothing that asks for less takes anything away', () => {
  const open: SandboxPolicy = { ...SANDBOX_OFF, writable: POLICY.writable, mayAskToLeave: true };
  assert.deepEqual(tightest(POLICY, open), POLICY);
  assert.equal(tightest(POLICY, { ...POLICY, network: 'none' }).network, 'none');
});
