// `crab permissions test`: the regression tests of somebody's own policy. A line is a verdict and a command, so that a
// file of them reads like the policy itself; `@TOOL {input}` stands for another tool's call.

import { CrabError, messageOf } from '../core/errors.ts';
import {
  BADGES,
  type Badge,
  type Decision,
  type GateRequest,
  PERMISSION_MODES,
  type PermissionMode,
} from '../core/permission.ts';
import type { JsonObject } from '../core/schema.ts';
import type { Desk, Workplace } from './permissions-desk.ts';

interface Case {
  readonly line: number;
  readonly decision: Decision;
  readonly effect: Badge | undefined;
  readonly mode: PermissionMode | undefined;
  /** As written behind the verdict. */
  readonly what: string;
}

export interface Outcome {
  readonly passed: number;
  /** Each says the place, what was expected, what was found and why. */
  readonly failed: readonly string[];
}

/** Throws `CrabError` (`input-malformed`) that names `path` and the line. */
export async function testPolicy(text: string, path: string, desk: Desk, place: Workplace): Promise<Outcome> {
  const cases = casesOf(text, path);
  if (cases.length === 0) throw malformed(path, 1, 'there is no test in it');
  const failed: string[] = [];
  for (const one of cases) {
    const request = await requestOf(one, path, desk, place);
    const { verdict, risk } = await place.gate.explain(request);
    const { effect } = risk;
    const isRight = verdict.decision === one.decision && (one.effect ?? effect) === effect;
    if (isRight) continue;
    const found = one.effect === undefined ? verdict.decision : `${verdict.decision}:${effect}`;
    const wanted = one.effect === undefined ? one.decision : `${one.decision}:${one.effect}`;
    failed.push(`${path}:${one.line}: expected ${wanted}, got ${found}: ${one.what}\n    ${verdict.reason}`);
  }
  return { passed: cases.length - failed.length, failed };
}

const LINE = /^(?<decision>allow|ask|deny)(?::(?<effect>[a-z-]+))?\s+(?<what>\S.*)$/;

function casesOf(text: string, path: string): readonly Case[] {
  const cases: Case[] = [];
  let mode: PermissionMode | undefined;
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const line = written.trim();
    if (line === '' || line.startsWith('#')) continue;
    const [, named] = /^mode\s+(\S+)$/.exec(line) ?? [];
    if (named !== undefined) {
      mode = PERMISSION_MODES.find((known) => known === named);
      if (mode === undefined)
        throw malformed(path, index + 1, `${named} is none of ${PERMISSION_MODES.join(', ')}`);
      continue;
    }
    const { decision, effect, what } = LINE.exec(line)?.groups ?? {};
    if (decision === undefined || what === undefined)
      throw malformed(path, index + 1, 'it is neither `allow|ask|deny COMMAND` nor `mode NAME`');
    const badge = BADGES.find((known) => known === effect);
    if (effect !== undefined && badge === undefined)
      throw malformed(path, index + 1, `${effect} is none of ${BADGES.join(', ')}`);
    cases.push({ line: index + 1, decision: decision as Decision, effect: badge, mode, what });
  }
  return cases;
}

async function requestOf(one: Case, path: string, desk: Desk, place: Workplace): Promise<GateRequest> {
  const { what, mode, line } = one;
  if (!what.startsWith('@')) return desk.command(what, place, mode);
  try {
    const [, tool = '', input = ''] = /^@(\S+)\s*([\s\S]*)$/.exec(what) ?? [];
    const value: unknown = input === '' ? {} : JSON.parse(input);
    return await desk.call(tool, value as JsonObject, place, mode);
  } catch (error) {
    throw malformed(path, line, messageOf(error));
  }
}

function malformed(path: string, line: number, why: string): CrabError {
  return new CrabError('input-malformed', `${path}:${line}: ${why}.`, {
    hint: 'Write one test a line, such as `ask git push` or `deny @read {"path": ".env"}`.',
  });
}
