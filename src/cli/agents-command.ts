// `crab agents`: the agents as what they are, files that people own, copy and pass on.

import { promises as fs } from 'node:fs';
import { basename, join } from 'node:path';
import type { AgentProfile } from '../core/agent.ts';
import { asCrabError, CrabError, EXIT } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';
import type { Tool } from '../core/tool.ts';
import { visibleLine } from '../faces/visible.ts';
import {
  fileOf,
  readAgents,
  removeAgent,
  requireName,
  textOf,
  writeAgent,
} from '../parts/agents/agent-files.ts';
import { tomlOf, withKey } from '../parts/agents/agent-toml.ts';
import { type Definition, readDefinition } from '../parts/agents/definition.ts';
import { withoutKey } from '../parts/agents/front-matter.ts';
import { BUILTIN_AGENTS, findProfile } from '../runtime/peers.ts';
import { unknownTools } from '../runtime/scope.ts';
import { agentFolders, agentsFolder } from './agents.ts';
import { allTools } from './all-tools.ts';
import { type Environment, workingFolder } from './home.ts';
import { projectOf } from './project.ts';
import { sinkOf } from './sink.ts';
import { chosenCommand, subcommandArguments, subcommandUsage } from './subcommand.ts';

const HELP = `Usage: crab agents COMMAND

  list                    the agents there are, and where each comes from
  show NAME               one agent in full
  new NAME                a file to begin with
  fork NAME NEW           a copy under another name, of any agent, those of Crab included
  import FILE|DIR...      takes over agents of other tools: Markdown with a head, as in .claude/agents
  delete NAME             takes away the file of an agent of your own

  --json                  list, show: JSON
  --force                 new, fork, import: replace an agent of that name

Agents are files in ~/.crab/agents, and in .crab/agents of a project that you trust. Speak with one by
\`crab --agent NAME\`; in a conversation \`@NAME ...\` asks it as a guest, and others give it tasks.
`;

