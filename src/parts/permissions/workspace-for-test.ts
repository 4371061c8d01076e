// A gate over paths that exist only in the test: nothing is linked, so every path resolves to itself.

import { normalize } from 'node:path';
import type { Access, Decision, GateRequest, PermissionMode, Rule } from '../../core/permission.ts';
import { createGate, type PermissionGate } from './gate.ts';
import { parseRules } from './rules.ts';

export const CWD = '/code/app';
export const HOME = '/home/ann';

export function rulesOf(lists: Partial<Record<Decision, readonly string[]>>): readonly Rule[] {
  return (['deny', 'ask', 'allow'] as const).flatMap((decision) =>
    parseRules(lists[decision] ?? [], decision, `${decision} list`),
  );
}

export function gateWith(lists: Partial<Record<Decision, readonly string[]>> = {}): PermissionGate {
  return createGate({
    cwd: CWD,
    directories: ['/code/library'],
    rules: rulesOf(lists),
    resolve: (path) => Promise.resolve(normalize(path).replace(/(?<=.)\/$/, '')),
    home: HOME,
  });
}

export function asks(tool: string, access: Access, mode: PermissionMode = 'default'): GateRequest {
  return { tool, input: {}, access, mode };
}

export function runs(command: string, mode: PermissionMode = 'default'): GateRequest {
  return asks('bash', { kind: 'command', command, cwd: CWD }, mode);
}

export function touches(
  kind: 'read' | 'write',
  path: string,
  mode: PermissionMode = 'default',
  tool: string = kind,
): GateRequest {
  return asks(tool, { kind, paths: [path.startsWith('/') ? path : `${CWD}/${path}`] }, mode);
}
