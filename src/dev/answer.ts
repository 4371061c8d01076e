// One answer, ready to be put on a wire: the reply of a scenario with its templates filled, its text cut
// into deltas and its defaults settled. Fixed ids and counts, so that a scenario always yields the same bytes.

import type { TokenCounts } from '../core/usage.ts';
import { isObject } from './json.ts';
import type { Reply, ScriptedCall, ScriptedStop } from './scenario.ts';

export interface Answer {
  /** The turn that this answer is, from 1. */
  readonly turn: number;
  /** Deltas, as for `text`; empty for a block that is not there. */
  readonly thinking: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly AnswerCall[];
  readonly stop: ScriptedStop | 'refusal';
  readonly usage: TokenCounts;
}

export interface AnswerCall {
  readonly id: string;
  readonly name: string;
  /** At least two deltas of the JSON text, so that every reader has to join them. */
  readonly arguments: readonly string[];
}

/** What templates may name. */
export interface Situation {
  readonly turn: number;
  /** The text of the last tool result, empty when there is none. */
  readonly result: string;
  readonly vars: Readonly<Record<string, string>>;
}

const DEFAULT_USAGE: TokenCounts = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 };

export function composeAnswer(reply: Reply, situation: Situation): Answer {
  const { chunk, fault } = reply;
  const calls = reply.calls ?? [];
  const refused = fault !== undefined && 'refuse' in fault;
  const broken = fault !== undefined && 'badJson' in fault;
  return {
    turn: situation.turn,
    thinking: deltasOf(fill(reply.thinking ?? '', situation), chunk),
    text: textDeltas(reply, situation),
    calls: calls.map((call, index) => composeCall(call, index, { chunk, broken, situation })),
    stop: refused ? 'refusal' : (reply.stop ?? (calls.length > 0 ? 'toolUse' : 'stop')),
    usage: { ...DEFAULT_USAGE, ...reply.usage },
  };
}

/** Whether the answer to this reply depends on what the client sent. */
export function hasTemplates(reply: Reply): boolean {
  return JSON.stringify(reply).includes('{{');
}

function textDeltas(reply: Reply, situation: Situation): readonly string[] {
  const { text, generate } = reply;
  if (generate !== undefined) return new Array<string>(generate.deltas).fill(generate.text);
  if (typeof text === 'string') return deltasOf(fill(text, situation), reply.chunk);
  return (text ?? []).map((part) => fill(part, situation));
}

function composeCall(
  call: ScriptedCall,
  index: number,
  how: { readonly chunk: number | undefined; readonly broken: boolean; readonly situation: Situation },
): AnswerCall {
  const { turn } = how.situation;
  const json = JSON.stringify(fillAll(call.input, how.situation));
  const sent = how.broken ? json.slice(0, -1) : json;
  const half = Math.ceil([...sent].length / 2);
  return {
    id: fill(call.id ?? `call_${turn}_${index + 1}`, how.situation),
    name: call.name,
    arguments: deltasOf(sent, Math.min(how.chunk ?? half, half)),
  };
}

/** Pieces of `size` characters; a character outside the basic plane is never split. */
function deltasOf(text: string, size: number | undefined): readonly string[] {
  if (text === '') return [];
  if (size === undefined) return [text];
  const characters = [...text];
  const deltas: string[] = [];
  for (let at = 0; at < characters.length; at += size) deltas.push(characters.slice(at, at + size).join(''));
  return deltas;
}

/** Unknown names stay as they are: a scripted file may hold templates of its own. */
function fill(text: string, { turn, result, vars }: Situation): string {
  if (!text.includes('{{')) return text;
  return text.replace(/\{\{(\w+)\}\}/g, (template, name: string) => {
    if (name === 'n') return String(turn);
    if (name === 'result') return result;
    return Object.hasOwn(vars, name) ? (vars[name] ?? template) : template;
  });
}

function fillAll(value: unknown, situation: Situation): unknown {
  if (typeof value === 'string') return fill(value, situation);
  if (Array.isArray(value)) return value.map((item) => fillAll(item, situation));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillAll(item, situation)]));
}
