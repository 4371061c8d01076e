// The races of the sandbox, as many tries as `CRAB_CAMPAIGN` says: no file may appear outside and no process may be left.
// A write that follows whatever link is there must be noticed, and a network that conversations share, else a count of 0
// means nothing.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Backend } from '../../src/parts/sandbox/backend.ts';
import type { Sandbox } from '../../src/parts/sandbox/sandbox.ts';
import { createGround, LINUX_BACKENDS } from '../support/sandbox.ts';
import { escapesOf, raceFileTools, raceNetworks, runSandboxCampaign } from './sandbox-campaign.ts';

const TRIES = Number(process.env['CRAB_CAMPAIGN'] ?? 200);

for (const backend of LINUX_BACKENDS) {
  await using ground = createGround({ sandbox: { only: backend } });
  const [candidate] = (await ground.sandbox.find()).candidates;
  const skip = candidate?.holds !== true && `${backend}: ${candidate?.reason ?? 'not for this system'}`;

  test(`${backend}: nothing comes out, whatever is swapped meanwhile`, { skip }, async () => {
    const { escapes, survivors, strangers } = await runSandboxCampaign({ backend, tries: TRIES });
    assert.deepEqual({ escapes, survivors, strangers }, { escapes: [], survivors: 0, strangers: 0 });
  });

  test(`${backend}: a write that follows links is seen to come out`, { skip }, async () => {
    await using place = createGround({ sandbox: { only: backend } });
    const write = async (path: string) => writeFileSync(path, '');
    await raceFileTools(place, { tries: 200_000, write });
    assert.notDeepEqual(escapesOf(place), []);
  });
}

test('conversations that share a network are seen to reach one another', async (t) => {
  await using place = createGround({ alter: withOneNetwork });
  if ((await place.sandbox.find()).backend?.makeNetwork === undefined)
    return t.skip('nothing shares one here');
  assert.notEqual(await raceNetworks(place, 1), 0);
});

/** All conversations get the first one's. */
function withOneNetwork(sandbox: Sandbox): Sandbox {
  let one: ReturnType<NonNullable<Backend['makeNetwork']>> | undefined;
  return {
    ...sandbox,
    async find() {
      const found = await sandbox.find();
      const make = found.backend?.makeNetwork;
      if (found.backend === undefined || make === undefined) return found;
      const makeNetwork = async () => {
        one ??= make();
        return { ...(await one), close: () => {} };
      };
      return { ...found, backend: { ...found.backend, makeNetwork } };
    },
  };
}
