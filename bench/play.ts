// Lets every subject play every case, round after round: what disturbs the machine for a while then disturbs all
// of them alike. The first round warms caches up and does not count.

import { type FakeProvider, startFakeProvider } from '../src/dev/fake-provider.ts';
import type { Case, Subject } from './cases.ts';
import { measure } from './measure.ts';
import type { Run, Runs } from './rows.ts';
import type { Bench } from './subjects.ts';

interface Job {
  readonly one: Case;
  readonly subject: Subject;
  readonly command: readonly string[];
  readonly provider: FakeProvider;
  readonly runs: Run[];
}

export async function playAll(bench: Bench, cases: readonly Case[], rounds: number): Promise<Runs> {
  const providers: FakeProvider[] = [];
  const jobs: Job[] = [];
  try {
    for (const one of cases) {
      const provider = await startFakeProvider({ scenario: { replies: one.replies }, keepBodies: false });
      providers.push(provider);
      for (const subject of one.subjects) {
        const command = bench.command(subject, one);
        if (command !== undefined) jobs.push({ one, subject, command, provider, runs: [] });
      }
    }
    for (let round = 0; round <= rounds; round++) {
      process.stderr.write(`\rround ${round} of ${rounds} `);
      const due = jobs.filter(({ one }) => round <= (one.rounds ?? rounds));
      for (const job of round % 2 === 0 ? due : due.reverse()) {
        const run = await play(bench, job);
        if (round > 0) job.runs.push(run);
      }
    }
    process.stderr.write('\r\x1b[K');
  } finally {
    await Promise.all(providers.map((provider) => provider.close()));
  }
  return (name, subject) => jobs.find((job) => job.one.name === name && job.subject === subject)?.runs ?? [];
}

/** Throws when the subject did not do its work: a figure for half of it would be worth nothing. */
async function play(bench: Bench, { one, subject, command, provider }: Job): Promise<Run> {
  const { cwd, scratch } = bench;
  const before = provider.requests.length;
  const { restMs } = one;
  const { wallMs, cpuMs, rssMb, output } = await measure(command, {
    ...{ cwd, scratch, restMs, env: bench.env(provider.url) },
  });
  const who = `${subject} in ${one.name}`;
  if (one.expected !== undefined && output.trimEnd() !== one.expected.trimEnd()) {
    throw new Error(`${who} printed ${describe(output)} instead of ${describe(one.expected)}`);
  }
  const [breach] = provider.violations;
  if (breach !== undefined) throw new Error(`${who} broke a law: ${breach.message}`);
  const requests = provider.requests.slice(before);
  const turns = (one.replies ?? []).reduce((sum, reply) => sum + (reply.repeat ?? 1), 0);
  if (requests.length !== turns)
    throw new Error(`${who} sent ${requests.length} requests instead of ${turns}`);
  const turnMs = requests.slice(1).map(({ arrivedMs }, at) => {
    return arrivedMs - (requests[at]?.finishedMs ?? Number.NaN);
  });
  return { wallMs, cpuMs, rssMb, turnMs, firstRequestBytes: requests[0]?.bodyBytes };
}

function describe(text: string): string {
  return `${text.length} characters beginning ${JSON.stringify(text.slice(0, 60))}`;
}
