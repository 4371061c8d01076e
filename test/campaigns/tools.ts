// `npm run campaign:tools -- --trees N --bytes N --cuts N --seed S`: the campaign for a person. Prints the figures of
// docs/guide/reliability.md, and what went wrong.

import { parseArgs } from 'node:util';
import { FLOODS, type Flood } from './tool-flood.ts';
import { ESCAPE, growTrees } from './tool-trees.ts';
import { cutRuns, flood, floodProblems, MIB } from './tools-campaign.ts';

const { values } = parseArgs({
  options: {
    trees: { type: 'string', default: '500' },
    bytes: { type: 'string', default: String(2048 * MIB) },
    cuts: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
  },
});
const { trees, bytes, cuts, seed } = values;
const problems: string[] = [];

const grown = await growTrees({ trees: Number(trees), seed: Number(seed) });
const sorted = grown.gone.toSorted((a, b) => a - b);
const last = Math.round(sorted.at(-1) ?? 0);
console.log(`${grown.trees} trees: ${grown.survivors} survivors; gone at most ${last} ms after their turn`);
if (grown.survivors > 0) problems.push(`${grown.survivors} survivors`);

const escaped = await growTrees({ trees: 10, seed: Number(seed), way: ESCAPE });
console.log(
  `10 trees that leave environment, session and parents at once: ${escaped.survivors} survivors (known limit)`,
);

for (const kind of Object.keys(FLOODS) as Flood[]) {
  // What is over the limit of a job's file is read slowly, on purpose.
  const size = kind === 'background' ? Math.min(Number(bytes), 128 * MIB) : Number(bytes);
  const report = await flood(kind, size);
  const { seconds, growth, resultBytes, fileBytes } = report;
  const took = `${seconds.toFixed(1)} s, memory +${(growth / MIB).toFixed(1)} MiB`;
  console.log(
    `${kind}: ${Math.round(size / MIB)} MiB in ${took}, result ${resultBytes} B, file ${fileBytes} B`,
  );
  problems.push(...floodProblems(report));
}

const cut = await cutRuns(Number(cuts), Number(seed));
console.log(
  `${cut.cuts} runs killed, ${cut.inTheMiddle} of them in the middle: ${cut.problems.length} do not go on`,
);
problems.push(...cut.problems);

for (const problem of problems) console.log(problem);
console.log(`seed ${seed}: ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
