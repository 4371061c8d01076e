// Whether a rule is about a request. The two directions differ on purpose: a rule that restricts matches when
// any part, spelling or path of the request is meant; a rule that allows must cover the whole of what it lifts.

import { type GateRequest, isSessionOnly, type Rule } from '../../core/permission.ts';
import type { CommandPart } from './command.ts';
import { type CommandPattern, commandPattern, nameGlob, type PathPattern, pathPattern } from './pattern.ts';
import { type RuleText, readRule } from './rules.ts';
import { namesSecrets } from './secret-files.ts';
import type { Survey, Touch } from './survey.ts';

export interface Matcher {
  readonly rule: Rule;
  /** For a deny or ask rule. */
  restricts(request: GateRequest, survey: Survey): Promise<boolean>;
  /** For a deny or ask rule: it may be about a file that the command reaches without naming it. */
  mayRestrict(request: GateRequest, survey: Survey): boolean;
  /** Which of the files that `tool` finds by itself it is about; undefined for a rule about no paths. */
  withheld(tool: string): Promise<((path: string) => boolean) | undefined>;
  /** For an allow rule: it covers everything that the request does. */
  covers(request: GateRequest, survey: Survey): Promise<boolean>;
  /** For an allow rule: it spells out what it allows, down to the last letter. */
  readonly isExact: boolean;
  /** For an allow rule: its pattern was written for files that usually hold secrets. */
  readonly namesSecrets: boolean;
  /** For an allow rule: it covers this part of a command without a doubt. */
  coversPart(request: GateRequest, part: CommandPart): boolean;
}

export interface MatchOptions {
  readonly cwd: string;
  readonly home?: string;
  readonly resolve: (path: string) => Promise<string>;
}

/** Throws `CrabError` `usage` when the rule cannot be read. */
export function createMatcher(rule: Rule, options: MatchOptions): Matcher {
  const text = readRule(rule.text, rule.source);
  const { spec } = text;
  const wide = rule.decision !== 'allow';
  const command = spec === undefined ? undefined : commandPattern(spec);
  const paths = spec === undefined ? undefined : lazyPaths(spec, wide, options);
  return {
    rule,
    isExact: command?.exact === true && !isAboutPaths(text),
    namesSecrets: spec !== undefined && isAboutPaths(text) && namesSecrets(spec),
    restricts: (request, survey) => restricts(request, survey, { text, command, paths }),
    mayRestrict: (request, survey) =>
      text.about !== undefined &&
      request.access.kind === 'command' &&
      survey.parts.some(
        ({ part }) =>
          (text.about === 'read' || part.effect !== 'read') &&
          part.globs.some((glob) => mayMeet(glob, spec ?? '')),
      ),
    withheld: async (tool) => {
      if (paths === undefined || (text.about !== 'read' && !text.covers(tool))) return undefined;
      const { pattern, realAnchor } = paths;
      const real = await realAnchor();
      return (path) => pattern.matches(path, pattern.anchor) || pattern.matches(path, real);
    },
    covers: (request, survey) => covers(request, survey, { text, command, paths }),
    coversPart: (request, part) =>
      command !== undefined &&
      request.access.kind === 'command' &&
      text.covers(request.tool) &&
      coversPart(command, part),
  };
}

/** A file tool's rule is never exact in this sense: a path without wildcards means all below it. */
function isAboutPaths({ about, spec }: RuleText): boolean {
  return about !== undefined && spec !== undefined;
}

interface Compiled {
  readonly text: RuleText;
  readonly command: CommandPattern | undefined;
  readonly paths: Paths | undefined;
}

interface Paths {
  readonly pattern: PathPattern;
  /** With links followed; resolved once. */
  readonly realAnchor: () => Promise<string>;
}

function lazyPaths(spec: string, wide: boolean, { cwd, home, resolve }: MatchOptions): Paths | undefined {
  try {
    const pattern = pathPattern(spec, { cwd, wide, ...(home !== undefined && { home }) });
    let real: Promise<string> | undefined;
    return {
      pattern,
      realAnchor: () => {
        real ??= resolve(pattern.anchor).catch(() => pattern.anchor);
        return real;
      },
    };
  } catch {
    // The spec of a rule about commands need not be a pattern of paths.
    return undefined;
  }
}

