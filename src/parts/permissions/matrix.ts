// The mode table: what each mode does with each kind of thing. It is a literal, so that a change of policy is
// a change of one cell; the gate asks it last, after every rule.

import type { Column, Decision, PermissionMode } from '../../core/permission.ts';

export const MATRIX: Readonly<Record<PermissionMode, Readonly<Record<Column, Decision>>>> = {
  plan: {
    read: 'allow',
    write: 'deny',
    outside: 'deny',
    dangerous: 'deny',
    external: 'deny',
    spawn: 'deny',
    denied: 'deny',
  },
  default: {
    read: 'allow',
    write: 'ask',
    outside: 'ask',
    dangerous: 'ask',
    external: 'ask',
    spawn: 'ask',
    denied: 'deny',
  },
  acceptEdits: {
    read: 'allow',
    write: 'allow',
    outside: 'ask',
    dangerous: 'ask',
    external: 'ask',
    spawn: 'ask',
    denied: 'deny',
  },
  trustProject: {
    read: 'allow',
    write: 'allow',
    outside: 'ask',
    dangerous: 'ask',
    external: 'ask',
    spawn: 'allow',
    denied: 'deny',
  },
  dontAsk: {
    read: 'allow',
    write: 'deny',
    outside: 'deny',
    dangerous: 'deny',
    external: 'deny',
    spawn: 'deny',
    denied: 'deny',
  },
  bypassPermissions: {
    read: 'allow',
    write: 'allow',
    outside: 'allow',
    dangerous: 'allow',
    external: 'allow',
    spawn: 'allow',
    denied: 'deny',
  },
};

/** `acceptEdits` trusts the edits of a file tool, which can be seen and undone; a command that writes is asked about. */
export function decide(mode: PermissionMode, column: Column, byCommand: boolean): Decision {
  if (mode === 'acceptEdits' && column === 'write' && byCommand) return MATRIX.default.write;
  return MATRIX[mode][column];
}
