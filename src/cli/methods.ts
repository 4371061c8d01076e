// The messages of the protocol as people name them, and what their parts are.

import { suggestions } from '../engine/route.ts';
import { jsonName } from '../protocol/json-form.ts';
import type { ClientMessageCase } from '../protocol/messages.ts';
import { TYPES } from '../protocol/types.ts';
import { subcommandUsage } from './subcommand.ts';

/** What belongs to a connection and is not for anybody to send. */
const OF_CONNECTION = ['hello', 'unwatch'];

export const METHODS = Object.keys(casesOf('ClientMessage')).filter((name) => !OF_CONNECTION.includes(name));

/** `send`, `Send` and `get_stats` alike. Throws `CrabError usage` of `crab COMMAND`. */
export function methodCalled(name: string, command: string): ClientMessageCase['case'] {
  const camel = jsonName(name);
  const wanted = `${camel.slice(0, 1).toLowerCase()}${camel.slice(1)}`;
  if (METHODS.includes(wanted)) return wanted as ClientMessageCase['case'];
  const near = suggestions(wanted, METHODS);
  throw subcommandUsage(
    command,
    `There is no method ${name}.`,
    near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'Run `crab rpc --help` for the list.',
  );
}

export function casesOf(type: string): Readonly<Record<string, readonly [string, string]>> {
  const known = TYPES[type];
  return (known?.kind === 'message' && known.cases) || {};
}
