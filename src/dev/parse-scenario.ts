// Reads a scenario file and refuses what it does not know, so that a misspelt field is an error with a
// place and not a reply that silently lacks something. The tables are keyed by the fields of the types:
// a field that is added there fails to compile here.

import { CrabError } from '../core/errors.ts';
import { isObject } from './json.ts';
import {
  CUTS,
  GARBLES,
  type ListedModel,
  LOCAL_SERVERS,
  type Reply,
  SCRIPTED_STOPS,
  type Scenario,
  type Script,
  type ScriptedCall,
} from './scenario.ts';

interface Place {
  readonly file: string;
  readonly path: string;
}

type Check = (value: unknown, place: Place) => void;

/** Throws `CrabError` (`input-malformed`) that names the file, the field and what was expected there. */
export function parseScenario(text: string, file = 'scenario'): Scenario {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw malformed({ file, path: '' }, `not JSON: ${error instanceof Error ? error.message : error}`);
  }
  checkScenario(value, { file, path: '' });
  return value as Scenario;
}

const checkText: Check = (value, place) => {
  if (typeof value !== 'string') expected('a string', value, place);
};

const checkTrue: Check = (value, place) => {
  if (value !== true) expected('true', value, place);
};

const checkObject: Check = (value, place) => {
  if (!isObject(value)) expected('an object', value, place);
};

const checkAnything: Check = () => {};

const checkCount = wholeNumber(0);
const checkPositive = wholeNumber(1);

const checkTexts: Check = (value, place) => {
  if (Array.isArray(value)) listOf(checkText)(value, place);
  else if (typeof value !== 'string') expected('a string or an array of strings', value, place);
};

const checkStatus: Check = (value, place) => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 400 || value > 599) {
    expected('a status between 400 and 599', value, place);
  }
};

const checkPage: Check = (value, place) => {
  if (value !== true && value !== 200) checkStatus(value, place);
};

const checkCut: Check = (value, place) => {
  if (CUTS.some((cut) => cut === value) || isWhole(value, 0)) return;
  expected(`a number of bytes or one of ${quoted(CUTS)}`, value, place);
};

const checkHeaders: Check = (value, place) => {
  checkObject(value, place);
  for (const [name, header] of Object.entries(value as object)) checkText(header, within(place, name));
};

const CALL: Readonly<Record<keyof ScriptedCall, Check>> = {
  name: checkText,
  input: checkObject,
  raw: checkText,
  padding: checkPositive,
  depth: checkPositive,
  id: checkText,
};

const USAGE: Readonly<Record<keyof Required<Reply>['usage'], Check>> = {
  input: checkCount,
  output: checkCount,
  cacheRead: checkCount,
  cacheWrite: checkCount,
};

/** The faults by the field that names each, with the fields that belong to it. */
export const FAULTS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  status: { status: checkStatus, headers: checkHeaders, message: checkText, body: checkAnything },
  overflow: { overflow: checkTrue },
  html: { html: checkPage },
  cutAfter: { cutAfter: checkCut },
  resetAfter: { resetAfter: checkCount },
  stallAfter: { stallAfter: checkCount },
  pingEveryMs: { pingEveryMs: checkPositive },
  errorEvent: {
    errorEvent: fields({ type: checkText, message: checkText }, ['type', 'message']),
  },
  badJson: { badJson: checkTrue },
  garble: { garble: oneOf(GARBLES) },
  flood: { flood: checkPositive },
  gzipBomb: { gzipBomb: checkPositive },
  hugeHeader: { hugeHeader: checkPositive },
  reset: { reset: checkTrue },
  noStop: { noStop: checkTrue },
  refuse: { refuse: checkTrue },
};

const checkFault: Check = (value, place) => {
  checkObject(value, place);
  const names = Object.keys(FAULTS).filter((name) => name in (value as object));
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw malformed(place, `expected exactly one of ${Object.keys(FAULTS).join(', ')}`);
  }
  fields(FAULTS[name] ?? {})(value, place);
};

