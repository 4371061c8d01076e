// A person at a terminal whose Crab is elsewhere: asked, answered, cut off in the middle of an answer, and back when the
// other side is there again.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/processes.ts';
import { filesBelow } from '../support/session-files.ts';
import { type Terminal, terminal } from './terminal.ts';

const IDLE = /\n›$/;

async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

/** `nth`: of those that this terminal has seen. Returns the process. */
async function serve(at: Terminal, port: number, nth: number): Promise<number> {
  await at.shell(`"$crab" serve --port ${port}`);
  await at.waitFor(new RegExp(`(?:are let in at[\\s\\S]*){${nth}}`));
  return Number(readFileSync(join(at.workspace.home, '.crab/run/daemon.pid'), 'utf8').match(/\d+/)?.[0]);
}

test('a conversation with a Crab elsewhere is asked about here, and goes on when the other side is back', async () => {
  await using there = await terminal({
    replies: [
      { calls: [{ name: 'bash', input: { command: 'touch made' } }] },
      { text: 'It is made.' },
      { text: ['word '.repeat(40), 'never said.'], delayMs: 1 },
      { text: 'Here again.' },
    ],
  });
  await using here = await terminal({
    beside: there,
    columns: 120,
    env: { CRAB_HOME: join(there.workspace.home, 'here') },
  });
  const port = await freePort();
  const pid = await serve(there, port, 1);
  const token = join(there.workspace.home, '.crab/run/serve.token');
  const remote = `--remote ws://127.0.0.1:${port} --remote-token-file ${token}`;
  await here.shell(`"$crab" ${remote} --remote-cwd ${there.workspace.path}; echo "status $?"`);
  const greeting = await here.waitFor(IDLE);
  assert.match(greeting, new RegExp(`crab {2}at ws://127.0.0.1:${port} {2}${there.workspace.path}\n`));
  assert.match(greeting, /nothing of this folder goes along/);
  const session = /session (?<id>[0-9A-Z]{26})/.exec(greeting)?.groups?.['id'] ?? assert.fail(greeting);

  await here.send('make it');
  await here.waitFor(/bash wants to run[^\n]*:\n {2}touch made[\s\S]*n and why:$/);
  await here.send('y');
  await here.waitFor(/It is made\.\n›$/);
  assert.equal(await there.workspace.read('made'), '');

  there.provider.hold('word word');
  await here.send('go on and on');
  await here.waitFor(/(?:word\s+){30}/);
  await eventually('words on disk', async () =>
    (await filesBelow(there.workspace.home)).some((path) => path.endsWith('.partial')),
  );
  process.kill(pid, 'SIGKILL');
  await here.waitFor(/was lost; it is tried again\.\n/);
  await serve(there, port, 2);
  await here.waitFor(/The daemon was restarted, and the run ended with it\.[\s\S]*\n›$/);
  await here.send('are you there?');
  await here.waitFor(/Here again\.\n›$/);
  await here.key('C-d');
  await here.waitFor(new RegExp(`Go on with: crab --remote ws://127.0.0.1:${port} --resume ${session}\n`));
  await here.waitFor(/status 0\n\$$/);
  // The model was told all of it, once.
  const last = JSON.stringify(there.provider.requests.at(-1)?.body);
  for (const said of ['make it', 'It is made.', 'go on and on', 'word word', 'are you there?'])
    assert.equal(last.split(said).length > 1, true, said);
  assert.equal(last.split('go on and on').length, 2);
});
