// One ignore file: the gitignore format (git-scm.com/docs/gitignore), read the way ripgrep reads it, so that both ways
// of searching leave out the same files.

import { compileGlob, type Glob } from './glob.ts';

export type IgnoreVerdict = 'ignore' | 'keep' | undefined;

/** Rules of one file that are read. */
const MAX_RULES = 5000;

/** `path` is relative to the folder that the rules are for. The last rule that matches decides. */
export type IgnoreRules = (path: string, isFolder: boolean) => IgnoreVerdict;

interface Rule {
  readonly keeps: boolean;
  readonly foldersOnly: boolean;
  /** Matches the last name only. */
  readonly byName: boolean;
  readonly matches: Glob;
}

/** Undefined when the text holds no rule. */
export function parseIgnoreRules(text: string): IgnoreRules | undefined {
  const rules: Rule[] = [];
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const rule = parseRule(line);
    if (rule !== undefined) rules.push(rule);
    if (rules.length === MAX_RULES) break;
  }
  if (rules.length === 0) return undefined;
  rules.reverse();
  return (path, isFolder) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const decisive = rules.find(
      (rule) => (isFolder || !rule.foldersOnly) && rule.matches(rule.byName ? name : path),
    );
    return decisive && (decisive.keeps ? 'keep' : 'ignore');
  };
}

function parseRule(line: string): Rule | undefined {
  if (line.startsWith('#')) return undefined;
  let pattern = line.endsWith('\\ ') ? line : line.trimEnd();
  const keeps = pattern.startsWith('!');
  if (keeps) pattern = pattern.slice(1);
  if (pattern.startsWith('\\!') || pattern.startsWith('\\#')) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith('/');
  if (foldersOnly) pattern = pattern.slice(0, -1);
  if (pattern === '') return undefined;
  const byName = !pattern.includes('/');
  return { keeps, foldersOnly, byName, matches: compileGlob(pattern) };
}
