// From flags to what a platform is opened with: the declaration, resolved here at the edge and nowhere else.

import { promises as fs } from 'node:fs';
import { resolve } from 'node:path';
import { type Agent, DEFAULT_AGENT, type Declaration } from '../core/agent.ts';
import type { SessionChoice } from '../core/conversation.ts';
import { CrabError } from '../core/errors.ts';
import type { Files } from '../core/host.ts';
import { ULID_PATTERN } from '../core/ids.ts';
import type { Effort } from '../core/model.ts';
import type { OpenRequest } from '../core/platform.ts';
import type { JsonSchema } from '../core/schema.ts';
import type { Settings } from '../core/settings.ts';
import { schemaFault } from '../engine/schema.ts';
import { asAgent } from '../policy/agents.ts';
import { contextLimits } from '../policy/compaction.ts';
import { describeSurroundings } from '../policy/environment.ts';
import { readGitHead } from '../policy/git.ts';
import { type Found, findInstructions } from '../policy/instructions.ts';
import { findProfile } from '../runtime/peers.ts';
import { agentsFor } from './agents.ts';
import { type Arguments, conflict, numberOf } from './arguments.ts';
import { fileText } from './file-text.ts';
import { crabHome, type Environment, workingFolder } from './home.ts';
import { policyOf } from './policy.ts';
import type { Project } from './project.ts';
import { sandboxPolicy } from './sandbox-policy.ts';

export interface RequestOptions {
  readonly args: Arguments;
  readonly env: Environment;
  readonly settings: Settings;
  readonly files: Files;
  readonly now: number;
  /** Absolute; in place of the working folder. */
  readonly cwd?: string;
  /** Whether somebody can answer questions. */
  readonly canAsk: boolean;
  /** Exchanges allowed where no flag says otherwise. */
  readonly defaultTurns?: number;
  /** Asks whether a project's own settings may be obeyed; undefined leaves it open. */
  readonly confirmTrust?: ((project: Project) => Promise<boolean | undefined>) | undefined;
  warn(text: string): void;
}

export async function openRequest(options: RequestOptions): Promise<OpenRequest> {
  const { args } = options;
  const cwd = options.cwd ?? workingFolder();
  const session = sessionChoice(args);
  const name = args.value('name');
  const declaration = await declare(options, cwd);
  return {
    agent: declaration.agent.name,
    cwd,
    session,
    ...(name !== undefined && { name }),
    declaration,
    commands: [],
  };
}

export function sessionChoice(args: Arguments): SessionChoice {
  conflict(args, ['continue', 'resume', 'session', 'session-id', 'no-session']);
  const fork = args.has('fork') && { fork: true };
  if (fork && !args.has('continue') && !args.has('resume') && !args.has('session'))
    throw new CrabError('usage', '--fork needs --continue, --resume or --session: it says what to copy.');
  if (args.has('continue')) return { kind: 'continue', ...fork };
  if (args.has('no-session')) return { kind: 'memory' };
  const resume = args.value('resume');
  if (resume === '')
    throw new CrabError('usage', '--resume needs an id here: there is nobody to choose from a list.');
  if (resume !== undefined) return { kind: 'resume', id: resume, ...fork };
  const file = args.value('session');
  if (file !== undefined)
    return /[/\\]|\.jsonl$/.test(file)
      ? { kind: 'file', path: resolve(file), ...fork }
      : { kind: 'resume', id: file, ...fork };
  const id = args.value('session-id');
  if (id === undefined) return { kind: 'new' };
  if (!ULID_PATTERN.test(id))
    throw new CrabError('session-id-invalid', `--session-id ${id} is not a ULID: 26 letters and digits.`);
  return { kind: 'new', id };
}

async function declare(options: RequestOptions, cwd: string): Promise<Declaration> {
  const { args, env, settings, canAsk, warn } = options;
  const policy = await policyOf({ args, env, settings, cwd, confirm: options.confirmTrust, warn });
  const directories = [...(await extraDirectories(args)), ...policy.directories];
  const tools = chosenTools(options);
  const outputSchema = await schemaOf(args);
  const trusted = policy.project.trusted === true;
  const [written, limits] = [await instruct(options, cwd, directories), limitsOf(options)];
  const instructions = await withMemory(written, options, { cwd, trusted });
  const agents = await agentsFor({ env, cwd, project: policy.project, warn });
  const declaration: Declaration = {
    agent: { ...agentOf(options), ...(tools !== undefined && { tools }) },
    ...(tools !== undefined && { onlyTools: tools }),
    ...(agents.length > 0 && { agents }),
    mode: policy.mode,
    rules: policy.rules,
    directories,
    sandbox: sandboxPolicy(options),
    withoutTools: settings.tools?.without ?? [],
    limits,
    instructions,
    ...(trusted && { trusted }),
    canAsk,
    ...(outputSchema !== undefined && { outputSchema }),
  };
  const name = args.value('agent') ?? DEFAULT_AGENT;
  const isOwn = agents.some(({ agent }) => agent.name === name);
  if (name === DEFAULT_AGENT && !isOwn) return declaration;
  const profile = findProfile(declaration, name);
  for (const note of profile.notes ?? []) warn(`${profile.agent.name}: ${note}`);
  return asAgent(declaration, profile);
}

