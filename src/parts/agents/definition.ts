// An agent as a file that people own, read and pass on: `NAME.toml`, or `NAME.md` with a head and the prompt below it, as
// other agents' tools have them. The two say the same things; what is wrong is told with file and line.

import type { AgentLimits, AgentProfile } from '../../core/agent.ts';
import { CrabError, messageOf } from '../../core/errors.ts';
import type { Effort } from '../../core/model.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../core/permission.ts';
import type { JsonObject } from '../../core/schema.ts';
import { HeadFault, type Plain, readHead } from './front-matter.ts';
import { scopeOf } from './scope.ts';
import { granted, permitted, switched, type ToolWords, takenAway } from './tool-words.ts';

/** An agent, and the file that it was read from. */
export interface Definition {
  readonly profile: AgentProfile;
  readonly path: string;
  readonly text: string;
}

export const NAME_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

const EFFORTS: readonly Effort[] = ['off', 'low', 'medium', 'high', 'max'];

/** Keys of other tools that say nothing about what the agent does. */
const FOREIGN = new Set([
  'color',
  'display_name',
  'source',
  'version',
  'license',
  'author',
  'tags',
  'category',
  'metadata',
]);

/** Claude Code's words for its own models. */
const FOREIGN_MODELS = new Set(['sonnet', 'opus', 'haiku']);

/** Throws `CrabError` (`agent-invalid`) that names file and line. */
export async function readDefinition(path: string, text: string): Promise<Definition> {
  const file = path.replace(/^.*[/\\]/, '');
  const [, stem = '', ending] = /^(.*)\.(toml|md)$/.exec(file) ?? [];
  if (ending === undefined) throw invalid(path, 1, 'an agent is a file NAME.toml or NAME.md');
  const source = ending === 'md' ? fromMarkdown(path, text) : await fromToml(path, text);
  return { path, text, profile: new Reading(path, source).profile(stem) };
}

/** What a file says, in one shape. */
interface Source {
  readonly values: ReadonlyMap<string, { readonly value: unknown; readonly line: number }>;
  /** The prompt of a Markdown file. */
  readonly body?: string;
}

function fromMarkdown(path: string, text: string): Source {
  try {
    const { values, body } = readHead(text);
    return { values, body };
  } catch (error) {
    if (error instanceof HeadFault) throw invalid(path, error.line, error.message);
    throw error;
  }
}

async function fromToml(path: string, text: string): Promise<Source> {
  const { parse, TomlError } = await import('smol-toml');
  let table: Readonly<Record<string, unknown>>;
  try {
    table = parse(text);
  } catch (error) {
    const line = error instanceof TomlError ? error.line : 1;
    const [what = ''] = messageOf(error)
      .replace(/^Invalid TOML document: /, '')
      .split('\n');
    throw invalid(path, line, what);
  }
  const lines = text.split(/\r?\n/);
  const lineOf = (key: string) => {
    const at = lines.findIndex((line) => new RegExp(`^\\s*\\[*["']?${key}["']?[\\s.=\\]]`).test(line));
    return at < 0 ? 1 : at + 1;
  };
  return {
    values: new Map(Object.entries(table).map(([key, value]) => [key, { value, line: lineOf(key) }])),
  };
}

class Reading {
  readonly #path: string;
  readonly #source: Source;
  readonly #notes: string[] = [];
  readonly #read = new Set<string>();

  constructor(path: string, source: Source) {
    this.#path = path;
    this.#source = source;
  }

  profile(stem: string): AgentProfile {
    const name = this.#text('name') ?? stem;
    if (!NAME_PATTERN.test(name))
      throw this.#wrong('name', 'is 1 to 64 letters, digits, dots, lines and underscores');
    const model = this.#model();
    const effort = this.#choice(['effort', 'thinking', 'reasoning_effort'], EFFORTS);
    const mode = this.#mode();
    const skills = this.#skills();
    const memory = this.#flag('memory') ?? true;
    const mcps = this.#servers('mcps') ?? this.#servers('mcpServers');
    const scope = scopeOf({ ...this.#tools(), skills, memory, mcps: Object.keys(mcps ?? {}) });
    const limits = this.#limits();
    const description = this.#text('description') ?? '';
    const prompt = this.#source.body ?? this.#text('prompt') ?? '';
    this.#readRest();
    return {
      agent: {
        name,
        ...(model !== undefined && { model }),
        ...(effort !== undefined && { effort }),
        ...scope,
        ...(skills.length > 0 && { skills }),
        ...(mcps !== undefined && { mcps }),
      },
      description,
      prompt,
      ...(mode !== undefined && { mode }),
      ...(limits !== undefined && { limits }),
      ...(this.#notes.length > 0 && { notes: this.#notes }),
    };
  }

  /** What other tools write is read as it is. */
  get #isForeign(): boolean {
    return this.#source.body !== undefined;
  }

  #value(key: string): unknown {
    this.#read.add(key);
    return this.#source.values.get(key)?.value;
  }

  #wrong(key: string, what: string): CrabError {
    return invalid(this.#path, this.#source.values.get(key)?.line ?? 1, `${key} ${what}`);
  }

  #text(key: string): string | undefined {
    const value = this.#value(key);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#wrong(key, 'must be a text');
  }

