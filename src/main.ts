// The front door of `crab`. What can be answered at once is; everything else is loaded behind it.

import { quickAnswer, quickQuestion } from './cli/quick-answer.ts';

async function main(argv: readonly string[]): Promise<number> {
  const quick = quickQuestion(argv);
  if (quick !== undefined) return quickAnswer(quick);
  return (await import('./cli/start.ts')).start(argv);
}

main(process.argv.slice(2))
  .catch(async (thrown: unknown) => (await import('./cli/complain.ts')).complain(thrown))
  .catch((thrown: Error) => {
    process.stderr.write(`crab: ${thrown.message}\n`);
    return 1;
  })
  .then((code) => process.exit(code));
