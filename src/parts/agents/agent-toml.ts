// The text of a definition: made anew for an agent that has no file, and changed key by key in one that has, so that what
// the person wrote beside it (comments, order, keys of his own tables) stays as it is.

import type { AgentProfile } from '../../core/agent.ts';
import { CrabError } from '../../core/errors.ts';
import { saidOf } from './scope.ts';

export type Value = string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;

/** A whole file. */
export function tomlOf(profile: AgentProfile): string {
  const { agent, description, prompt, mode, limits } = profile;
  const { model, effort, skills, mcps = {} } = agent;
  const { tools, withoutTools, memory } = saidOf(agent);
  const lines = [
    ...row('description', description),
    ...row('model', model),
    ...row('effort', effort),
    ...row('tools', tools),
    ...row('disallowed_tools', withoutTools),
    ...row('skills', skills),
    ...row('memory', memory ? undefined : false),
    ...row('mode', mode),
    `prompt = ${literal(prompt)}`,
  ];
  const { turns, maxTokens, runUsd } = limits ?? {};
  const bounds = [...row('turns', turns), ...row('max_tokens', maxTokens), ...row('run_usd', runUsd)];
  const tables = [
    ...(bounds.length === 0 ? [] : ['', '[limits]', ...bounds]),
    ...Object.entries(mcps).flatMap(([name, server]) => ['', ...tableOf(['mcps', name], server)]),
  ];
  return `${[...lines, ...tables].join('\n')}\n`;
}

function row(key: string, value: unknown): readonly string[] {
  return value === undefined ? [] : [`${keyOf(key)} = ${literal(value)}`];
}

function tableOf(at: readonly string[], table: Readonly<Record<string, unknown>>): readonly string[] {
  return [
    `[${at.map(keyOf).join('.')}]`,
    ...Object.entries(table).flatMap(([key, value]) => row(key, value)),
  ];
}

function keyOf(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** A JSON text is a basic string of TOML, but for one control that TOML wants escaped. */
function literal(value: unknown): string {
  if (typeof value === 'string' && value.includes('\n') && !value.includes("'''") && !hasControls(value))
    return `'''\n${value}'''`;
  if (typeof value === 'string') return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const rows = Object.entries(value).flatMap(([key, one]) => row(key, one));
    return rows.length === 0 ? '{}' : `{ ${rows.join(', ')} }`;
  }
  return String(value);
}

function hasControls(text: string): boolean {
  return /[^\P{Cc}\n\t]/u.test(text);
}

/** Where one key at the top of the file, or one table, stands: its lines, from and up to. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** `value` undefined takes the key away. */
export function withKey(text: string, key: string, value: Value | undefined): string {
  const lines = text.split('\n');
  const top = firstTable(lines);
  const span = spanOfKey(lines, key, top);
  const made = value === undefined ? [] : `${keyOf(key)} = ${literal(value)}`.split('\n');
  if (span !== undefined) return lines.toSpliced(span.from, span.to - span.from, ...made).join('\n');
  if (made.length === 0) return text;
  let at = top;
  // Remarks above a table are about the table.
  while (at > 0 && /^\s*(?:#.*)?$/.test(lines[at - 1] ?? '')) at--;
  return lines.toSpliced(at, 0, ...made).join('\n');
}

/** The table `[PATH]` and those below it; `table` undefined takes them away. */
export function withTable(
  text: string,
  path: readonly string[],
  table: Readonly<Record<string, unknown>> | undefined,
): string {
  const lines = text.split('\n');
  const name = path.map(keyOf).join('.');
  const isOwn = (line: string) => {
    const header = headerOf(line);
    return header !== undefined && (header === name || header.startsWith(`${name}.`));
  };
  const kept: string[] = [];
  let inside = false;
  let isString: string | undefined;
  for (const line of lines) {
    if (isString === undefined && headerOf(line) !== undefined) inside = isOwn(line);
    isString = stringAfter(line, isString);
    if (!inside) kept.push(line);
  }
  const rest = kept.join('\n').trimEnd();
  const added = table === undefined ? '' : `\n\n${tableOf(path, table).join('\n')}`;
  return `${rest}${added}\n`.replace(/^\n+/, '');
}

function headerOf(line: string): string | undefined {
  const [, name] = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/.exec(line) ?? [];
  return name?.replace(/\s*\.\s*/g, '.');
}

function firstTable(lines: readonly string[]): number {
  let isString: string | undefined;
  let open = 0;
  for (const [at, line] of lines.entries()) {
    if (isString === undefined && open === 0 && headerOf(line) !== undefined) return at;
    if (isString === undefined) open = Math.max(0, open + depthOf(line));
    isString = stringAfter(line, isString);
  }
  return lines.length;
}

function spanOfKey(lines: readonly string[], key: string, top: number): Span | undefined {
  const sets = new RegExp(`^\\s*["']?${key.replace(/[^\w-]/g, '\\$&')}["']?\\s*=`);
  let isString: string | undefined;
  for (let at = 0; at < top; at++) {
    const line = lines[at] ?? '';
    if (isString === undefined && sets.test(line)) {
      let to = at + 1;
      let open = depthOf(line);
      let within = stringAfter(line, undefined);
      while (to < top && (within !== undefined || open > 0)) {
        if (within === undefined) open += depthOf(lines[to] ?? '');
        within = stringAfter(lines[to] ?? '', within);
        to++;
      }
      return { from: at, to };
    }
    isString = stringAfter(line, isString);
  }
  return undefined;
}

/** The mark of the string of several lines that is open behind this line. */
function stringAfter(line: string, open: string | undefined): string | undefined {
  let mark = open;
  for (const [found] of line.matchAll(/"""|'''/g)) {
    if (mark === undefined) mark = found;
    else if (mark === found) mark = undefined;
  }
  return mark;
}

function depthOf(line: string): number {
  const bare = line.replace(/"(?:\\.|[^"\\])*"|'[^']*'|#.*$/g, '');
  return (bare.match(/\[/g)?.length ?? 0) - (bare.match(/\]/g)?.length ?? 0);
}

/** Keys and values that came as JSON. Throws `CrabError` (`usage`) for what no TOML can hold. */
export function withValues(text: string, values: Readonly<Record<string, unknown>>): string {
  let changed = text;
  for (const [key, value] of Object.entries(values)) {
    if (key === 'name') continue;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      changed = withTables(changed, key, value as Readonly<Record<string, unknown>>);
    else if (value === null) changed = withKey(changed, key, undefined);
    else if (['string', 'number', 'boolean'].includes(typeof value) || Array.isArray(value))
      changed = withKey(changed, key, value as Value);
    else throw new CrabError('usage', `${key} cannot be written as TOML.`);
  }
  return changed;
}

/** A table of tables, as the servers are, is written as tables of their own. */
function withTables(text: string, key: string, table: Readonly<Record<string, unknown>>): string {
  const isNested = Object.values(table).every(
    (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
  );
  if (!isNested) return withTable(text, [key], table);
  let changed = withTable(text, [key], undefined);
  for (const [name, one] of Object.entries(table))
    changed = withTable(changed, [key, name], one as Readonly<Record<string, unknown>>);
  return changed;
}