/** The fields of a reply. */
export const REPLY: Readonly<Record<keyof Reply, Check>> = {
  text: checkTexts,
  generate: fields({ deltas: checkPositive, text: checkText }, ['deltas', 'text']),
  thinking: checkText,
  calls: listOf(fields(CALL, ['name', 'input'])),
  stop: oneOf(SCRIPTED_STOPS),
  usage: fields(USAGE),
  chunk: checkPositive,
  delayMs: checkCount,
  drip: checkPositive,
  repeat: checkPositive,
  headers: checkHeaders,
  fault: checkFault,
  times: checkPositive,
};

const checkReply: Check = (value, place) => {
  fields(REPLY)(value, place);
  const { text, generate, calls, fault, times } = value as Reply;
  if (text !== undefined && generate !== undefined) {
    throw malformed(place, 'expected either text or generate, found both');
  }
  if (times !== undefined && fault === undefined) throw malformed(place, 'times belongs to a fault');
  if (fault === undefined) return;
  const needsText = 'garble' in fault && fault.garble === 'badUtf8' && !text?.length;
  if (needsText) throw malformed(place, 'this fault needs a reply with text');
  const needsCall = 'badJson' in fault || ('cutAfter' in fault && fault.cutAfter === 'call');
  if (needsCall && !calls?.length) throw malformed(place, 'this fault needs a reply with calls');
};

const checkWhen: Check = (value, place) => {
  if (typeof value === 'string') return;
  if (!isObject(value)) expected('a string or { "pattern": … }', value, place);
  fields({ pattern: checkPattern }, ['pattern'])(value, place);
};

const checkPattern: Check = (value, place) => {
  checkText(value, place);
  try {
    new RegExp(value as string);
  } catch (error) {
    throw malformed(place, `not a regular expression: ${error instanceof Error ? error.message : error}`);
  }
};

const SCRIPT: Readonly<Record<keyof Script, Check>> = {
  when: checkWhen,
  replies: listOf(checkReply),
  otherwise: checkReply,
};

const MODEL: Readonly<Record<keyof ListedModel, Check>> = {
  id: checkText,
  contextWindow: checkPositive,
  maxOutput: checkPositive,
};

const SCENARIO: Readonly<Record<keyof Scenario, Check>> = {
  replies: listOf(checkReply),
  scripts: listOf(fields(SCRIPT, ['replies'])),
  otherwise: checkReply,
  models: listOf(fields(MODEL, ['id'])),
  server: oneOf(LOCAL_SERVERS),
};

const checkScenario: Check = (value, place) => {
  fields(SCENARIO)(value, place);
  const { replies, scripts } = value as Scenario;
  if ((replies === undefined) === (scripts === undefined)) {
    throw malformed(place, 'expected either replies or scripts at the top');
  }
};

function fields(known: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value, place) => {
    if (!isObject(value)) expected('an object', value, place);
    for (const name of required) if (!(name in value)) throw malformed(place, `${name} is missing`);
    for (const [name, field] of Object.entries(value)) {
      const check = Object.hasOwn(known, name) ? known[name] : undefined;
      if (check === undefined) {
        throw malformed(within(place, name), `unknown field; known here: ${Object.keys(known).join(', ')}`);
      }
      check(field, within(place, name));
    }
  };
}

function oneOf(known: readonly string[]): Check {
  return (value, place) => {
    if (!known.some((one) => one === value)) expected(`one of ${quoted(known)}`, value, place);
  };
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

function listOf(check: Check): Check {
  return (value, place) => {
    if (!Array.isArray(value)) expected('an array', value, place);
    for (const [index, item] of value.entries()) check(item, { ...place, path: `${place.path}[${index}]` });
  };
}

function wholeNumber(least: number): Check {
  return (value, place) => {
    if (!isWhole(value, least)) expected(`a whole number from ${least} on`, value, place);
  };
}

function isWhole(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}

function within(place: Place, name: string): Place {
  return { ...place, path: place.path === '' ? name : `${place.path}.${name}` };
}

function expected(what: string, value: unknown, place: Place): never {
  const found = JSON.stringify(value);
  throw malformed(place, `expected ${what}, found ${found.length > 60 ? `${found.slice(0, 60)}…` : found}`);
}

function malformed(place: Place, reason: string): CrabError {
  const where = place.path === '' ? place.file : `${place.file}: ${place.path}`;
  return new CrabError('input-malformed', `${where}: ${reason}`, {
    hint: 'docs/guide/fake-provider.md describes the format.',
  });
}