const FLAGS = {
  json: { type: 'boolean' },
  force: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

interface Call {
  readonly words: readonly string[];
  readonly json: boolean;
  readonly force: boolean;
  readonly env: Environment;
  readonly stdout: Sink;
  warn(text: string): void;
}

export async function agentsCommand(argv: readonly string[], env: Environment): Promise<number> {
  const asked = subcommandArguments('agents', argv, FLAGS);
  const { values } = asked;
  const stdout = sinkOf(process.stdout, env);
  const stderr = sinkOf(process.stderr, env);
  const chosen = await chosenCommand({ name: 'agents', commands: COMMANDS, help: HELP }, asked, stdout);
  if (typeof chosen === 'number') return chosen;
  const { run, words } = chosen;
  const warn = (text: string) => void stderr.write(`crab: ${visibleLine(text, 1000)}\n`).catch(() => {});
  await run({ words, json: values.json === true, force: values.force === true, env, stdout, warn });
  return EXIT.success;
}

const COMMANDS: Readonly<Record<string, (call: Call) => Promise<void>>> = {
  list,
  show,
  new: create,
  fork,
  import: take,
  delete: remove,
};

/** Those with files, and what was wrong with others told. */
async function definitionsOf({ env, warn }: Call): Promise<readonly Definition[]> {
  const cwd = workingFolder();
  const project = await projectOf(cwd, env);
  const { definitions, faults } = await readAgents(agentFolders({ env, cwd, project }));
  for (const fault of faults) warn(fault);
  return definitions;
}

/** What the file of an agent asks for and the agent does not get. */
async function tellNotes(rows: readonly Row[], { env, warn }: Call): Promise<void> {
  const tools = await allTools(env);
  for (const { profile, from } of rows) {
    for (const note of profile.notes ?? []) warn(`${from}: ${note}`);
    for (const name of unknownTools(profile.agent, tools)) warn(`${from}: there is no tool ${name}.`);
  }
}

interface Row {
  readonly profile: AgentProfile;
  readonly from: string;
}

async function rowsOf(call: Call): Promise<readonly Row[]> {
  const own = await definitionsOf(call);
  const names = new Set(own.map(({ profile }) => profile.agent.name));
  return [
    ...own.map(({ profile, path }) => ({ profile, from: path })),
    ...BUILTIN_AGENTS.filter(({ agent }) => !names.has(agent.name)).map((profile) => ({
      profile,
      from: 'builtin',
    })),
  ];
}

function factsOf({ profile, from }: Row): object {
  const { agent, ...rest } = profile;
  const { mcps = {}, ...plain } = agent;
  // What a server is given may be a secret.
  return { ...plain, ...rest, mcps: Object.keys(mcps), from };
}

async function list(call: Call): Promise<void> {
  if (call.words.length > 0) throw subcommandUsage('agents', '`crab agents list` takes no name.');
  const rows = await rowsOf(call);
  await tellNotes(rows, call);
  if (call.json) return call.stdout.write(`${JSON.stringify(rows.map(factsOf), null, 2)}\n`);
  const width = Math.max(...rows.map(({ profile }) => profile.agent.name.length));
  const lines = rows.map(
    ({ profile, from }) =>
      `${profile.agent.name.padEnd(width)}  ${visibleLine(profile.description, 80)}  (${visibleLine(from, 200)})\n`,
  );
  await call.stdout.write(lines.join(''));
}

async function show(call: Call): Promise<void> {
  const name = oneName(call, 'show');
  const row = await rowOf(call, name);
  await tellNotes([row], call);
  await call.stdout.write(
    call.json ? `${JSON.stringify(factsOf(row), null, 2)}\n` : `# ${row.from}\n${textOfRow(row)}`,
  );
}

async function rowOf(call: Call, name: string): Promise<Row> {
  const rows = await rowsOf(call);
  const profile = findProfile({ agents: rows.map((row) => row.profile) }, name);
  const row = rows.find((one) => one.profile === profile);
  return row ?? { profile, from: 'builtin' };
}

function textOfRow({ profile, from }: Row): string {
  return from === 'builtin' ? tomlOf(profile) : textOf(from);
}

async function create(call: Call): Promise<void> {
  const name = oneName(call, 'new');
  const profile = { agent: { name }, description: 'what it is for, in a line', prompt: `You are ${name}.\n` };
  const comment = `# tools = ["read", "grep"]   what it may use; leave it out for everything\n# model = "PROVIDER/ID"\n`;
  await put(call, `${name}.toml`, comment + tomlOf(profile));
}

async function fork(call: Call): Promise<void> {
  const [name, next, ...more] = call.words;
  if (name === undefined || next === undefined || more.length > 0)
    throw subcommandUsage('agents', '`crab agents fork` takes two names: of what there is, and of the copy.');
  const row = await rowOf(call, name);
  const isMarkdown = row.from.endsWith('.md');
  // The file's name is the agent's, so that a copy is an agent of its own.
  const text = isMarkdown ? withoutKey(textOfRow(row), 'name') : withKey(textOfRow(row), 'name', undefined);
  await put(call, `${next}${isMarkdown ? '.md' : '.toml'}`, text);
}

async function take(call: Call): Promise<void> {
  if (call.words.length === 0)
    throw subcommandUsage('agents', '`crab agents import` takes files or folders.');
  const tools = await allTools(call.env);
  const paths = await importable(call.words);
  let failures = 0;
  for (const path of paths)
    try {
      await takeOne(path, tools, call);
    } catch (error) {
      // One that is wrong costs nobody the others.
      failures++;
      call.warn(asCrabError(error).message);
    }
  if (failures > 0)
    throw new CrabError('agent-invalid', `${failures} of ${paths.length} agents were not taken over.`, {
      hint: 'Mend the files, or use --force for those that are there already.',
    });
}

async function takeOne(path: string, tools: readonly Tool[], call: Call): Promise<void> {
  const { profile } = await readDefinition(path, textOf(path));
  for (const note of profile.notes ?? []) call.warn(`${path}: ${note}`);
  const { agent } = profile;
  const unknown = unknownTools(agent, tools);
  for (const name of unknown) call.warn(`${path}: there is no tool ${name}; it is left out.`);
  const known = agent.tools?.filter((name) => !unknown.includes(name));
  // One that could use nothing that is known here is left with `delegate`, and not with everything.
  const taken = { ...profile, agent: { ...agent, ...(known !== undefined && { tools: known }) } };
  await put(call, `${agent.name}.toml`, tomlOf(taken));
}

async function importable(words: readonly string[]): Promise<readonly string[]> {
  const all: string[] = [];
  for (const word of words) {
    const info = await fs.stat(word).catch(() => undefined);
    if (info === undefined) throw new CrabError('usage', `${word} is not there.`);
    if (!info.isDirectory()) all.push(word);
    else
      for (const name of (await fs.readdir(word)).toSorted())
        if (/\.(?:md|toml)$/.test(name) && name !== 'README.md') all.push(join(word, name));
  }
  return all;
}

async function put({ env, force, stdout }: Call, file: string, text: string): Promise<void> {
  const folder = agentsFolder(env);
  const name = basename(file).replace(/\.(?:toml|md)$/, '');
  requireName(name);
  await readDefinition(join(folder, file), text);
  const there = await fileOf(folder, name);
  if (there !== undefined && !force)
    throw new CrabError('usage', `${there} is there already.`, { hint: 'Use --force to replace it.' });
  const path = writeAgent(folder, file, text, there);
  await stdout.write(`${path}\n`);
}

async function remove(call: Call): Promise<void> {
  const name = oneName(call, 'delete');
  const path = await fileOf(agentsFolder(call.env), name);
  if (path === undefined)
    throw new CrabError('agent-unknown', `There is no agent ${name} in ${agentsFolder(call.env)}.`);
  removeAgent(path);
  await call.stdout.write(`${path} is gone.\n`);
}

function oneName({ words }: Call, command: string): string {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0)
    throw subcommandUsage('agents', `\`crab agents ${command}\` takes one name.`);
  requireName(name);
  return name;
}
