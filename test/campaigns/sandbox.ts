// `npm run campaign:sandbox -- --tries N`: the campaign for a person, on every backend that holds here.

import { parseArgs } from 'node:util';
import { createGround, LINUX_BACKENDS } from '../support/sandbox.ts';
import { runSandboxCampaign } from './sandbox-campaign.ts';

const { values } = parseArgs({ options: { tries: { type: 'string' } } });
const tries = Number(values.tries ?? 1000);
if (!Number.isInteger(tries) || tries < 1) throw new Error(`--tries ${values.tries} is not a whole number`);

for (const backend of LINUX_BACKENDS) {
  await using ground = createGround({ sandbox: { only: backend } });
  const [candidate] = (await ground.sandbox.find()).candidates;
  if (candidate?.holds !== true) {
    console.log(`${backend}: not here (${candidate?.reason ?? 'not for this system'})`);
    continue;
  }
  const { escapes, landed, survivors, strangers, confinedMs, bareMs } = await runSandboxCampaign({
    backend,
    tries,
  });
  console.log(`${backend}: ${tries} tries of each race, ${escapes.length} escapes, ${survivors} survivors`);
  console.log(`  ${strangers} servers of other conversations were reached`);
  console.log(`  ${landed} writes of file tools ended in the workspace, the others were refused`);
  console.log(
    `  a command takes ${confinedMs.toFixed(1)} ms, bare ${bareMs.toFixed(1)} ms: ${(confinedMs - bareMs).toFixed(1)} ms more`,
  );
  for (const name of escapes) console.log(`  escaped: ${name}`);
  if (escapes.length > 0 || survivors > 0 || strangers > 0) process.exitCode = 1;
}
