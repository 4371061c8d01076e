// `crab permissions explain`: what would be decided on a call and why, for a person, or line by line for a program.

import { isAbsolute, resolve } from 'node:path';
import { messageOf } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';
import type { GateRequest } from '../core/permission.ts';
import type { JsonObject } from '../core/schema.ts';
import { badgeText } from '../faces/question-text.ts';
import { visibleLine, visibleStrictly } from '../faces/visible.ts';
import type { Explanation } from '../parts/permissions/gate.ts';
import type { Desk, Workplace } from './permissions-desk.ts';

/** One explanation in the words of `explain --json`. */
export function explainedJson({ verdict, risk }: Explanation): JsonObject {
  const { decision, reason, rule } = verdict;
  const { effect, word, severity } = risk;
  return { verdict: decision, effect, badge: word, severity, reason, rule: rule?.text ?? null };
}

export function explainedText({ mode }: GateRequest, { verdict, risk, parts }: Explanation): string {
  const { decision, reason, rule, column } = verdict;
  const decided = rule === undefined ? decidedBy(column, mode) : `the rule ${rule.text} (${rule.source})`;
  const rows = [
    ['verdict', decision],
    ['effect', badgeText(risk)],
    ['decided by', decided],
    ['reason', reason],
    ...parts.map(({ text, effect: badge, fact }, at) => [
      at === 0 ? 'parts' : '',
      `${badge.padEnd(9)}  ${shown(text)}${parts.length > 1 ? `\n${' '.repeat(23)}${shown(fact)}` : ''}`,
    ]),
  ];
  return rows.map(([left = '', right = '']) => `${left.padEnd(12)}${right}\n`).join('');
}

function decidedBy(column: string | undefined, mode: string): string {
  return column === undefined ? `mode ${mode}` : `mode ${mode}, column "${column}" of its table`;
}

function shown(text: string): string {
  return visibleStrictly(visibleLine(text, 160));
}

/** Longer lines are answered with an error, and not kept in memory while they come. */
const MAX_LINE_BYTES = 1024 * 1024;
const FLUSH_BYTES = 64 * 1024;

/** Answers every line with one line, in order. Throws only where standard output fails. */
export async function explainLines(
  input: AsyncIterable<Buffer | string>,
  desk: Desk,
  cwd: string,
  stdout: Sink,
): Promise<void> {
  let waiting = '';
  let number = 0;
  for await (const line of linesOf(input)) {
    number += 1;
    waiting += `${JSON.stringify(await answered(line, number, desk, cwd))}\n`;
    if (waiting.length < FLUSH_BYTES && line.isFollowed) continue;
    await stdout.write(waiting);
    waiting = '';
  }
  if (waiting !== '') await stdout.write(waiting);
}

interface Line {
  /** Undefined for one that is too long. */
  readonly text: string | undefined;
  /** Another one is at hand, so an answer may wait for that one's. */
  readonly isFollowed: boolean;
}

async function* linesOf(input: AsyncIterable<Buffer | string>): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let rest = '';
  let skipping = false;
  for await (const chunk of input) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const [at, text] of lines.entries()) {
      const isTooLong = skipping || text.length > MAX_LINE_BYTES;
      skipping = false;
      yield { text: isTooLong ? undefined : text, isFollowed: at < lines.length - 1 };
    }
    if (rest.length > MAX_LINE_BYTES) {
      skipping = true;
      rest = '';
    }
  }
  if (rest !== '' || skipping) yield { text: skipping ? undefined : rest, isFollowed: false };
}

async function answered({ text }: Line, number: number, desk: Desk, cwd: string): Promise<JsonObject> {
  try {
    if (text === undefined) throw new Error(`it has more than ${MAX_LINE_BYTES} characters`);
    const { place, request } = await asked(text, desk, cwd);
    return explainedJson(await place.gate.explain(request));
  } catch (error) {
    return { error: `line ${number}: ${messageOf(error)}` };
  }
}

async function asked(
  text: string,
  desk: Desk,
  cwd: string,
): Promise<{ readonly place: Workplace; readonly request: GateRequest }> {
  const line = objectOf(text);
  const given = line['cwd'] ?? cwd;
  if (typeof given !== 'string' || given.includes('\0')) throw new Error('cwd must be a path');
  const place = await desk.at(isAbsolute(given) ? resolve(given) : resolve(cwd, given));
  const { cmd, tool, input } = line;
  if (cmd !== undefined) {
    if (typeof cmd !== 'string') throw new Error('cmd must be a text');
    return { place, request: desk.command(cmd, place) };
  }
  if (typeof tool !== 'string') throw new Error('it has neither cmd nor tool');
  if (!isObject(input ?? {})) throw new Error('input must be an object');
  return { place, request: await desk.call(tool, (input ?? {}) as JsonObject, place) };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('it is no JSON');
  }
  if (!isObject(value)) throw new Error('it is no JSON object');
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
