// `crab rpc`: one message of the protocol, as JSON, and what answers it. With it a script can do whatever a client can.

import { EXIT, messageOf } from '../core/errors.ts';
import type { Client } from '../protocol/client.ts';
import { errorMessage } from '../protocol/failure.ts';
import { fromJson, jsonName, toJson } from '../protocol/json-form.ts';
import type { ClientMessageCase, ServerMessageCase } from '../protocol/messages.ts';
import { readEvents } from '../protocol/read-core.ts';
import { strictJson } from '../protocol/strict-json.ts';
import { TYPES } from '../protocol/types.ts';
import { WireError } from '../protocol/wire.ts';
import { withDaemon } from './daemon-client.ts';
import type { Environment } from './home.ts';
import { casesOf, METHODS, methodCalled } from './methods.ts';
import { readAll } from './piped-input.ts';
import { sinkOf } from './sink.ts';
import { subcommandArguments, subcommandUsage } from './subcommand.ts';

const HELP = `Usage: crab rpc METHOD [JSON]

  Sends one message to the daemon of this home and prints the answer as one line of JSON; a stream prints
  a line for each of its messages until it is over. JSON is the message in the JSON form of Protocol
  Buffers, where what is empty, zero or false is left out; - reads it from standard input. An error is
  printed, too, and the exit status is 1, as it is when a run fails.

  crab rpc send '{"agent": "crab", "content": "What is here?", "cwd": "/src"}'
  crab rpc stream '{"agent": "crab", "content": "Go on."}' | jq -rj '.chunk.content // empty'
  crab rpc sessions
  crab rpc kill '{"agent": "crab", "sender": "user"}'

  METHOD is one of
${columns(METHODS)}`;

/** Returns the exit status. Throws `CrabError`. */
export async function rpcCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { values, positionals } = subcommandArguments('rpc', argv, { help: { type: 'boolean', short: 'h' } });
  const stdout = sinkOf(process.stdout, env);
  const [method, json, ...more] = positionals;
  if (method === undefined || values.help === true) {
    await stdout.write(HELP);
    return values.help === true ? EXIT.success : EXIT.usage;
  }
  if (more.length > 0)
    throw subcommandUsage(
      'rpc',
      'There is more than one message.',
      'Put the JSON in quotes: it is one argument.',
    );
  const message = await messageFor(method, json);
  const print = (value: object) => stdout.write(`${JSON.stringify(value)}\n`);
  return withDaemon(env, ({ client }) => answered(client, message, print));
}

async function messageFor(method: string, json = '{}'): Promise<ClientMessageCase> {
  const known = methodCalled(method, 'rpc');
  const text = json === '-' ? (await readAll(process.stdin, false)).text : json;
  const [type = ''] = casesOf('ClientMessage')[known] ?? [];
  try {
    const json = strictJson(text, type);
    const value = fromJson<ClientMessageCase['value']>(TYPES, type, json);
    checkNames(type, json as object);
    return { case: known, value } as ClientMessageCase;
  } catch (error) {
    throw subcommandUsage(
      'rpc',
      messageOf(error),
      'Run `crab rpc --help`, or look into docs/guide/daemon.md.',
    );
  }
}

/** A daemon passes over what it does not know; whoever types a message would not learn of a slip. */
function checkNames(type: string, json: object): void {
  const known = TYPES[type];
  const names = known?.kind === 'message' ? Object.keys(known.fields) : [];
  const odd = Object.keys(json).find((name) => !names.includes(jsonName(name)));
  if (odd === undefined) return;
  const there = names.length === 0 ? 'it has no fields' : `there is ${names.join(', ')}`;
  throw new WireError(`${type} has no field ${JSON.stringify(odd)}: ${there}.`);
}

async function answered(
  client: Client,
  message: ClientMessageCase,
  print: (value: object) => Promise<void>,
): Promise<number> {
  let isWell = true;
  try {
    for await (const answer of client.stream(message.case, message.value)) {
      const [type = ''] = casesOf('ServerMessage')[answer.case] ?? [];
      await print(toJson(TYPES, type, answer.value));
      isWell = !hasFailed(answer);
      if (isLast(message, answer)) break;
    }
    return isWell ? EXIT.success : EXIT.failure;
  } catch (error) {
    // What breaks the connection is no answer.
    if (client.failure !== undefined) throw error;
    await print({ error: errorMessage(error) });
    return EXIT.failure;
  }
}

/** A run that came to nothing has an answer all the same. */
function hasFailed(answer: ServerMessageCase): boolean {
  switch (answer.case) {
    case 'response':
      return answer.value.error !== '';
    case 'stream':
      return answer.value.event?.case === 'end' && answer.value.event.value.error !== '';
    case 'coreEvents': {
      const end = readEvents(answer.value.events).at(-1);
      return end?.type === 'runEnd' && end.outcome !== 'done' && end.outcome !== 'command';
    }
    default:
      return false;
  }
}

function isLast(asked: ClientMessageCase, answer: ServerMessageCase): boolean {
  switch (asked.case) {
    case 'stream':
      return answer.case === 'stream' && answer.value.event?.case === 'end';
    case 'prompt':
      return answer.case === 'coreEvents' && readEvents(answer.value.events).at(-1)?.type === 'runEnd';
    case 'watch':
      return answer.case === 'watchEnd';
    case 'subscribeEvents':
      return false;
    default:
      return true;
  }
}

function columns(names: readonly string[]): string {
  const lines: string[] = [];
  for (let at = 0; at < names.length; at += 4)
    lines.push(
      `    ${names
        .slice(at, at + 4)
        .map((name) => name.padEnd(20))
        .join('')
        .trimEnd()}\n`,
    );
  return lines.join('');
}
