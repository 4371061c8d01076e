// The narrowest rule for one request, written so that it reads back as exactly that, and the sentence that
// tells a person what would allow a call.

import { dirname, isAbsolute, relative, sep } from 'node:path';
import type { Column, GateRequest, Rule } from '../../core/permission.ts';
import type { EffectKind } from './effect.ts';
import { hostOf } from './match.ts';
import { isWithin, lexicallyProtected } from './path-scope.ts';
import { escapeCommand, escapePath } from './pattern.ts';
import { isSecretFile } from './secret-files.ts';

export interface GrantOptions {
  readonly cwd: string;
  readonly home?: string;
  /** The request's paths with links followed, where they are known. */
  readonly paths?: readonly string[];
  /** What its command does, where that is known. */
  readonly effects?: readonly EffectKind[];
}

const SOURCE = 'an answer of this session';

/** Undefined when no rule could allow it, as far as that can be told without the file system. */
export async function grantRule(request: GateRequest, options: GrantOptions): Promise<Rule | undefined> {
  const { access, mode, tool } = request;
  const rule = (text: string): Rule => ({ decision: 'allow', text, source: SOURCE });
  const name = ruleName(tool);
  switch (access.kind) {
    case 'command': {
      const effects = options.effects ?? (await effectsOf(access.command, access.cwd, options));
      if (effects.length === 0 || effects.includes('dangerous')) return undefined;
      if (mode === 'plan' && effects.some((effect) => effect !== 'read')) return undefined;
      return rule(`${name}(${escapeCommand(access.command.trim())})`);
    }
    case 'read':
    case 'write': {
      const guarded = access.paths.some((path) => lexicallyProtected(path, [options.cwd]) !== undefined);
      if (access.kind === 'write' && (guarded || mode === 'plan')) return undefined;
      const paths = options.paths ?? access.paths;
      if (paths.length === 0) return rule(name);
      const common = commonPath(paths);
      // One rule for several files is one for their folder: not where that is wide or would not name a secret.
      const isWide = !paths.includes(common) && !isWithin(common, options.cwd);
      if (isWide || (paths.length > 1 && paths.some(isSecretFile))) return undefined;
      return rule(`${name}(${pathText(common, options.cwd)})`);
    }
    case 'network': {
      const host = hostOf(access.url);
      if (mode === 'plan') return undefined;
      return rule(host === undefined || host === '' ? name : `${name}(domain:${host})`);
    }
    case 'spawn':
      return mode === 'plan'
        ? undefined
        : rule(/^[\w.-]+$/.test(access.agent) ? `${name}(${access.agent})` : name);
    case 'external':
      return mode === 'plan' ? undefined : rule(name);
    case 'none':
      return rule(name);
  }
}

async function effectsOf(
  command: string,
  cwd: string,
  { home }: GrantOptions,
): Promise<readonly EffectKind[]> {
  const { understandCommand } = await import('./command.ts');
  const { parts } = await understandCommand(command, { cwd, ...(home !== undefined && { home }) });
  return parts.map(({ effect }) => effect);
}

/** `bash` as people write it: `Bash`; `web_fetch`: `WebFetch`. Names of servers stay as they are. */
function ruleName(tool: string): string {
  if (tool.toLowerCase().startsWith('mcp__')) return tool;
  return tool.replace(/(?:^|[_-])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The path itself, or the nearest folder that holds all of several. */
function commonPath(paths: readonly string[]): string {
  let common = paths[0] ?? '/';
  while (!paths.every((path) => isWithin(path, common)) && dirname(common) !== common)
    common = dirname(common);
  return common;
}

function pathText(path: string, cwd: string): string {
  const slashed = (text: string) => escapePath(sep === '/' ? text : text.replaceAll(sep, '/'));
  const way = relative(cwd, path);
  const inside = way !== '' && !isAbsolute(way) && way.split(sep)[0] !== '..';
  if (inside) return `/${slashed(way)}`;
  return `/${path.startsWith('/') ? '' : '/'}${slashed(path)}`;
}

const MODES: Partial<Record<Column, string>> = {
  dangerous: 'bypassPermissions',
  write: 'trustProject',
  spawn: 'trustProject',
};
const LONGEST_RULE = 120;

/** What a person can do about a question or a refusal, such as `--permission-mode acceptEdits`. */
export async function remedy(
  request: GateRequest,
  column: Column,
  liftable: boolean,
  options: GrantOptions,
): Promise<string> {
  const rule = liftable ? await grantRule(request, options) : undefined;
  const text = liftable ? (rule?.text ?? ruleName(request.tool)) : undefined;
  const byFile = column === 'write' && request.access.kind === 'write';
  const mode = byFile ? 'acceptEdits' : MODES[column];
  const ways = [
    ...(text === undefined ? [] : [`--allowedTools ${quoted(text, ruleName(request.tool))}`]),
    ...(mode === undefined ? [] : [`--permission-mode ${mode}`]),
  ];
  return ways.join(' or ');
}

/** As it can be pasted into a shell; what cannot be quoted simply is offered as the whole tool. */
function quoted(text: string, tool: string): string {
  if (text.length > LONGEST_RULE || /[\n\r]/.test(text)) return tool;
  if (!/["$`\\!]/.test(text)) return /^[\w]+$/.test(text) ? text : `"${text}"`;
  return text.includes("'") ? tool : `'${text}'`;
}
