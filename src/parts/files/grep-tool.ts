// Searches the contents of files: through ripgrep where there is one, else by ourselves, with the same result.

import { basename, dirname, join } from 'node:path';
import type { Display } from '../../core/display.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { Tool, ToolContext, ToolOutput } from '../../core/tool.ts';
import { globsOfType } from './file-types.ts';
import { compilePathGlob } from './glob.ts';
import type { SearchOutput } from './match-report.ts';
import { byteCount } from './read-record.ts';
import type { SearchQuery } from './ripgrep.ts';
import {
  countArgument,
  MAX_SEARCHED_GB,
  readPlan,
  renamedFolder,
  searchPath,
  textArgument,
} from './tool-path.ts';
import { keepWhole } from './whole-output.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const MAX_CONTEXT = 50;

/** Whoever calls it so expects no more, as the tools of that name have it. */
const FILE_SEARCH = /^file[._]search$/;
const FILE_SEARCH_LIMIT = 50;

/** The program that searches, or undefined for none; asked for at the first search. */
export type Ripgrep = (context: ToolContext) => Promise<string | undefined>;

export function createGrepTool(ripgrep: Ripgrep): Tool {
  return {
    name: 'grep',
    aliases: ['Grep', 'search', 'file.search', 'fs.search', 'grep_search', 'ripgrep'],
    source: 'builtin',
    description:
      'Search file contents, line by line, with a regular expression in Rust syntax. Hidden files are searched; binary files and what .gitignore names are not.',
    input: {
      type: 'object',
      properties: {
        pattern: { type: 'string' },
        path: { type: 'string', description: 'File or folder; default: working directory' },
        glob: { type: 'string', description: 'Only such files: *.ts, src/**/*.{c,h}, !*.md' },
        ignore_case: { type: 'boolean' },
        literal: { type: 'boolean', description: 'pattern is plain text' },
        type: { type: 'string', description: 'Only files of a language: ts, py, rust' },
        context: { type: 'integer', description: 'Lines shown around each match' },
        before: { type: 'integer' },
        after: { type: 'integer' },
        multiline: { type: 'boolean', description: 'A match may span lines; . matches line ends' },
        limit: { type: 'integer', description: `Default ${DEFAULT_LIMIT}, at most ${MAX_LIMIT}` },
        output: { type: 'string', enum: ['content', 'files', 'count'] },
      },
      required: ['pattern'],
    },
    prepare,
    plan: async (input, cwd) => readPlan(searchPath(input, cwd)),
    run: (input, context) => search(input, context, ripgrep),
    show: async (input) => shown(input),
  };
}

function prepare(input: JsonObject, called = 'grep'): JsonObject {
  const otherwise: JsonObject = FILE_SEARCH.test(called) ? { limit: FILE_SEARCH_LIMIT } : {};
  const given = renamedFolder(input, {
    query: 'pattern',
    regex: 'pattern',
    include: 'glob',
    file_glob: 'glob',
    ignoreCase: 'ignore_case',
    case_insensitive: 'ignore_case',
    '-i': 'ignore_case',
    '-C': 'context',
    '-A': 'after',
    '-B': 'before',
    context_lines: 'context',
    max_results: 'limit',
    head_limit: 'limit',
    output_mode: 'output',
  });
  const named = { ...otherwise, ...given };
  return named['output'] === 'files_with_matches' ? { ...named, output: 'files' } : named;
}

function shown(input: JsonObject): Display {
  const inside = [textArgument(input, 'path'), textArgument(input, 'glob')].filter((part) => part !== '');
  const title = `${textArgument(input, 'pattern')}${inside.length > 0 ? ` in ${inside.join(', ')}` : ''}`;
  return { kind: 'matches', title, count: 0, truncated: false, lines: [] };
}

