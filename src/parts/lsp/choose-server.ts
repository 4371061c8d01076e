// Which server is asked about a file, over which root, and what program that is. A project's own program goes before
// the machine's, because it is the version that the project is written for.

import { dirname, extname, join, relative } from 'node:path';
import { CrabError, ToolFailure } from '../../core/errors.ts';
import type { Exec, Files } from '../../core/host.ts';
import type { LspServerSettings } from '../../core/settings.ts';
import { SERVERS, type ServerRow } from './server-table.ts';

const PROBE_MS = 15_000;

/** The rows of the table as a person's settings leave them: changed, turned off, or added in front. Throws `CrabError`. */
export function configuredRows(
  settings: Readonly<Record<string, LspServerSettings>> = {},
  table: readonly ServerRow[] = SERVERS,
): readonly ServerRow[] {
  const own = Object.entries(settings).filter(([, { enabled }]) => enabled !== false);
  const changed = own.map(([name, one]) =>
    rowOf(
      name,
      one,
      table.find((row) => row.name === name),
    ),
  );
  return [...changed, ...table.filter(({ name }) => !Object.hasOwn(settings, name))];
}

function rowOf(name: string, settings: LspServerSettings, known: ServerRow | undefined): ServerRow {
  const { command, extensions, rootMarkers, initializationOptions, env, startOnEdit } = settings;
  const [program, ...args] = command ?? known?.command ?? [];
  const languages = extensions ?? known?.languages;
  if (program === undefined || languages === undefined)
    throw new CrabError(
      'settings-invalid',
      `[lsp.${name}] needs command and extensions, because no server of that name is known.`,
    );
  // A command of the person's own is there because they say so.
  const { probe, ...rest } = known ?? { roots: [] };
  return {
    ...rest,
    name,
    command: [program, ...args],
    languages,
    ...(command === undefined && probe !== undefined && { probe }),
    ...(rootMarkers !== undefined && { roots: rootMarkers }),
    ...(initializationOptions !== undefined && { initializationOptions }),
    ...(env !== undefined && { env }),
    ...(startOnEdit !== undefined && { startOnEdit }),
  };
}

export function rowsFor(path: string, rows: readonly ServerRow[]): readonly ServerRow[] {
  return rows.filter(({ languages }) => Object.keys(languages).some((ending) => path.endsWith(ending)));
}

/** Throws `ToolFailure` for a file of no known language. */
export function requireRows(path: string, rows: readonly ServerRow[]): readonly ServerRow[] {
  const found = rowsFor(path, rows);
  if (found.length > 0) return found;
  throw new ToolFailure(
    `There is no language server for ${extname(path) || 'files without an extension'} files. Use grep and read, or name one in the settings: [lsp.NAME] with command and extensions.`,
  );
}

/** The nearest folder with a mark of the row, not above `cwd` for what is inside it; else `cwd` or the file's folder. */
export async function findRoot(path: string, row: ServerRow, cwd: string, files: Files): Promise<string> {
  const way = relative(cwd, path);
  const isInside = !way.startsWith('..') && !way.startsWith('/') && way !== '';
  const folders = foldersAbove(path, isInside ? cwd : undefined);
  for (const mark of row.roots)
    for (const folder of folders) if ((await files.info(join(folder, mark))) !== undefined) return folder;
  return isInside ? cwd : dirname(path);
}

function foldersAbove(path: string, last: string | undefined): readonly string[] {
  const folders = [dirname(path)];
  for (let at = dirname(path); at !== last && dirname(at) !== at; at = dirname(at)) folders.push(dirname(at));
  return folders;
}

export interface Place {
  readonly root: string;
  readonly cwd: string;
  readonly files: Files;
  readonly exec: Exec;
  readonly signal: AbortSignal;
}

/** The program and its arguments, or why it cannot be used. */
export async function findProgram(
  row: ServerRow,
  place: Place,
): Promise<{ readonly argv: readonly string[] } | { readonly missing: string }> {
  const [name, ...args] = row.command;
  const program = (await installedHere(name, place)) ?? name;
  const { probe } = row;
  if (probe === undefined) return { argv: [program, ...args] };
  const { exec, root, signal } = place;
  try {
    const argv = [program, ...probe.args];
    const { exitCode, stdout } = await exec({ argv, cwd: root, timeoutMs: PROBE_MS }, signal);
    const isUsable = exitCode === 0 && (probe.output?.test(stdout.text) ?? true);
    if (isUsable) return { argv: [program, ...args] };
    return { missing: `${argv.join(' ')} says ${JSON.stringify(stdout.text.trim().slice(0, 100))}` };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolFailure) return { missing: error.message };
    throw error;
  }
}

async function installedHere(name: string, { root, cwd, files }: Place): Promise<string | undefined> {
  if (/[/\\]/.test(name)) return undefined;
  for (const folder of [...foldersAbove(join(root, 'x'), undefined), cwd]) {
    const program = join(folder, 'node_modules', '.bin', name);
    if ((await files.info(program)) !== undefined) return program;
  }
  return undefined;
}