function chosenTools({ args, settings }: RequestOptions): readonly string[] | undefined {
  if (!args.has('tools')) return settings.tools?.only;
  return args.values('tools').flatMap((names) => names.split(/[\s,]+/).filter((name) => name !== ''));
}

/** What a flag says is chosen; what the settings say holds where the session says nothing else. */
function agentOf({ args, settings }: RequestOptions): Agent {
  const model = args.value('model');
  const effort = args.value('effort') as Effort | undefined;
  const planModel = args.value('plan-model') ?? settings.planModel;
  const { smallModel } = settings;
  const fallbackModels = args.has('fallback-model')
    ? (args.value('fallback-model') ?? '').split(',').map((name) => name.trim())
    : settings.fallbackModels;
  if (fallbackModels?.includes(''))
    throw new CrabError('usage', '--fallback-model has an empty name in its list.');
  return {
    name: DEFAULT_AGENT,
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    defaults: {
      ...(settings.model !== undefined && { model: settings.model }),
      ...(settings.effort !== undefined && { effort: settings.effort }),
    },
    ...(fallbackModels !== undefined && { fallbackModels }),
    ...(planModel !== undefined && { planModel }),
    ...(smallModel !== undefined && { smallModel }),
    ...((args.has('fast') || settings.fast === true) && { fast: true }),
  };
}

/** Exchanges of a task that is given to another agent. */
const DELEGATED_TURNS = 100;

function limitsOf({ args, settings, defaultTurns }: RequestOptions): Declaration['limits'] {
  const turns = numberOf(args, 'max-turns', { least: 1, integer: true }) ?? defaultTurns;
  const runUsd = numberOf(args, 'max-budget-usd', { least: 0, integer: false });
  const maxTokens = numberOf(args, 'max-output-tokens', { least: 1, integer: true }) ?? settings.maxTokens;
  return {
    ...(turns !== undefined && { turns }),
    delegatedTurns: numberOf(args, 'max-turns', { least: 1, integer: true }) ?? DELEGATED_TURNS,
    budget: { ...settings.budget, ...(runUsd !== undefined && { runUsd }) },
    ...(maxTokens !== undefined && { maxTokens }),
    context: contextLimits({
      ...settings.policy,
      ...(args.has('no-auto-compact') && { autoCompact: false }),
    }),
  };
}

async function extraDirectories(args: Arguments): Promise<readonly string[]> {
  const paths = args.values('add-dir').map((path) => resolve(path));
  for (const path of paths) {
    const info = await fs.stat(path).catch(() => undefined);
    if (info?.isDirectory() !== true) throw new CrabError('usage', `--add-dir ${path} is not a folder.`);
  }
  return paths;
}

async function schemaOf(args: Arguments): Promise<JsonSchema | undefined> {
  const given = args.value('json-schema');
  if (given === undefined) return undefined;
  const text = /^\s*[{[]/.test(given) ? given : await fileText('--json-schema', given.replace(/^@/, ''));
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (cause) {
    throw new CrabError('usage', `--json-schema is not valid JSON: ${String(cause)}.`, { cause });
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new CrabError('usage', '--json-schema must be a JSON object.');
  const fault = schemaFault(schema);
  if (fault !== undefined) throw new CrabError('usage', `--json-schema is no JSON Schema: ${fault}.`);
  return schema as JsonSchema;
}

async function instruct(
  { args, env, files, now, warn }: RequestOptions,
  cwd: string,
  directories: readonly string[],
): Promise<Declaration['instructions']> {
  conflict(args, ['system-prompt', 'system-prompt-file']);
  const systemFile = args.value('system-prompt-file');
  const system =
    systemFile === undefined
      ? args.value('system-prompt')
      : await fileText('--system-prompt-file', systemFile);
  const appended = await Promise.all(
    args.values('append-system-prompt-file').map((path) => fileText('--append-system-prompt-file', path)),
  );
  const [found, git] = await Promise.all([
    args.has('no-context-files') ? NO_FILES : findInstructions({ files, cwd, home: crabHome(env) }),
    readGitHead(files, cwd),
  ]);
  for (const reason of found.skipped) warn(`Instructions passed over: ${reason.replace(/\.$/, '')}.`);
  const added = [...args.values('append-system-prompt'), ...appended];
  const base = system ?? found.system;
  return {
    given: system !== undefined || added.length > 0,
    ...(base !== undefined && { system: base }),
    append: [...found.append, ...added],
    files: found.files,
    environment: describeSurroundings({ cwd, platform: process.platform, now, git, directories }),
  };
}

async function withMemory(
  written: Declaration['instructions'],
  { args, env, settings, now, warn }: RequestOptions,
  where: { readonly cwd: string; readonly trusted: boolean },
): Promise<Declaration['instructions']> {
  if (settings.policy.memoryPrompt !== true) return written;
  const { memoryPrompt } = await import('./memory-prompt.ts');
  const list = await memoryPrompt({ env, now, warn, agent: args.value('agent') ?? DEFAULT_AGENT, ...where });
  return list === undefined ? written : { ...written, append: [...written.append, list] };
}

const NO_FILES: Found = { append: [], files: [], skipped: [] };
