// Which test files there are and which phase each belongs to. Every file has exactly one phase, the last of
// them being `unit`, so that a test in a folder nobody thought of still runs.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import type { TestTimes } from './test-file.ts';

export const TEST_PHASES = ['unit', 'flows', 'terminal', 'campaigns'] as const;

export type TestPhase = (typeof TEST_PHASES)[number];

/** Milliseconds. Far above what a test takes on a busy machine: only what hangs comes this far. */
export const TIMES: Readonly<Record<TestPhase, TestTimes>> = {
  unit: { test: 180_000, file: 420_000 },
  flows: { test: 180_000, file: 420_000 },
  terminal: { test: 180_000, file: 420_000 },
  campaigns: { test: 300_000, file: 420_000 },
};

/** Flows that are made a second time, through a daemon: nothing of what a command says may be lost on that way. */
export const DAEMON_FLOWS: readonly string[] = [
  'test/flows/agents.test.ts',
  'test/flows/background.test.ts',
  'test/flows/compaction.test.ts',
  'test/flows/delegate.test.ts',
  'test/flows/memory.test.ts',
  'test/flows/output-formats.test.ts',
  'test/flows/policy.test.ts',
  'test/flows/real-change.test.ts',
  'test/flows/rewind.test.ts',
  'test/flows/search.test.ts',
  'test/flows/sessions.test.ts',
];

/** They take longest of their phases and are begun first, so that none is left to run alone at the end. */
const LONGEST: readonly string[] = [
  'test/campaigns/provider.campaign.test.ts',
  'test/campaigns/tools.campaign.test.ts',
  'test/flows/permissions.test.ts',
  'test/guard/rules.test.ts',
];

const TEST_FOLDERS = ['src', 'test', 'scripts', 'bench'];

/** `file` is relative to the root, with forward slashes. */
export function phaseOf(file: string): TestPhase {
  if (file.endsWith('.campaign.test.ts')) return 'campaigns';
  if (file.startsWith('test/flows/')) return 'flows';
  if (file.startsWith('test/terminal/')) return 'terminal';
  return 'unit';
}

/**
 * All test files below `root`, in the order in which they are begun. Throws when the folders hold fewer than git knows of: a search that
 * finds nothing must not look like a run in which all went well.
 */
export function findTestFiles(root: string): readonly string[] {
  const found = TEST_FOLDERS.flatMap((folder) => testFilesIn(root, folder)).sort();
  const missed = knownToGit(root).filter((file) => !found.includes(file));
  if (missed.length > 0) throw new Error(`these test files are in no phase: ${missed.join(', ')}`);
  if (found.length === 0) throw new Error(`no test files below ${root}`);
  const first = LONGEST.filter((file) => found.includes(file));
  return [...first, ...found.filter((file) => !first.includes(file))];
}

function testFilesIn(root: string, folder: string): readonly string[] {
  if (!existsSync(`${root}/${folder}`)) return [];
  return readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.test.ts'));
}

function knownToGit(root: string): readonly string[] {
  if (!existsSync(`${root}/.git`)) return [];
  // In a container the files often belong to another user, which git refuses unless it is told.
  const args = ['-c', `safe.directory=${root.replace(/\/$/, '')}`, 'ls-files', '-z', '*.test.ts'];
  const list = execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  return list.split('\0').filter((file) => file !== '' && existsSync(`${root}/${file}`));
}
