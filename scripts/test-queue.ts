// Runs test files side by side and, where a second try is allowed, whatever failed once more when nothing else runs:
// a test that only an unlucky moment on a busy machine fails is then told from one that fails. It counts as unsteady,
// which is printed with what the first try said, and is a fault of the test to be mended.

import { type FileResult, runTestFile, type TestTimes } from './test-file.ts';

export interface QueueOptions {
  readonly times: TestTimes;
  readonly sideBySide: number;
  /** False for a campaign: it looks for unlucky moments, and one that it found counts. */
  readonly secondTry: boolean;
  readonly onResult: (result: FileResult, about: { readonly first: FileResult | undefined }) => void;
}

/** `files` are absolute. Each is told of exactly once, with its last result and, if there were two tries, the first. */
export async function runTestFiles(files: readonly string[], options: QueueOptions): Promise<void> {
  const { times, sideBySide, secondTry, onResult } = options;
  const queue = files.values();
  const again: FileResult[] = [];
  const work = async () => {
    for (const file of queue) {
      const result = await runTestFile(file, times);
      if (secondTry && result.failures.length > 0) again.push(result);
      else onResult(result, { first: undefined });
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, work));
  for (const first of again) onResult(await runTestFile(first.file, times), { first });
}
