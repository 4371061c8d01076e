// Runs one test file in a process of its own and says what came of it. `node:test` alone calls a file green
// that exits before its tests are done, that has none, or whose errors come after the test they belong to;
// here each of these is a failure.

import type { EventData } from 'node:test';
import { run } from 'node:test';
import { inspect } from 'node:util';

export interface TestTimes {
  /** Milliseconds for one test. */
  readonly test: number;
  /** Milliseconds for the whole file, its process included. */
  readonly file: number;
}

export interface FileResult {
  readonly file: string;
  readonly passed: number;
  /** Names of the tests that were skipped or put off. */
  readonly skipped: readonly string[];
  /** One text a failure: where, and what it says. */
  readonly failures: readonly string[];
  /** What the file wrote to its standard output and error. */
  readonly output: string;
  readonly durationMs: number;
}

/** `file` is absolute. Rejects only when no process could be started. */
export async function runTestFile(file: string, times: TestTimes): Promise<FileResult> {
  const started = performance.now();
  const failures: string[] = [];
  const skipped: string[] = [];
  const parents: string[] = [];
  let passed = 0;
  let output = '';
  let ended = false;

  const events = run({ files: [file], timeout: times.test, signal: AbortSignal.timeout(times.file) });
  for await (const event of events) {
    if (event.type === 'test:start') {
      parents.length = event.data.nesting;
      parents[event.data.nesting] = event.data.name;
    } else if (event.type === 'test:stdout' || event.type === 'test:stderr') {
      output += event.data.message;
    } else if (event.type === 'test:diagnostic' && event.data.message.startsWith('Error: ')) {
      failures.push(event.data.message);
    } else if (event.type === 'test:summary' && event.data.file !== undefined) {
      ended = true;
    } else if (event.type === 'test:fail') {
      if (!isConsequence(event.data)) failures.push(describeFailure(event.data, parents));
    } else if (
      event.type === 'test:pass' &&
      event.data.details.type !== 'suite' &&
      event.data.name !== file
    ) {
      if (event.data.skip !== undefined || event.data.todo !== undefined) skipped.push(event.data.name);
      else passed++;
    }
  }
  if (failures.length === 0 && (!ended || passed + skipped.length === 0)) {
    failures.push('the file has no tests, or ended before they did');
  }
  return { file, passed, skipped, failures, output, durationMs: performance.now() - started };
}

/** A parent fails because of a child that was reported already. */
function isConsequence(data: EventData.TestFail): boolean {
  return failureType(data) === 'subtestsFailed';
}

function failureType(data: EventData.TestFail): unknown {
  return Object(data.details.error).failureType;
}

function describeFailure(data: EventData.TestFail, parents: readonly string[]): string {
  const { error } = data.details;
  const reason = failureType(data) === 'testCodeFailure' ? reasonOf(error.cause ?? error) : error.message;
  if (data.name === data.file) return reason;
  const name = [...parents.slice(0, data.nesting), data.name].join(' > ');
  return `${name} (line ${data.line ?? '?'})\n${reason}`;
}

/** An assertion's message shows the difference already; of other errors, every field may matter. */
function reasonOf(thrown: unknown): string {
  const isAssertion = thrown instanceof Error && Object(thrown).code === 'ERR_ASSERTION';
  return isAssertion && thrown.stack !== undefined ? thrown.stack : inspect(thrown, { colors: false });
}
