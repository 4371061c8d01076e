// The values of Crab's own types that cross the wire as JSON, checked where they come in. What a client sends must be
// known to the last property: one that is not understood may be a restriction. What a daemon says may be newer than its reader.

import type { CommandInfo } from '../core/command.ts';
import type { SessionChoice } from '../core/conversation.ts';
import type { Event } from '../core/event.ts';
import type { Control } from '../core/extension.ts';
import type { OpenReply, OpenRequest, Prompt } from '../core/platform.ts';
import type { Answer } from '../core/question.ts';
import { type Check, createChecks } from './check.ts';
import { CORE } from './core-schema.ts';
import { RequestFailure } from './failure.ts';
import { strictJson } from './strict-json.ts';

const sent = createChecks({ definitions: CORE, unknown: 'refused' });
const told = createChecks({ definitions: CORE, unknown: 'passed' });

/** Throws `RequestFailure` 400 or 413, as all of these. */
export function readOpenRequest(json: string): OpenRequest {
  const request = read<OpenRequest>(json, 'OpenRequest');
  for (const path of [request.cwd, ...request.declaration.directories])
    if (!isAbsolute(path)) throw new RequestFailure(400, `OpenRequest: ${shown(path)} is no absolute path.`);
  return request;
}

export function readPrompt(json: string): Prompt {
  const prompt = read<Prompt>(json, 'Prompt');
  if (prompt.cwd !== undefined && !isAbsolute(prompt.cwd))
    throw new RequestFailure(400, `Prompt.cwd ${shown(prompt.cwd)} is no absolute path.`);
  return prompt;
}

export function readAnswer(json: string): Answer {
  return read<Answer>(json, 'Answer');
}

export function readControl(json: string): Control {
  return read<Control>(json, 'Control');
}

export function readSessionChoice(json: string): SessionChoice {
  return read<SessionChoice>(json, 'SessionChoice');
}

export function readCommands(json: string): readonly CommandInfo[] {
  const commands = strictJson(json, 'Commands');
  if (!Array.isArray(commands)) throw new RequestFailure(400, 'Commands must be an array.');
  const check = sent('CommandInfo');
  for (let index = 0; index < commands.length; index++)
    hold(check, commands[index], `Commands[${index}]`, 400);
  return commands as readonly CommandInfo[];
}

function read<Value>(json: string, name: string): Value {
  const value = strictJson(json, name);
  hold(sent(name), value, name, 400);
  return value as Value;
}

/** What a daemon answers. Throws `RequestFailure` 500, as the next. */
export function readOpenReply(json: string): OpenReply {
  const value = parsed(json, 'OpenReply');
  hold(told('OpenReply'), value, 'OpenReply', 500);
  return value as OpenReply;
}

export function readEvents(json: string): readonly Event[] {
  const events = parsed(json, 'Events');
  if (!Array.isArray(events)) throw new RequestFailure(500, 'Events must be an array.');
  const check = told('Event');
  for (let index = 0; index < events.length; index++) hold(check, events[index], `Events[${index}]`, 500);
  return events as readonly Event[];
}

function parsed(json: string, what: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new RequestFailure(500, `${what} is not JSON: ${error instanceof Error ? error.message : error}.`);
  }
}

function hold(check: Check, value: unknown, what: string, code: number): void {
  const fault = check(value);
  if (fault !== undefined) throw new RequestFailure(code, `${what}${fault.at} ${fault.text}.`);
}

/** On POSIX and on Windows; which of them the daemon runs on is not known here. */
function isAbsolute(path: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path) && !path.includes('\0');
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
