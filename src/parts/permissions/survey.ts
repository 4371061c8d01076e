// What a request would touch, looked up once: the places of its paths, the parts of its command, and the
// column of the mode table that they add up to. Rules and modes are judged on this and on nothing else.

import type { Column, GateRequest } from '../../core/permission.ts';
import type { CommandPart } from './command.ts';
import { hasPlainNames, isLocalFolder } from './local-folder.ts';
import { matchedLinks } from './matched-links.ts';
import type { PathScope, Place } from './path-scope.ts';

export interface Touch {
  readonly how: 'read' | 'write';
  /** The path as it was asked for. */
  readonly asked: string;
  readonly place: Place;
}

export interface SurveyedPart {
  readonly part: CommandPart;
  readonly touches: readonly Touch[];
  readonly column: Column;
  /** A clause that says what decided: … */
  readonly fact: string;
}

export interface Survey {
  /** Undefined for what touches nothing. */
  readonly column: Column | undefined;
  readonly fact: string;
  readonly touches: readonly Touch[];
  /** Of a command; empty for everything else. */
  readonly parts: readonly SurveyedPart[];
  readonly doubt: string | undefined;
  /** A command runs outside the workspace. */
  readonly outsideFolder: boolean;
}

export interface Surveyor {
  /** The workspace. */
  readonly cwd: string;
  readonly scope: PathScope;
  readonly home?: string;
}

interface Finding {
  readonly column: Column;
  readonly fact: string;
}

/** From the least to the most serious. */
const SEVERITY: readonly Column[] = ['read', 'write', 'outside', 'dangerous'];

function worse(one: Finding, other: Finding): Finding {
  return SEVERITY.indexOf(other.column) > SEVERITY.indexOf(one.column) ? other : one;
}

export async function survey(request: GateRequest, surveyor: Surveyor): Promise<Survey> {
  const { access } = request;
  const plain = (column: Column | undefined, fact: string): Survey => ({
    column,
    fact,
    touches: [],
    parts: [],
    doubt: undefined,
    outsideFolder: false,
  });
  switch (access.kind) {
    case 'none':
      return plain(undefined, `${request.tool} touches nothing`);
    case 'network':
      return plain('external', `${shorten(access.url)} is on the network`);
    case 'external':
      return plain(
        'external',
        `${request.tool} ${access.does ?? `belongs to the server ${access.server}, which is not part of Crab`}`,
      );
    case 'spawn':
      return plain('spawn', `${request.tool} starts the agent ${access.agent}`);
    case 'read':
    case 'write':
      return surveyFiles(access.kind, access.paths, surveyor);
    case 'command':
      return surveyCommand(access.command, access.cwd, surveyor);
  }
}

async function surveyFiles(
  how: 'read' | 'write',
  paths: readonly string[],
  { scope }: Surveyor,
): Promise<Survey> {
  const touches = await touch(how, paths, scope);
  const [first = 'the workspace'] = paths;
  const ordinary: Finding = {
    column: how,
    fact: `${shorten(first)} would be ${how === 'read' ? 'read' : 'written'}`,
  };
  const found = touches.map(judgeTouch).reduce(worse, ordinary);
  return { ...found, touches, parts: [], doubt: undefined, outsideFolder: false };
}

function touch(how: 'read' | 'write', paths: readonly string[], scope: PathScope): Promise<readonly Touch[]> {
  return Promise.all(paths.map(async (asked) => ({ how, asked, place: await scope.locate(asked) })));
}

function judgeTouch({ how, asked, place }: Touch): Finding {
  const path = shorten(asked);
  switch (place.where) {
    case 'inside':
      return { column: how, fact: `${path} is inside the workspace` };
    case 'outside': {
      const leads = place.path === asked ? '' : `, it leads to ${shorten(place.path)}`;
      return { column: 'outside', fact: `${path} is outside the workspace${leads}` };
    }
    case 'unknown':
      return { column: 'outside', fact: `${path} cannot be resolved` };
    case 'protected':
      if (how === 'read') return { column: 'read', fact: `${path} is inside the workspace` };
      return {
        column: 'dangerous',
        fact: `${path} is protected, because ${place.protectedBy ?? 'it decides what runs by itself'}`,
      };
  }
}

/** Comments, told from the text: that no part was found in it is no proof. */
const COMMENTS = /^(?:\s*#[^\n\r]*(?:\n|$))+\s*$/;

async function surveyCommand(command: string, cwd: string, surveyor: Surveyor): Promise<Survey> {
  const { scope, home } = surveyor;
  // What is known of programs is most of this room, and a run without a command needs none of it.
  const { understandCommand } = await import('./command.ts');
  const known = {
    ...{ cwd, isFolder: isLocalFolder, hasPlainNames, linksIn: matchedLinks },
    ...(home !== undefined && { home }),
  };
  const { parts, doubt } = await understandCommand(command, known);
  const surveyed = await Promise.all(parts.map((part) => surveyPart(part, scope)));
  // Most programs look around where they run, whether or not they are given a path.
  const folder = cwd === surveyor.cwd ? [] : await touch('read', [cwd], scope);
  const start: Finding =
    parts.length === 0 && (doubt !== undefined || !COMMENTS.test(command))
      ? { column: 'outside', fact: `the command ${doubt ?? 'is empty'}` }
      : { column: 'read', fact: 'it only reads inside the workspace' };
  const found = [...surveyed, ...folder.map(judgeTouch)].reduce(worse, start);
  const doubted = doubt !== undefined && found.column !== 'dangerous';
  return {
    column: found.column,
    fact: doubted ? `the command ${doubt}, so what it does cannot be told beforehand` : found.fact,
    touches: [...surveyed.flatMap(({ touches }) => touches), ...folder],
    parts: surveyed,
    doubt,
    outsideFolder: folder.some(({ place }) => place.where !== 'inside' && place.where !== 'protected'),
  };
}

async function surveyPart(part: CommandPart, scope: PathScope): Promise<SurveyedPart> {
  const name = part.text === '' ? part.wholeText : part.text;
  const fact = `\`${shorten(name)}\` ${part.reason}`;
  if (part.effect === 'dangerous') return { part, touches: [], column: 'dangerous', fact };
  if (part.effect === 'unknown') return { part, touches: [], column: 'outside', fact };
  const [reads, writes, streams, landings] = await Promise.all([
    touch('read', part.reads, scope),
    touch('write', part.writes, scope),
    touch('write', part.streams, scope),
    touch('write', part.landings, scope),
  ]);
  const landed = landings.filter(({ place }) => place.where !== 'unknown');
  const touches = [...reads, ...writes, ...streams, ...landed];
  const spilled = streams.find(({ place }) => place.where === 'outside' || place.where === 'unknown');
  if (spilled !== undefined) {
    const spill = `\`${shorten(name)}\` prints into ${shorten(spilled.asked)}, which is outside the workspace`;
    return { part, touches, column: 'dangerous', fact: spill };
  }
  const found = touches.map(judgeTouch).reduce(worse, { column: part.effect, fact });
  return { part, touches, ...found };
}

const SHOWN_CHARACTERS = 100;

/** One line, and not so long that the rest of the sentence is lost. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS - 1)}…` : line;
}
