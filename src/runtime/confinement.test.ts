// What a verdict comes to beside the sandbox: where nothing confines, and where a call asks to leave.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GateRequest, PermissionMode, Verdict } from '../core/permission.ts';
import type { SandboxPolicy } from '../core/sandbox.ts';
import type { Confinement, SandboxState } from '../parts/sandbox/confine.ts';
import { ConversationSandbox } from './confinement.ts';
import type { RuntimeHost } from './host.ts';

const PREFERRED: SandboxPolicy = {
  mode: 'preferred',
  writable: [],
  unreadable: [],
  network: 'none',
  unixSockets: false,
  limits: {},
  mayAskToLeave: true,
};

const NOTHING: SandboxState = {
  gaps: [],
  missing: [{ name: 'bubblewrap', holds: false, reason: 'bwrap is not installed' }],
};
const SOMETHING: SandboxState = { backend: 'bubblewrap', gaps: [], missing: [] };

const BY_MODE: Verdict = { decision: 'allow', reason: 'The mode allows it.' };
const BY_RULE: Verdict = {
  ...BY_MODE,
  rule: { decision: 'allow', text: 'Bash(make)', source: '--allowedTools' },
};

function sandboxOf(policy: Partial<SandboxPolicy>, state: SandboxState): ConversationSandbox {
  const confinement: Confinement = {
    state: async () => state,
    confined: () => assert.fail('nothing is run'),
    moved: () => confinement,
    close: () => {},
  };
  const confine = async () => confinement;
  return new ConversationSandbox({
    host: { confine } as Partial<RuntimeHost> as RuntimeHost,
    request: {
      policy: { ...PREFERRED, ...policy },
      scratch: async () => '/scratch',
      kept: async () => '/kept',
    },
    place: () => ({ cwd: '/work', directories: [] }),
    onlyReads: async ({ access }) => access.kind === 'command' && access.command === 'ls',
  });
}

function command(text: string, mode: PermissionMode = 'trustProject', unconfined = false): GateRequest {
  const access = { kind: 'command', command: text, cwd: '/work' } as const;
  return { tool: 'bash', input: {}, mode, access: unconfined ? { ...access, unconfined: true } : access };
}

test('where nothing confines, a command that no rule names is asked about, and that is told once', async () => {
  const sandbox = sandboxOf({}, NOTHING);
  const notices: string[] = [];
  const judge = async (request: GateRequest, verdict: Verdict) =>
    (await sandbox.judge(request, verdict, (text) => notices.push(text))).decision;
  assert.deepEqual(
    [
      await judge(command('make'), BY_MODE),
      await judge(command('make', 'bypassPermissions'), BY_MODE),
      await judge(command('make', 'dontAsk'), BY_MODE),
      await judge(command('make'), BY_RULE),
      await judge(command('ls'), BY_MODE),
      await judge(command('make'), { decision: 'deny', reason: 'no' }),
    ],
    ['ask', 'ask', 'deny', 'allow', 'allow', 'deny'],
  );
  assert.equal(notices.length, 1);
  assert.match(notices[0] ?? '', /bwrap is not installed/);
});

test('where something confines, or nothing is wanted, the verdict stands', async () => {
  const tell = () => assert.fail('there is nothing to tell');
  for (const sandbox of [sandboxOf({}, SOMETHING), sandboxOf({ mode: 'off' }, NOTHING)])
    assert.deepEqual(await sandbox.judge(command('make'), BY_MODE, tell), BY_MODE);
});

test('a command that asks to leave is asked about, once for the session, and never where it is required', async () => {
  const sandbox = sandboxOf({}, SOMETHING);
  const judge = async (request: GateRequest, one = sandbox) =>
    (await one.judge(request, BY_RULE, () => {})).decision;
  const leaving = command('npm install', 'trustProject', true);
  assert.equal(await judge(leaving), 'ask');
  assert.equal(sandbox.remember(command('npm install')), false);
  assert.equal(sandbox.remember(leaving), true);
  assert.equal(await judge(leaving), 'allow');
  assert.equal(await judge(command('npm install x', 'trustProject', true)), 'ask');
  assert.equal(await judge(command('npm test', 'bypassPermissions', true)), 'allow');
  for (const policy of [{ mode: 'required' as const }, { mayAskToLeave: false }])
    assert.equal(
      await judge(command('npm test', 'bypassPermissions', true), sandboxOf(policy, SOMETHING)),
      'deny',
    );
});
