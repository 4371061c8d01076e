// One answer, ready to be put on a wire: the reply of a scenario with its templates filled, its text cut
// into deltas and its defaults settled. Fixed ids and counts, so that a scenario always yields the same bytes.

import type { JsonObject } from '../core/schema.ts';
import type { TokenCounts } from '../core/usage.ts';
import { BROKEN_TEXT } from './bytes.ts';
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
  /** At least two deltas of the JSON text if it has two characters, so that every reader has to join them. */
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
  const garbled = fault !== undefined && 'garble' in fault && fault.garble === 'badUtf8';
  const text = textDeltas(reply, situation);
  return {
    turn: situation.turn,
    thinking: deltasOf(fill(reply.thinking ?? '', situation), chunk),
    text: garbled ? withBrokenText(text) : text,
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
  const json = call.raw ?? inputJson(call, how.situation);
  const sent = how.broken ? json.slice(0, -1) : json;
  return {
    id: fill(call.id ?? `call_${turn}_${index + 1}`, how.situation),
    name: call.name,
    arguments: how.chunk === undefined ? halvesOf(sent) : atLeastTwo(sent, how.chunk),
  };
}

/** A depth of many thousands is more than `JSON.stringify` takes, so it is written by hand. */
function inputJson({ input, padding, depth }: ScriptedCall, situation: Situation): string {
  const filled = fillAll(input, situation) as JsonObject;
  const padded = padding === undefined ? filled : { ...filled, padding: 'x'.repeat(padding) };
  const json = JSON.stringify(padded);
  if (depth === undefined) return json;
  const separator = json === '{}' ? '' : ',';
  return `${json.slice(0, -1)}${separator}"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
}

/** In the middle of its first delta. */
function withBrokenText([first = '', ...rest]: readonly string[]): readonly string[] {
  const characters = [...first];
  characters.splice(Math.ceil(characters.length / 2), 0, BROKEN_TEXT);
  return [characters.join(''), ...rest];
}

function halvesOf(text: string): readonly string[] {
  if (text.length < 2) return deltasOf(text, undefined);
  const middle = Math.ceil(text.length / 2);
  const split = /[\udc00-\udfff]/.test(text.charAt(middle)) ? middle + 1 : middle;
  return [text.slice(0, split), text.slice(split)].filter((half) => half !== '');
}

function atLeastTwo(text: string, size: number): readonly string[] {
  const deltas = deltasOf(text, size);
  return deltas.length < 2 ? halvesOf(text) : deltas;
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