async function search(input: JsonObject, context: ToolContext, ripgrep: Ripgrep): Promise<ToolOutput> {
  const pattern = textArgument(input, 'pattern');
  if (pattern === '') throw new ToolFailure('The pattern is empty.');
  if (pattern.includes('\0')) throw new ToolFailure('A pattern cannot hold a NUL byte.');
  if (/[\r\n]/.test(pattern) && input['multiline'] !== true)
    throw new ToolFailure(
      'A search looks at one line at a time: give a pattern for one line, or set multiline.',
    );
  const { cwd } = context.identity;
  const named = searchPath(input, cwd);
  const glob = textArgument(input, 'glob');
  const typeGlobs = globsOfType(textArgument(input, 'type'));
  const chosen = fileFilter(glob, typeGlobs);
  const nameGlobs = typeGlobs ?? nameGlobsOf(glob);
  const query = { ...(await queryOf(input, named, context)), ...(nameGlobs && { nameGlobs }) };
  const withheld = await context.withheld();
  const accepts = (path: string) => chosen(path) && withheld?.(join(query.root, path)) !== true;
  const { createMatchReport } = await import('./match-report.ts');
  const report = createMatchReport({
    title: pattern,
    output: outputOf(input),
    limit: countArgument(input, 'limit', { least: 1, most: MAX_LIMIT, otherwise: DEFAULT_LIMIT }),
    most: MAX_LIMIT,
    before: query.before,
    after: query.after,
    locate: (path) => (query.file === undefined ? join(named, path) : named),
    cwd,
    accepts,
  });
  const program = await ripgrep(context);
  if (program === undefined) {
    const { searchWithoutRipgrep } = await import('./search-files.ts');
    await searchWithoutRipgrep(query, context, report, accepts);
  } else {
    const { searchWithRipgrep } = await import('./ripgrep.ts');
    await searchWithRipgrep(program, query, context, report);
  }
  const found = report.finish();
  const notes: string[] = [];
  if (report.whole !== undefined) notes.push(await keepWhole(report.whole, context));
  // Said whether or not such a file has a match: what is kept back must not show through.
  if (withheld !== undefined && withheld.byNameOnly !== true)
    notes.push('Files that a permission rule withholds were left out.');
  return notes.length === 0 ? found : withNote(found, `[${notes.join(' ')}]`);
}

function withNote(found: ToolOutput, note: string): ToolOutput {
  const content = found.content.map((block) =>
    block.type === 'text' ? { ...block, text: `${block.text}\n${note}` } : block,
  );
  return { ...found, content };
}

function outputOf(input: JsonObject): SearchOutput {
  const { output } = input;
  return output === 'files' || output === 'count' ? output : 'content';
}

async function queryOf(input: JsonObject, path: string, context: ToolContext): Promise<SearchQuery> {
  const info = await context.files.info(path);
  if (info === undefined) throw new ToolFailure(`Cannot search ${path}: it does not exist.`);
  if (info.kind === 'other')
    throw new ToolFailure(`Cannot search ${path}: it is a ${info.what ?? 'device'}, not a file or folder.`);
  if (info.kind === 'file' && info.size > MAX_SEARCHED_GB * 1024 ** 3)
    throw new ToolFailure(
      `Cannot search ${path}: it has ${byteCount(info.size)}, and no more than ${MAX_SEARCHED_GB} GB are searched; use a command for it.`,
    );
  const resolved = await context.files.resolve(path);
  const lines = (key: string, otherwise: number) =>
    countArgument(input, key, { least: 0, most: MAX_CONTEXT, otherwise });
  const around = lines('context', 0);
  return {
    pattern: textArgument(input, 'pattern'),
    literal: input['literal'] === true,
    ignoreCase: input['ignore_case'] === true,
    multiline: input['multiline'] === true,
    before: lines('before', around),
    after: lines('after', around),
    ...(info.kind === 'directory'
      ? { root: resolved }
      : { root: dirname(resolved), file: basename(resolved) }),
  };
}

function fileFilter(glob: string, names: readonly string[] | undefined): (path: string) => boolean {
  const byGlob = globFilter(glob);
  if (names === undefined) return byGlob;
  const byName = names.map(compilePathGlob);
  return (path) => byName.some((matches) => matches(path)) && byGlob(path);
}

function globFilter(glob: string): (path: string) => boolean {
  if (glob === '') return () => true;
  const negated = glob.startsWith('!');
  const wanted = negated ? glob.slice(1) : glob;
  const matches = compilePathGlob(wanted.endsWith('/') ? `${wanted}**` : wanted);
  return (path) => matches(path) !== negated;
}

/** What the glob says about names alone, where it means the same to ripgrep: it need not open the other files. */
function nameGlobsOf(glob: string): readonly string[] | undefined {
  const name = glob.slice(glob.lastIndexOf('/') + 1);
  const simple = /^(?:[\w.*?-]|\{[\w.*?-]+(?:,[\w.*?-]+)+\})+$/.test(name) && !name.includes('**');
  return simple && !glob.startsWith('!') && !/[{\\[]/.test(glob.slice(0, -name.length)) ? [name] : undefined;
}