  #list(key: string): readonly string[] | undefined {
    const value = this.#value(key) as Plain | undefined;
    if (value === undefined) return undefined;
    // Other tools write a list as one line.
    if (typeof value === 'string') return value.split(/[\s,]+(?![^(]*\))/).filter((one) => one !== '');
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
    throw this.#wrong(key, 'must be a list of names');
  }

  #tools(): Pick<ToolWords, 'tools' | 'withoutTools'> {
    const tools = this.#value('tools');
    const isTable = typeof tools === 'object' && tools !== null && !Array.isArray(tools);
    const all = [
      isTable ? switched({ ...tools }) : granted('tools', this.#list('tools') ?? []),
      ...['disallowed_tools', 'disallowedTools'].map((key) => takenAway(key, this.#list(key) ?? [])),
    ];
    const permission = this.#isForeign ? this.#value('permission') : undefined;
    if (permission !== undefined) all.push(permitted('permission', permission));
    this.#notes.push(...all.flatMap(({ notes }) => notes));
    return {
      tools: all.flatMap((words) => words.tools),
      withoutTools: [...new Set(all.flatMap((words) => words.withoutTools))],
    };
  }

  #skills(): readonly string[] {
    const skills = this.#list('skills') ?? [];
    if (skills.length > 0)
      this.#notes.push(`skills (${skills.join(', ')}) are left out: this version of Crab loads none.`);
    return skills;
  }

  #flag(key: string): boolean | undefined {
    const value = this.#value(key);
    if (value === undefined || typeof value === 'boolean') return value;
    if (value === 'true' || value === 'false') return value === 'true';
    // Where others keep their memory is no matter here.
    if (typeof value === 'string') return true;
    throw this.#wrong(key, 'must be true or false');
  }

  #table(key: string): Readonly<Record<string, unknown>> | undefined {
    const value = this.#value(key);
    if (value === undefined) return undefined;
    // The parser's tables have no prototype, which nobody expects of plain data.
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return structuredClone({ ...value });
    throw this.#wrong(key, 'must be a table');
  }

  /** By value, which takes a TOML file: elsewhere there are names of what is defined in another place. */
  #servers(key: string): Readonly<Record<string, JsonObject>> | undefined {
    if (this.#isForeign) {
      if (this.#value(key) !== undefined)
        this.#notes.push(`${key} is left out: servers are given by value, in a TOML file.`);
      return undefined;
    }
    const servers = this.#table(key);
    for (const [name, server] of Object.entries(servers ?? {}))
      if (typeof server !== 'object' || server === null || Array.isArray(server))
        throw this.#wrong(key, `has ${name}, which must be a table`);
    const names = Object.keys(servers ?? {});
    if (names.length > 0)
      this.#notes.push(`${key} (${names.join(', ')}) are left out: this version of Crab starts no servers.`);
    return servers as Readonly<Record<string, JsonObject>> | undefined;
  }

  #model(): string | undefined {
    const model = this.#text('model');
    if (model === undefined || model === 'inherit' || model === '') return undefined;
    if (!this.#isForeign || !FOREIGN_MODELS.has(model)) return model;
    this.#notes.push(`model ${model} is left out; name one as PROVIDER/ID.`);
    return undefined;
  }

  /** Absent where another tool has a word that there is not here. */
  #choice<T extends string>(keys: readonly string[], choices: readonly T[]): T | undefined {
    for (const key of keys) {
      const value = this.#value(key);
      if (value === undefined) continue;
      const found = choices.find((one) => one === value);
      if (found !== undefined) return found;
      if (!this.#isForeign) throw this.#wrong(key, `must be one of ${choices.join(', ')}`);
      this.#notes.push(`${key} ${String(value)} is left out; there is ${choices.join(', ')}.`);
    }
    return undefined;
  }

  #mode(): PermissionMode | undefined {
    const given = this.#value('mode');
    // opencode's word for where an agent may be turned to, which is no matter here: everybody can be.
    const isPlace = this.#isForeign && ['primary', 'subagent', 'all'].some((one) => one === given);
    const isMode = PERMISSION_MODES.some((one) => one === given);
    // A mistyped one would leave the agent freer than somebody meant.
    if (given !== undefined && !isPlace && !isMode)
      throw this.#wrong('mode', `must be one of ${PERMISSION_MODES.join(', ')}`);
    return this.#choice(isPlace ? ['permissionMode'] : ['mode', 'permissionMode'], PERMISSION_MODES);
  }

  #limits(): AgentLimits | undefined {
    const table = this.#table('limits') ?? {};
    const [given] = ['maxTurns', 'max_turns', 'steps'].flatMap((key) => this.#value(key) ?? []);
    const turns = this.#number('turns', table['turns'] ?? given);
    const maxTokens = this.#number('max_tokens', table['max_tokens']);
    const runUsd = this.#number('run_usd', table['run_usd']);
    for (const key of Object.keys(table))
      if (!['turns', 'max_tokens', 'run_usd'].includes(key))
        throw this.#wrong('limits', `has ${JSON.stringify(key)}; there is turns, max_tokens, run_usd`);
    if (turns === undefined && maxTokens === undefined && runUsd === undefined) return undefined;
    return {
      ...(turns !== undefined && { turns }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(runUsd !== undefined && { runUsd }),
    };
  }

  #number(key: string, value: unknown): number | undefined {
    if (value === undefined) return undefined;
    const number = Number(value);
    const isWhole = key === 'run_usd' || Number.isSafeInteger(number);
    if (Number.isFinite(number) && number > 0 && isWhole) return number;
    throw this.#wrong('limits', `has ${key} = ${value}, which is no number above 0`);
  }

  /** In a file of our own a mistyped key would leave the agent freer than somebody meant. */
  #readRest(): void {
    for (const [key, { line }] of this.#source.values) {
      if (this.#read.has(key) || FOREIGN.has(key)) continue;
      if (!this.#isForeign) throw invalid(this.#path, line, `there is no setting ${JSON.stringify(key)}`);
      this.#notes.push(`${key} is not known here and changes nothing.`);
    }
  }
}

export function invalid(path: string, line: number, what: string): CrabError {
  return new CrabError('agent-invalid', `${path}:${line}: ${what.replace(/\.$/, '')}.`);
}
