// `npm run campaign:permissions -- --mutations N --scrambles N --seed S`: the campaign for a person. Prints what went
// wrong and the figures.

import { parseArgs } from 'node:util';
import { gateWith, runs } from '../../src/parts/permissions/workspace-for-test.ts';
import { runCampaign } from './permissions-campaign.ts';

const { values } = parseArgs({
  options: { mutations: { type: 'string' }, scrambles: { type: 'string' }, seed: { type: 'string' } },
});

function whole(name: 'mutations' | 'scrambles' | 'seed', otherwise: number): number {
  const text = values[name];
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw new Error(`--${name} ${text} is not a whole number`);
  return Number(text);
}

const gate = gateWith();
const seed = whole('seed', Date.now() % 1_000_000);
const { problems, counts, mutations, scrambles, times, seconds } = await runCampaign({
  judge: async (command) => (await gate.check(runs(command))).decision === 'allow',
  mutations: whole('mutations', 50_000),
  scrambles: whole('scrambles', 20_000),
  seed,
});
for (const { kind, command, says } of problems) console.log(`${kind}: ${JSON.stringify(command)} (${says})`);
const harmful = problems.filter(({ kind }) => kind === 'harmful allowed').length;
const asked = problems.filter(({ kind }) => kind === 'harmless asked').length;
const at = (share: number) => `${(times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(3)} ms`;
console.log(`seed ${seed}, ${seconds.toFixed(1)} s`);
console.log(`${harmful} of ${counts.mutating + counts.dangerous} harmful commands allowed`);
console.log(`${asked} of ${counts['read-only']} harmless commands asked about`);
console.log(`${mutations} mutations and ${scrambles} random texts`);
console.log(`a command: median ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} (${times.length})`);
console.log(`${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