async function restricts(request: GateRequest, survey: Survey, rule: Compiled): Promise<boolean> {
  const { text, command } = rule;
  const { access } = request;
  const named = text.covers(request.tool) || text.coversWorkOf(request.tool, access.kind);
  if (named && text.spec === undefined) return true;
  if (text.about !== undefined && (await restrictsPaths(request, survey, rule))) return true;
  if (!named || text.spec === undefined) return false;
  switch (access.kind) {
    case 'command':
      return (
        command?.matches(access.command.trim()) === true ||
        survey.parts.some(({ part }) => part.names.some((name) => command?.matches(name) === true))
      );
    case 'read':
    case 'write':
      // A rule about this very kind was asked above.
      return text.about !== access.kind && anyPath(survey.touches, rule);
    case 'network':
      return isDomain(access.url, text.spec, true);
    case 'spawn':
      return nameGlob(text.spec)(access.agent);
    case 'external':
    case 'none':
      return inputMatches(request, text.spec);
  }
}

/** A rule about reading or changing a path holds for every tool that does it, and for understood commands. */
async function restrictsPaths(request: GateRequest, survey: Survey, rule: Compiled): Promise<boolean> {
  const { about } = rule.text;
  const { kind } = request.access;
  if (kind === 'read' || kind === 'write') return kind === about && anyPath(survey.touches, rule);
  if (kind !== 'command') return false;
  if (
    await anyPath(
      survey.touches.filter(({ how }) => how === about),
      rule,
    )
  )
    return true;
  // Of a part that is not understood, any word may be the path.
  return survey.parts.some(
    ({ part }) =>
      (part.effect === 'unknown' || part.effect === 'dangerous') &&
      [...part.mentions, ...part.reads, ...part.writes].some((path) => matchesAsked(path, rule)),
  );
}

function matchesAsked(path: string, { paths }: Compiled): boolean {
  return paths?.pattern.matches(path, paths.pattern.anchor) === true;
}

async function anyPath(touches: readonly Touch[], rule: Compiled): Promise<boolean> {
  const { paths } = rule;
  if (paths === undefined || touches.length === 0) return false;
  const real = await paths.realAnchor();
  return touches.some(
    ({ asked, place }) =>
      matchesAsked(asked, rule) || matchesAsked(place.path, rule) || paths.pattern.matches(place.path, real),
  );
}

/** Whether a pattern of the shell may stand for what a path rule names. Told only where the rule ends in a plain name. */
function mayMeet(glob: string, spec: string): boolean {
  const components = glob.split('/');
  const name = spec.replace(/\/+$/, '').split('/').at(-1) ?? '';
  if (/[*?[\\]/.test(name) || components.slice(0, -1).some((component) => /[*?[]/.test(component)))
    return true;
  try {
    return nameGlob((components.at(-1) ?? '').toLowerCase())(name.toLowerCase());
  } catch {
    return true;
  }
}

async function covers(request: GateRequest, survey: Survey, rule: Compiled): Promise<boolean> {
  const { text, command, paths } = rule;
  const { access } = request;
  if (!text.covers(request.tool)) return false;
  if (isSessionOnly(access) && !text.isNamed) return false;
  if (text.spec === undefined) return true;
  switch (access.kind) {
    case 'command':
      return command?.exact === true && command.matches(access.command.trim());
    case 'read':
    case 'write': {
      if (paths === undefined || survey.touches.length === 0) return false;
      const real = await paths.realAnchor();
      return survey.touches.every(({ place }) => paths.pattern.matches(place.path, real));
    }
    case 'network':
      return isDomain(access.url, text.spec, false);
    case 'spawn':
      return nameGlob(text.spec)(access.agent);
    case 'external':
    case 'none':
      return false;
  }
}

/** What it prints into a file is no part of the text that a rule names, so it is not covered by it. */
function coversPart(pattern: CommandPattern, part: CommandPart): boolean {
  if (part.streams.length > 0) return false;
  if (pattern.matches(part.text)) return true;
  // `Bash(timeout *)` says nothing of the program that runs: the rule has to name it as well.
  const lead = part.wholeText.length - part.text.length;
  return pattern.matches(part.wholeText) && pattern.prefix.trimEnd().length > lead;
}

function isDomain(url: string, spec: string, subdomains: boolean): boolean {
  const domain = /^domain:(\S+)$/.exec(spec)?.[1]?.toLowerCase();
  const host = hostOf(url);
  if (domain === undefined || host === undefined) return false;
  // An address of IPv6 stands in brackets, which a pattern would take for a set.
  return domain === host || nameGlob(domain)(host) || (subdomains && host.endsWith(`.${domain}`));
}

export function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase().replace(/\.$/, '') : undefined;
}

function inputMatches({ input }: GateRequest, spec: string): boolean {
  const matches = nameGlob(spec);
  return Object.values(input).some((value) => typeof value === 'string' && matches(value));
}
