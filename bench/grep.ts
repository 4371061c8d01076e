// `npm run bench:grep`: the tool `grep` over a tree of 100,000 files beside ripgrep itself, which prints the same lines: with
// ripgrep, and as it searches where there is none. The runs take turns, so that what else the machine does strikes all
// alike, and the ratios are those of one round. With `--check` a missed bar is a failure.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { createFileTools } from '../src/parts/files/file-tools.ts';
import { createLocalFiles } from '../src/parts/files/local-files.ts';
import { createExec } from '../src/parts/process/exec.ts';
import { realClock, toolContext } from '../test/support/tool-context.ts';
import { machine, type Outcome, table } from './report.ts';
import { median } from './statistics.ts';

const FOLDERS = 500;
const WORDS = 'the quick brown fox jumps over a lazy dog while seven wizards mix potions'.split(' ');

/** In one file of a thousand. */
const NEEDLE = 'function needleInTheHaystack';

const PATTERNS = [NEEDLE, 'needle[A-Z]\\w+Haystack'] as const;

const BARS = { ripgrep: 1.2, own: 6 } as const;

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '7' },
    files: { type: 'string', default: '100000' },
  },
});

/** Files of some thirty lines, with an ignored folder among them. */
function plant(root: string, files: number): void {
  writeFileSync(join(root, '.gitignore'), 'ignored/\n*.log\n');
  for (let folder = 0; folder < FOLDERS; folder++)
    mkdirSync(join(root, `package-${folder % 20}`, `folder-${folder}`), { recursive: true });
  for (let at = 0; at < files; at++) {
    const folder = at % FOLDERS;
    const lines = Array.from({ length: 30 }, (_, line) => {
      const words = Array.from(
        { length: 6 },
        (_, word) => WORDS[(at * 7 + line * 3 + word * 5) % WORDS.length],
      );
      return `  ${words.join(' ')} ${at}`;
    });
    if (at % 1000 === 0) lines[15] = `${NEEDLE}() { // ${at}`;
    const path = join(root, `package-${folder % 20}`, `folder-${folder}`, `file-${at}.ts`);
    writeFileSync(path, `${lines.join('\n')}\n`);
  }
}

async function timed(run: () => unknown): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

async function measure(root: string, pattern: string, rounds: number): Promise<readonly Outcome[]> {
  const exec = createExec({ env: process.env, clock: realClock });
  const context = toolContext(root, { exec, files: createLocalFiles() });
  const grep = (ripgrep: string | null) => {
    const tool = createFileTools({ ripgrep }).find(({ name }) => name === 'grep');
    return () => tool?.run({ pattern, limit: 1000 }, context);
  };
  const [through, own] = [grep(rgPath), grep(null)];
  const itself = () =>
    execFileSync(rgPath, ['--no-config', '--line-number', '--hidden', '--no-require-git', pattern, './'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  // The first of each warms the caches of the disk and loads what is loaded at first use.
  for (const run of [itself, through, own]) await run();
  const times: { itself: number; through: number; own: number }[] = [];
  for (let round = 0; round < rounds; round++)
    times.push({ itself: await timed(itself), through: await timed(through), own: await timed(own) });
  const row = (name: string, value: number, unit: Outcome['unit'], bar?: number): Outcome => ({
    ...{ name: `${pattern}: ${name}`, kind: 'crab', unit, value, judged: value },
    ...(bar !== undefined && { bar, met: value <= bar }),
  });
  return [
    row('ripgrep itself', median(times.map((each) => each.itself)), 'ms'),
    row('grep through ripgrep', median(times.map((each) => each.through)), 'ms'),
    row('  beside ripgrep', median(times.map((each) => each.through / each.itself)), 'x', BARS.ripgrep),
    row('grep without ripgrep', median(times.map((each) => each.own)), 'ms'),
    row('  beside ripgrep', median(times.map((each) => each.own / each.itself)), 'x', BARS.own),
  ];
}

const root = mkdtempSync(join(tmpdir(), 'crab-bench-grep-'));
try {
  plant(root, Number(flags.files));
  const outcomes: Outcome[] = [];
  for (const pattern of PATTERNS) outcomes.push(...(await measure(root, pattern, Number(flags.rounds))));
  console.log(table(outcomes));
  console.log(`\n${machine()}, ${flags.files} files, ${flags.rounds} rounds`);
  if (flags.check && outcomes.some(({ met }) => met === false)) process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
