// `crab trust`: which projects may have a say in what is allowed in them.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';
import { visibleLine } from '../faces/visible.ts';
import { decisionsFile, readDecisions, type Trust } from '../parts/config/decisions.ts';
import { crabHome, type Environment, workingFolder } from './home.ts';
import { wishesOf } from './policy.ts';
import { projectOf, trustOf } from './project.ts';
import { sinkOf } from './sink.ts';
import { subcommandArguments, subcommandUsage } from './subcommand.ts';

const HELP = `Usage: crab trust [DIR]

  Trusts the project in DIR (default: this folder) and everything below it: its own settings (.crab/config.toml,
  .crab/config.local.toml) may then allow things, add folders and choose the permission mode. Without trust they can
  only forbid and ask. What you decide is kept in $CRAB_HOME/projects.toml.

  --revoke           trust it no longer
  --show             say what its settings ask for and whether it is trusted; change nothing
  --list             list what you decided so far
`;

const FLAGS = {
  revoke: { type: 'boolean' },
  show: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export async function trustCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { values, positionals } = subcommandArguments('trust', argv, FLAGS);
  const stdout = sinkOf(process.stdout, env);
  const chosen = [values.revoke, values.show, values.list].filter((one) => one === true);
  if (chosen.length > 1) throw subcommandUsage('trust', '--revoke, --show and --list exclude each other.');
  if (positionals.length > 1) throw subcommandUsage('trust', '`crab trust` takes one folder.');
  if (values.help === true) await stdout.write(HELP);
  else if (values.list === true) await list(env, stdout);
  else {
    const folder = resolve(workingFolder(), positionals[0] ?? '.');
    if (values.show === true) await show(folder, env, stdout);
    else await decide(folder, values.revoke !== true, env, stdout);
  }
  return EXIT.success;
}

async function list(env: Environment, stdout: Sink): Promise<void> {
  const { trusts } = await readDecisions(crabHome(env));
  const latest = new Map<string, Trust>(trusts.map((one) => [one.path, one]));
  const rows = [...latest.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  if (rows.length === 0) await stdout.write('Nothing was decided yet.\n');
  for (const { path, trusted } of rows)
    await stdout.write(`${trusted ? 'trusted    ' : 'not trusted'}  ${visibleLine(path, 500)}\n`);
}

async function show(folder: string, env: Environment, stdout: Sink): Promise<void> {
  const project = await projectOf(folder, env);
  const state =
    project.trusted === undefined
      ? 'was never decided on'
      : project.trusted
        ? 'is trusted'
        : 'is not trusted';
  const wishes = wishesOf(project);
  const wants =
    wishes.length === 0 ? 'Its settings ask for nothing that needs trust.' : 'Its settings ask to:';
  const rows = wishes.map((wish) => `  ${visibleLine(wish, 500)}`);
  await stdout.write([`${visibleLine(project.root, 500)} ${state}.`, wants, ...rows, ''].join('\n'));
}

async function decide(folder: string, trusted: boolean, env: Environment, stdout: Sink): Promise<void> {
  // Whoever made it later would be trusted unseen.
  if (trusted && statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw subcommandUsage('trust', `${visibleLine(folder, 500)} is not a folder.`);
  const { root } = await trustOf(folder, env, trusted);
  const state = trusted ? 'is trusted, with everything below it' : 'is not trusted';
  await stdout.write(`${visibleLine(root, 500)} ${state} (${decisionsFile(crabHome(env))}).\n`);
}
