// One command that prints far too much, in a process of its own, because the most memory that a process ever had is
// what is measured: `node tool-flood.ts KIND BYTES [keep]`. Prints a line of JSON. With `keep` somebody holds on to
// everything that is printed, which the measure must show.

import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../src/core/schema.ts';
import { createExec } from '../../src/parts/process/exec.ts';
import { createJobs } from '../../src/parts/process/jobs.ts';
import { createShellTools } from '../../src/parts/shell/shell-tools.ts';
import { realClock, toolContext } from '../support/tool-context.ts';

/** What prints `bytes` bytes. */
export const FLOODS = {
  lines: (bytes: number) => `yes 'a line like so many others, with a number 12345' | head -c ${bytes}`,
  oneLine: (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' x`,
  binary: (bytes: number) => `head -c ${bytes} /dev/urandom`,
  invalid: (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' '\\377'`,
  progress: (bytes: number) =>
    `yes "$(printf '\\033[2K\\r 50%% \\033[31mdone\\033[0m')" | head -c ${bytes} | tr -d '\\n'`,
  background: (bytes: number) => `yes 'a line of a job that talks' | head -c ${bytes}`,
} as const;

export type Flood = keyof typeof FLOODS;

export interface FloodReport {
  readonly kind: Flood;
  readonly bytes: number;
  readonly seconds: number;
  /** Bytes by which the most memory of the process grew. */
  readonly growth: number;
  readonly resultBytes: number;
  readonly fileBytes: number;
  /** A control character, half a character, or anything else that is no text, in the result. */
  readonly isClean: boolean;
}

const WARM_UP = 48 * 1024 * 1024;

async function run(kind: Flood, bytes: number, kept: string[] | undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'crab-flood-'));
  const host = createExec({ env: process.env, clock: realClock });
  const jobs = createJobs({ clock: realClock, folder: async () => folder });
  const tools = createShellTools();
  const context = toolContext(folder, {
    exec: async (request, signal) => {
      const onOutput = (text: string) => {
        kept?.push(text);
        request.onOutput?.(text);
      };
      return host({ ...request, onOutput }, signal);
    },
    open: host.open,
    jobs,
    scratch: async () => folder,
    tools: { list: () => [], offer: () => {} },
  });
  const call = async (name: string, input: JsonObject) => {
    const output = await tools.find((tool) => tool.name === name)?.run(input, context);
    const [block] = output?.content ?? [];
    return block?.type === 'text' ? block.text : '';
  };
  const isJob = kind === 'background';
  let text = await call('bash', { command: FLOODS[kind](bytes), timeout: 600_000, run_in_background: isJob });
  if (isJob) {
    await call('monitor', { task_id: 'c1', timeout: 600_000 });
    text = await call('task_output', { task_id: 'c1' });
  }
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
  );
  await jobs.close();
  await rm(folder, { recursive: true });
  return { text, fileBytes: Math.max(0, ...sizes) };
}

/** Bytes. Not `maxRSS`: Linux hands that of the parent on to its child, whose own then hides behind it. */
async function mostMemory(): Promise<number> {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile('/proc/self/status', 'latin1')) ?? [];
  return Number(kilobytes) * 1024;
}

if (import.meta.main) {
  const [kind = 'lines', size = '0', keep] = process.argv.slice(2) as [Flood, string, string?];
  await run(kind, WARM_UP, undefined);
  const before = await mostMemory();
  const started = performance.now();
  const { text, fileBytes } = await run(kind, Number(size), keep === undefined ? undefined : []);
  const report: FloodReport = {
    kind,
    bytes: Number(size),
    seconds: (performance.now() - started) / 1000,
    growth: (await mostMemory()) - before,
    resultBytes: Buffer.byteLength(text),
    fileBytes,
    isClean: text.isWellFormed() && !/[\p{Cc}--[\t\n]]/v.test(text),
  };
  console.log(JSON.stringify(report));
}
