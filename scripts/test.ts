// `npm test`: every check and every test, in phases, within the 15 minutes that a change may cost.
// `--only PHASE` runs one phase, and names of test files run just these. In CI a skipped test is a failure,
// since there everything that a test needs has been installed.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { FileResult } from './test-file.ts';
import { DAEMON_FLOWS, findTestFiles, phaseOf, TEST_PHASES, type TestPhase, TIMES } from './test-phases.ts';
import { runTestFiles } from './test-queue.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIN = join(ROOT, 'node_modules/.bin');
const BUDGET_MS = 15 * 60_000;
/** Side by side: more than there are cores makes timeouts, not speed. */
const CONCURRENCY = 2;

/** `daemon`: some of the flows once more, through a daemon. */
const PHASES = ['check', 'build', 'unit', 'flows', 'daemon', 'terminal', 'campaigns'] as const;
type Phase = (typeof PHASES)[number];

const COMMANDS: Readonly<Partial<Record<Phase, readonly (readonly [string, ...string[]])[]>>> = {
  check: [
    ['biome', 'check', '--error-on-warnings', '--colors=off'],
    ['tsc', '-p', 'tsconfig.json'],
    ['tsc', '-p', 'tsconfig.pure.json'],
  ],
  build: [['node', 'scripts/build.ts']],
};

interface Totals {
  passed: number;
  failed: number;
  skipped: number;
  /** Files that failed beside others and passed alone. */
  unsteady: number;
}

interface Selection {
  readonly phases: readonly Phase[];
  /** Relative to the root. */
  readonly files: readonly string[];
}

function select(args: readonly string[]): Selection {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { only: { type: 'string', multiple: true } },
    allowPositionals: true,
  });
  const all = findTestFiles(ROOT);
  const only = values.only ?? [];
  for (const name of only) {
    if (!PHASES.some((phase) => phase === name)) throw new Error(`no phase ${name}: ${PHASES.join(', ')}`);
  }
  const named = positionals.map((file) => relative(ROOT, resolve(file)).replaceAll('\\', '/'));
  for (const file of named) {
    if (!all.includes(file)) throw new Error(`${file} is not a test file`);
  }
  const files = named.length > 0 ? named : all;
  if (only.length > 0) return { phases: PHASES.filter((phase) => only.includes(phase)), files };
  if (named.length === 0) return { phases: PHASES, files };
  return {
    phases: ['build', ...TEST_PHASES.filter((phase) => files.some((file) => phaseOf(file) === phase))],
    files,
  };
}

/** What a person may say to the tests. */
const FOR_TESTS = ['CRAB_CAMPAIGN', 'CRAB_BIN'];

/** A home folder of their own: no test may read or change that of the person who runs it. */
function isolate(home: string): void {
  for (const name of Object.keys(process.env)) {
    if (/^(ANTHROPIC|OPENAI|GEMINI|CRAB)_/.test(name) && !FOR_TESTS.includes(name)) delete process.env[name];
  }
  process.env['HOME'] = home;
  process.env['CRAB_HOME'] = join(home, '.crab');
  // Each file is a process: what one has compiled the next one does not compile again.
  process.env['NODE_COMPILE_CACHE'] = join(home, 'compile-cache');
  process.env['PATH'] = [BIN, process.env['PATH']].join(delimiter);
}

/** Resolves to what it printed when it failed, to undefined when it did not. */
async function runCommand([command, ...args]: readonly [string, ...string[]]): Promise<string | undefined> {
  const program = command === 'node' ? process.execPath : join(BIN, command);
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const status = await new Promise<string>((done) => {
    child.on('error', (error) => done(error.message));
    child.on('close', (code, signal) => done(code === 0 ? '' : `ended with ${signal ?? `status ${code}`}`));
  });
  return status === '' ? undefined : `${output}${status}`;
}

async function runCommands(phase: Phase, totals: Totals): Promise<void> {
  for (const command of COMMANDS[phase] ?? []) {
    const started = performance.now();
    const problem = await runCommand(command);
    const line = `${command.join(' ')}  ${seconds(performance.now() - started)}`;
    console.log(problem === undefined ? `  ok    ${line}` : `  FAIL  ${line}\n${indent(problem)}`);
    if (problem !== undefined) totals.failed++;
  }
}

async function runFiles(phase: TestPhase, files: readonly string[], totals: Totals): Promise<void> {
  await runTestFiles(
    files.map((file) => join(ROOT, file)),
    {
      times: TIMES[phase],
      sideBySide: CONCURRENCY,
      secondTry: phase !== 'campaigns',
      onResult: (result, { first }) => report(result, first, totals),
    },
  );
}

function report(result: FileResult, first: FileResult | undefined, totals: Totals): void {
  const { failures, skipped, passed } = result;
  totals.passed += passed;
  totals.failed += failures.length;
  totals.skipped += skipped.length;
  const name = relative(ROOT, result.file);
  if (first !== undefined) {
    if (failures.length === 0) totals.unsteady++;
    console.log(`  again ${name}, alone, since at first it failed:`);
    printFailures(first);
  }
  console.log(
    `  ${failures.length === 0 ? 'ok  ' : 'FAIL'}  ${name}  ${passed} passed  ${seconds(result.durationMs)}`,
  );
  for (const test of skipped) console.log(`  skip  ${test}`);
  printFailures(result);
}

function printFailures({ failures, output }: FileResult): void {
  for (const failure of failures) console.log(indent(failure));
  if (failures.length > 0 && output !== '') console.log(indent(`its output:\n${output}`));
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '        ');
}

async function runThroughDaemon(files: readonly string[], totals: Totals): Promise<void> {
  process.env['CRAB_FLOWS'] = 'daemon';
  try {
    await runFiles(
      'flows',
      DAEMON_FLOWS.filter((file) => files.includes(file)),
      totals,
    );
  } finally {
    delete process.env['CRAB_FLOWS'];
  }
}

async function runPhase(phase: Phase, files: readonly string[], totals: Totals): Promise<void> {
  console.log(phase);
  const started = performance.now();
  const test = TEST_PHASES.find((one) => one === phase);
  if (test !== undefined)
    await runFiles(
      test,
      files.filter((file) => phaseOf(file) === test),
      totals,
    );
  else if (phase === 'daemon') await runThroughDaemon(files, totals);
  else await runCommands(phase, totals);
  const spent = performance.now() - started;
  console.log(`  ${seconds(spent)}, ${((100 * spent) / BUDGET_MS).toFixed(1)} % of the budget`);
}

async function main(): Promise<void> {
  const { phases, files } = select(process.argv.slice(2));
  const totals: Totals = { passed: 0, failed: 0, skipped: 0, unsteady: 0 };
  const home = mkdtempSync(join(tmpdir(), 'crab-test-'));
  isolate(home);
  try {
    for (const phase of phases) {
      const before = totals.failed;
      await runPhase(phase, files, totals);
      if (phase === 'build' && totals.failed > before) break;
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  const inCi = (process.env['CI'] ?? '') !== '';
  if (inCi && totals.skipped > 0) console.log(`${totals.skipped} skipped, which CI does not accept`);
  if (totals.unsteady > 0) console.log(`${totals.unsteady} test files failed beside others and passed alone`);
  if (totals.failed > 0 || (inCi && totals.skipped > 0)) process.exitCode = 1;
  console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
}

try {
  await main();
} catch (error) {
  console.error(`test: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
