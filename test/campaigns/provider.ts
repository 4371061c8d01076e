// `npm run campaign:provider -- --turns N --seed S`: the campaign for a person. Prints what went wrong, with what
// repeats it, and the figures of docs/guide/reliability.md.

import { parseArgs } from 'node:util';
import { type CampaignReport, runCampaign } from './provider-campaign.ts';

const { values } = parseArgs({
  options: { turns: { type: 'string' }, seed: { type: 'string' }, turn: { type: 'string' } },
});

function whole(name: 'turns' | 'seed' | 'turn', otherwise: number): number {
  const text = values[name];
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw new Error(`--${name} ${text} is not a whole number`);
  return Number(text);
}

const seed = whole('seed', Date.now() % 1_000_000);
const turns = whole('turns', 10_000);
console.log(`seed ${seed}`);
const report = await runCampaign({
  turns,
  seed,
  ...(values.turn !== undefined && { turn: whole('turn', 0) }),
});
print(report);
process.exitCode = report.problems.length === 0 ? 0 : 1;

function print({
  kept,
  problems,
  conversations,
  turns: records,
  requests,
  toolRuns,
  seconds,
}: CampaignReport): void {
  for (const { turn, wire, what, says } of problems) {
    console.log(`turn ${turn} (${wire}, ${what}): ${says}`);
    if (turn >= 0) console.log(`  again: npm run campaign:provider -- --seed ${seed} --turn ${turn}`);
  }
  const faulty = records.filter(({ what }) => what !== 'a plain turn');
  const outcomes = Map.groupBy(faulty, ({ outcome }) => outcome);
  const counts = [...outcomes].map(([outcome, list]) => `${list.length} ${outcome}`).sort();
  const cancels = records.flatMap(({ cancelMs }) => (cancelMs === undefined ? [] : [cancelMs]));
  console.log(
    `${faulty.length} faulty turns in ${conversations} conversations (${kept} in files): ${counts.join(', ')}`,
  );
  console.log(`${requests} requests, ${toolRuns} tool runs, ${seconds.toFixed(1)} s`);
  console.log(`from cancelling to the end: ${quantiles(cancels)}`);
  console.log(`a turn: ${quantiles(faulty.map(({ ms }) => ms))}`);
  console.log(`${problems.length} problems`);
}

function quantiles(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share: number) => `${(sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0)} ms`;
  return `median ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} (${sorted.length})`;
}
