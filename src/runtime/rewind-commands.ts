// `rewind`, `redo` and `history`: going back, forth again, and what is kept for it.

import type { Effect } from '../core/command.ts';
import type { Command, Extension } from '../core/extension.ts';
import { localTime } from '../core/local-time.ts';
import type { HistoryCoverage, RewindPoint, RewindReport, RewindWhat } from '../core/rewind.ts';

/** Points and paths that are listed; the rest is counted. */
const MAX_POINTS = 30;
const MAX_PATHS = 50;
const MAX_TEXT = 60;

const WHAT: Readonly<Record<string, RewindWhat>> = {
  '--both': 'both',
  '--files': 'files',
  '--conversation': 'conversation',
};

const rewind: Command = {
  name: 'rewind',
  aliases: ['undo'],
  description: 'Go back to before a prompt, with the files; without a number, list the prompts',
  usage: '[number|entry id] [--files|--conversation|--both] [--dry-run]',
  side: 'runtime',
  run: async (args, context) => {
    const { words, flags } = parse(args);
    const unknown = flags.find((flag) => flag !== '--dry-run' && WHAT[flag] === undefined);
    if (unknown !== undefined) return failure(`There is no ${unknown}.`);
    const chosen = flags.flatMap((flag) => WHAT[flag] ?? []);
    if (words.length > 1 || chosen.length > 1) return failure('Name one prompt, and one of what goes back.');
    const rewinding = await context.rewinding();
    const [to] = words;
    if (to === undefined) return text(pointList(await rewinding.points()));
    const what = chosen[0] ?? 'both';
    const dryRun = flags.includes('--dry-run');
    const { cwd } = context.identity();
    return text(reportText(await rewinding.rewind(to, { what, dryRun }), { cwd, dryRun, moved: 'back' }));
  },
};

const redo: Command = {
  name: 'redo',
  aliases: [],
  description: 'Undo the last rewind',
  usage: '[--dry-run]',
  side: 'runtime',
  run: async (args, context) => {
    if (args !== '' && args !== '--dry-run') return failure('The form is ,redo [--dry-run].');
    const dryRun = args !== '';
    const report = await (await context.rewinding()).redo({ dryRun });
    return text(reportText(report, { cwd: context.identity().cwd, dryRun, moved: 'forth' }));
  },
};

const history: Command = {
  name: 'history',
  aliases: [],
  description: 'Show what is kept of the files, how much room it takes and what is not covered',
  usage: '[--json]',
  side: 'runtime',
  run: async (args, context) => {
    if (args !== '' && args !== '--json') return failure('The form is ,history [--json].');
    const coverage = await (await context.rewinding()).coverage();
    return text(args === '' ? coverageText(coverage) : JSON.stringify(coverage, null, 2));
  },
};

export const rewindCommands: Extension = { name: 'rewind', commands: async () => [rewind, redo, history] };

const text = (lines: string): Effect => ({ kind: 'text', text: lines });
const failure = (message: string): Effect => ({ kind: 'error', message });

function parse(args: string): { readonly words: readonly string[]; readonly flags: readonly string[] } {
  const parts = args.split(/\s+/).filter((part) => part !== '');
  const isFlag = (part: string) => part.startsWith('--');
  return { words: parts.filter((part) => !isFlag(part)), flags: parts.filter(isFlag) };
}

function pointList(points: readonly RewindPoint[]): string {
  if (points.length === 0) return 'There is no prompt to go back to yet.';
  const rows = points
    .slice(0, MAX_POINTS)
    .map(({ number, timestamp, text: prompt, files }) =>
      [
        String(number).padStart(4),
        localTime(Date.parse(timestamp)),
        shortened(prompt),
        plural(files, 'file'),
      ].join('  '),
    );
  const more = points.length - rows.length;
  return [
    ...rows,
    ...(more > 0 ? [`      and ${more} more`] : []),
    'Type /rewind and a number to go back to before that prompt.',
  ].join('\n');
}

interface Shown {
  readonly cwd: string;
  readonly dryRun: boolean;
  readonly moved: 'back' | 'forth';
}

function reportText(report: RewindReport, { cwd, dryRun, moved }: Shown): string {
  const { restored, conflicts, unavailable, uncovered, prompt } = report;
  const name = (path: string) => inLine(path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path);
  const listed = [
    ...restored.map(({ path, how }) => `  ${how.padEnd(9)} ${name(path)}`),
    ...conflicts.map(({ path, why, beside }) => {
      const where = beside === undefined ? '' : `; the other version is ${name(beside)}`;
      return `  conflict  ${name(path)} (${why}${where})`;
    }),
    ...unavailable.map(({ path, why }) => `  left      ${name(path)} (${why})`),
  ];
  const more = listed.length - MAX_PATHS;
  const first = dryRun ? 'This would change:' : moved === 'back' ? 'Gone back.' : 'Done again.';
  const nothing = listed.length === 0 ? ['  no file'] : [];
  return [
    first,
    ...nothing,
    ...listed.slice(0, MAX_PATHS),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...uncovered,
    ...(prompt === undefined ? [] : [`The prompt was: ${shortened(prompt)}`]),
    ...(dryRun || moved === 'forth' ? [] : ['/redo undoes this.']),
  ].join('\n');
}

function coverageText({
  enabled,
  workspaceBytes,
  totalBytes,
  quotaBytes,
  files,
  uncovered,
}: HistoryCoverage): string {
  if (!enabled)
    return 'No file history is kept here: the session leaves nothing behind, or it is turned off.';
  const lines = [
    `on disk     ${size(workspaceBytes)} for this folder, ${size(totalBytes)} of at most ${size(quotaBytes)} in all`,
    `covered     ${files === undefined ? 'edits; commands from the first one on' : `edits, and commands in ${plural(files, 'file')}`}`,
  ];
  const places = uncovered
    .slice(0, MAX_PATHS)
    .map(({ path, why }) => `  ${path === '' ? '.' : inLine(path)} (${why})`);
  if (places.length > 0) lines.push('not covered when a command changes it:', ...places);
  if (uncovered.length > places.length) lines.push(`  and ${uncovered.length - places.length} more`);
  return lines.join('\n');
}

/** A name may hold line ends and worse; as `ls` shows it. */
function inLine(path: string): string {
  return path.replaceAll(/\p{Cc}/gu, '?');
}

function size(bytes: number): string {
  const mib = bytes / (1024 * 1024);
  if (mib < 1) return `${Math.ceil(bytes / 1024)} KiB`;
  return mib >= 1024 ? `${(mib / 1024).toFixed(1)} GiB` : `${mib.toFixed(1)} MiB`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function shortened(prompt: string): string {
  const line = prompt.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_TEXT ? line : `${line.slice(0, MAX_TEXT - 1)}…`;
}
