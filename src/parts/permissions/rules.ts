// The text of permission rules: lists as they are given on a command line, split and checked, and what each
// rule is about. A rule that cannot be parsed is an error and never skipped: a deny rule that is dropped for a
// slip of the pen would be a door left open.

import { CrabError } from '../../core/errors.ts';
import type { Access, Decision, Rule } from '../../core/permission.ts';
import { nameGlob, pathPattern } from './pattern.ts';

export interface RuleText {
  /** Whether the rule is about a tool of this name. */
  covers(tool: string): boolean;
  /** Whether a rule that restricts is about what a call of another tool does: one about bash is about every command. */
  coversWorkOf(tool: string, access: Access['kind']): boolean;
  /** It spells out its tool, and is no pattern of names. */
  readonly isNamed: boolean;
  /** Whether a rule that restricts is about reading or changing paths by whatever tool. */
  readonly about: 'read' | 'write' | undefined;
  /** What stands in the parentheses; undefined for the whole tool. */
  readonly spec: string | undefined;
}

/** Tools that change files of the person's. */
const EDITING = ['edit', 'write', 'applypatch', 'notebookedit'];

/** Which tool's work others do, and by what access. */
const WORKING_AS: Readonly<Record<string, readonly [access: Access['kind'], tool: string]>> = {
  monitor: ['command', 'bash'],
  taskinput: ['command', 'bash'],
  subscribeevent: ['spawn', 'delegate'],
  publishevent: ['spawn', 'delegate'],
};

/** The names that people know tools by, and the tools that they mean. */
const KNOWN_NAMES: Readonly<Record<string, readonly string[]>> = {
  shell: ['bash'],
  edit: EDITING,
  multiedit: EDITING,
  glob: ['find'],
  task: ['agent', 'delegate'],
  agent: ['task', 'delegate'],
  delegate: ['agent', 'task'],
  // Both open a URL: what may not be read must not be opened in a browser either.
  webfetch: ['webfetch', 'browsernavigate'],
};
const READING = new Set(['read']);
const WRITING = new Set(['edit', 'multiedit', 'write']);
const TAKING_PATHS = new Set(['read', 'edit', 'multiedit', 'write', 'grep', 'glob', 'find', 'ls']);
const TAKING_DOMAINS = new Set(['webfetch', 'fetch']);
const MAX_SPEC_CHARACTERS = 10_000;

/**
 * Every rule in `texts`, each of which may hold several, separated by commas or blanks.
 * Throws `CrabError` `usage` for what is no rule, naming it and `source`.
 */
export function parseRules(texts: readonly string[], decision: Decision, source: string): readonly Rule[] {
  return texts.flatMap((text) => {
    const pieces = split(text, true) ?? split(text, false);
    if (pieces === undefined) throw invalid(text, source, 'a parenthesis is not closed');
    return pieces.map((piece) => {
      readRule(piece, source);
      return { decision, text: piece, source };
    });
  });
}

/** Undefined when a parenthesis is not closed. Quotes hide parentheses, unless that leaves the text unfinished. */
function split(text: string, quotes: boolean): readonly string[] | undefined {
  const pieces: string[] = [];
  let piece = '';
  let depth = 0;
  let quote = '';
  const characters = [...text];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    if (depth === 0 && (character === ',' || /\s/.test(character))) {
      if (piece !== '') pieces.push(piece);
      piece = '';
      continue;
    }
    piece += character;
    if (character === '\\' && depth > 0 && at + 1 < characters.length) {
      at += 1;
      piece += characters[at];
    } else if (quote !== '') {
      if (character === quote) quote = '';
    } else if (quotes && depth > 0 && (character === '"' || character === "'")) quote = character;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    if (depth < 0) return undefined;
  }
  if (depth !== 0 || quote !== '') return undefined;
  if (piece !== '') pieces.push(piece);
  return pieces;
}

/** Throws `CrabError` `usage` when the text is no rule. */
export function readRule(text: string, source: string): RuleText {
  const [, written = '', body] = /^([^()\s,]+)(?:\(([\s\S]*)\))?$/.exec(text.trim()) ?? [];
  if (written === '') throw invalid(text, source, 'it is neither `Tool` nor `Tool(what)`');
  const name = plainName(written);
  const spec = body?.trim();
  if (spec === '') throw invalid(text, source, 'the parentheses are empty');
  if (spec !== undefined) checkSpec(name, spec, text, source);
  const everything = spec === undefined || spec === '*' || spec === ':*' || spec === '**';
  const meant = Object.hasOwn(KNOWN_NAMES, name) ? (KNOWN_NAMES[name] ?? []) : [];
  const names = [...new Set([name, written.toLowerCase(), ...meant])].map((pattern) =>
    checked(() => nameGlob(pattern), text, source),
  );
  const covers = (tool: string) => {
    const spellings = [plainName(tool), tool.toLowerCase()];
    return (
      names.some((matches) => spellings.some(matches)) ||
      (isServer(name) && tool.toLowerCase().startsWith(`${name}__`))
    );
  };
  return {
    covers,
    coversWorkOf: (tool, access) => {
      const [kind, other] = WORKING_AS[plainName(tool)] ?? [];
      return other !== undefined && kind === access && covers(other);
    },
    isNamed: !/[*?[]/.test(name),
    about:
      spec === undefined ? undefined : READING.has(name) ? 'read' : WRITING.has(name) ? 'write' : undefined,
    spec: everything && !TAKING_PATHS.has(name) ? undefined : spec,
  };
}

function checkSpec(name: string, spec: string, text: string, source: string): void {
  if (spec.length > MAX_SPEC_CHARACTERS) throw invalid(text.slice(0, 80), source, 'it is too long');
  if (/[*?[]/.test(name)) throw invalid(text, source, 'a pattern of tool names takes no parentheses');
  if (name.startsWith('mcp__')) throw invalid(text, source, 'a rule about a server takes no parentheses');
  if (TAKING_PATHS.has(name) && spec.startsWith('!'))
    throw invalid(text, source, 'a path rule cannot be negated; write a rule of the other list');
  if (TAKING_PATHS.has(name)) checked(() => pathPattern(spec, { cwd: '/', wide: true }), text, source);
  if (TAKING_DOMAINS.has(name) && !/^domain:\S+$/.test(spec))
    throw invalid(text, source, 'a rule about the web is written `domain:example.com`');
}

function checked<T>(compile: () => T, text: string, source: string): T {
  try {
    return compile();
  } catch {
    throw invalid(text, source, 'its pattern is not valid');
  }
}

/** `WebFetch`, `web_fetch` and `webfetch` are one tool; the names of servers are kept as they are. */
function plainName(name: string): string {
  const lower = name.toLowerCase();
  return lower.startsWith('mcp__') ? lower : lower.replace(/(?<=[a-z])[_-](?=[a-z])/g, '');
}

/** `mcp__github` means every tool of that server. */
function isServer(name: string): boolean {
  return /^mcp__(?:(?!__)[^*?[])+$/.test(name);
}

function invalid(text: string, source: string, why: string): CrabError {
  return new CrabError(
    'usage',
    `The permission rule ${JSON.stringify(text)} (${source}) cannot be used: ${why}.`,
    {
      hint: 'Write rules as Read, "Bash(npm run *)", "Edit(/src/**)" or "WebFetch(domain:example.com)".',
    },
  );
}
