// Finds files by the glob that their path matches, the newest first.

import { join, relative } from 'node:path';
import type { Display } from '../../core/display.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { compilePathGlob, splitGlob } from './glob.ts';
import type { Ripgrep } from './grep-tool.ts';
import {
  absolutePath,
  countArgument,
  readPlan,
  renamedFolder,
  searchPath,
  shownPath,
  textArgument,
} from './tool-path.ts';
import { keepWhole } from './whole-output.ts';

const DEFAULT_LIMIT = 1000;
const MAX_LIMIT = 10_000;

/** Files whose age is looked up at the same time. */
const LOOK_UPS = 64;

/** Files that match; with more of them the newest cannot be told, and the pattern must be narrowed. */
const MAX_MATCHES = 200_000;

export function createFindTool(ripgrep: Ripgrep): Tool {
  return {
    name: 'find',
    aliases: ['glob', 'Glob', 'Find', 'fs.find', 'find_files', 'list_files'],
    source: 'builtin',
    description:
      'Find files by glob, newest first. A pattern without / matches names in any folder; what .gitignore names is left out.',
    input: {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'Such as *.ts or src/**/*.test.ts' },
        path: { type: 'string', description: 'Folder; default: working directory' },
        limit: { type: 'integer', description: `Default ${DEFAULT_LIMIT}` },
      },
      required: ['pattern'],
    },
    prepare: (input) => renamedFolder(input, { glob: 'pattern', query: 'pattern', max_results: 'limit' }),
    plan: async (input, cwd) => readPlan(target(input, cwd).root),
    run: (input, context) => find(input, context, ripgrep),
    show: async (input): Promise<Display> => {
      const path = textArgument(input, 'path');
      const title = `${textArgument(input, 'pattern')}${path === '' ? '' : ` in ${path}`}`;
      return { kind: 'matches', title, count: 0, truncated: false, lines: [] };
    },
  };
}

/** Where a pattern begins: an absolute one, or one with `..`, may lead out of the folder that was named. */
function target(input: JsonObject, cwd: string): { readonly root: string; readonly pattern: string } {
  const pattern = textArgument(input, 'pattern');
  const folder = searchPath(input, cwd);
  if (pattern === '') throw new ToolFailure('The pattern is empty.');
  const { base, rest } = splitGlob(pattern.endsWith('/') ? `${pattern}**` : pattern);
  if (rest.split('/').includes('..')) throw new ToolFailure(`${pattern}: .. cannot follow a wildcard.`);
  if (base === '') return { root: folder, pattern: rest };
  const root = absolutePath(base, folder);
  const inside = relative(folder, root);
  // What lies inside is matched from the folder, so that what is ignored stays ignored.
  if (!inside.startsWith('..') && !inside.startsWith('/'))
    return { root: folder, pattern: join('/', inside, rest) };
  return { root, pattern: `/${rest}` };
}

async function find(input: JsonObject, context: ToolContext, ripgrep: Ripgrep): Promise<ToolOutput> {
  const { root: named, pattern } = target(input, context.identity.cwd);
  const info = await context.files.info(named);
  if (info === undefined) throw new ToolFailure(`Cannot search ${named}: it does not exist.`);
  if (info.kind !== 'directory') throw new ToolFailure(`Cannot search ${named}: it is no folder.`);
  const root = await context.files.resolve(named);
  const paths = await matching(root, pattern, context, ripgrep);
  const newest = await newestFirst(root, paths, context);
  const limit = countArgument(input, 'limit', { least: 1, most: MAX_LIMIT, otherwise: DEFAULT_LIMIT });
  const lines = newest.slice(0, limit).map((path) => shownPath(join(named, path), context.identity.cwd));
  const { withinBytes } = await import('./match-report.ts');
  const { kept, cut } = withinBytes(lines);
  const truncated = cut || newest.length > limit;
  const text = newest.length === 0 ? 'No files match.' : kept.join('\n');
  const where = cut ? ` ${await keepWhole(lines, context)}` : '';
  const footer = `\n[The newest ${kept.length} of ${newest.length} files. Narrow the pattern or the path.${where}]`;
  const title = textArgument(input, 'pattern');
  const display = { kind: 'matches', title, count: newest.length, truncated, lines: kept } as const;
  return textOutput(truncated ? text + footer : text, display);
}

async function matching(
  root: string,
  pattern: string,
  context: ToolContext,
  ripgrep: Ripgrep,
): Promise<readonly string[]> {
  const matches = compilePathGlob(pattern);
  const paths: string[] = [];
  const visit = (path: string): boolean => {
    if (matches(path)) paths.push(path);
    return paths.length <= MAX_MATCHES;
  };
  const program = await ripgrep(context);
  if (program === undefined) {
    const { walkFiles } = await import('./walk.ts');
    await walkFiles({ files: context.files, root, signal: context.signal, visit });
  } else {
    const { listWithRipgrep } = await import('./ripgrep.ts');
    await listWithRipgrep(program, root, context, visit);
  }
  if (paths.length > MAX_MATCHES)
    throw new ToolFailure(`More than ${MAX_MATCHES} files match: narrow the pattern or the path.`);
  return paths;
}

/** Files of the same age in the order of their paths; what has gone meanwhile is left out. */
async function newestFirst(
  root: string,
  paths: readonly string[],
  context: ToolContext,
): Promise<readonly string[]> {
  const { comparePaths } = await import('./walk.ts');
  const dated: { readonly path: string; readonly modified: number }[] = [];
  for (let at = 0; at < paths.length; at += LOOK_UPS) {
    context.signal.throwIfAborted();
    const some = paths.slice(at, at + LOOK_UPS);
    const infos = await Promise.all(some.map((path) => context.files.info(join(root, path))));
    for (const [index, info] of infos.entries()) {
      const path = some[index];
      if (info !== undefined && path !== undefined) dated.push({ path, modified: info.modified });
    }
  }
  dated.sort((a, b) => b.modified - a.modified || comparePaths(a.path, b.path));
  return dated.map(({ path }) => path);
}
