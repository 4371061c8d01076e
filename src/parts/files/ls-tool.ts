// Lists one folder, dotfiles and ignored files included.

import type { Display } from '../../core/display.ts';
import type { DirectoryEntry } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import {
  countArgument,
  printable,
  readPlan,
  renamedFolder,
  searchPath,
  shownPath,
  textArgument,
} from './tool-path.ts';
import { keepWhole } from './whole-output.ts';

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 2000;

const SUFFIXES: Readonly<Record<DirectoryEntry['kind'], string>> = {
  file: '',
  directory: '/',
  link: '@',
  other: '',
};

export function createLsTool(): Tool {
  return {
    name: 'ls',
    aliases: ['LS', 'file.list', 'fs.list', 'list_directory', 'list_dir'],
    source: 'builtin',
    description: 'List a folder, dotfiles included: name/ is a folder, name@ a link.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Default: working directory' },
        limit: { type: 'integer', description: `Default ${DEFAULT_LIMIT}` },
      },
    },
    prepare: (input) => renamedFolder(input),
    plan: async (input, cwd) => readPlan(searchPath(input, cwd)),
    run: list,
    show: async (input): Promise<Display> => {
      const title = textArgument(input, 'path');
      return { kind: 'matches', title, count: 0, truncated: false, lines: [] };
    },
  };
}

async function list(input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const { cwd } = context.identity;
  const path = searchPath(input, cwd);
  const entries = [...(await context.files.list(path))];
  entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const limit = countArgument(input, 'limit', { least: 1, most: MAX_LIMIT, otherwise: DEFAULT_LIMIT });
  const lines = entries.slice(0, limit).map((entry) => printable(entry.name) + SUFFIXES[entry.kind]);
  const { withinBytes } = await import('./match-report.ts');
  const { kept, cut } = withinBytes(lines);
  const truncated = cut || entries.length > limit;
  const text = entries.length === 0 ? '[The folder is empty.]' : kept.join('\n');
  const where = cut ? ` ${await keepWhole(lines, context)}` : '';
  const footer = `\n[The first ${kept.length} of ${entries.length} entries. Use find for the others.${where}]`;
  const title = shownPath(path, cwd);
  const display = { kind: 'matches', title, count: entries.length, truncated, lines: kept } as const;
  return textOutput(truncated ? text + footer : text, display);
}
