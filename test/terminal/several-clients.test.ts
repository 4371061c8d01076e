// One conversation, several clients: two terminals and a script follow it through a daemon, one answers for the other, and
// the daemon is killed in the middle of an answer. docs/guide/several-clients.md tells the same story.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/processes.ts';
import { filesBelow, sessionFiles } from '../support/session-files.ts';
import { type Terminal, terminal } from './terminal.ts';

const IDLE = /\n›$/;
const QUESTION = /bash wants to run[^\n]*:\n {2}touch made[\s\S]*n and why:$/;

/** `nth`: of those that this terminal has seen. */
async function startDaemon(at: Terminal, nth: number): Promise<number> {
  await at.shell('"$crab" daemon run --no-tcp');
  await at.waitFor(new RegExp(`(?:the daemon is ready[\\s\\S]*){${nth}}`));
  return Number(readFileSync(join(at.workspace.home, '.crab/run/daemon.pid'), 'utf8').match(/\d+/)?.[0]);
}

test('two terminals and a script follow one conversation, and nothing is lost with the daemon', async () => {
  await using first = await terminal({
    replies: [
      { calls: [{ name: 'bash', input: { command: 'touch made' } }] },
      { text: 'It is made.' },
      { text: 'Said to a script.' },
      { text: ['word '.repeat(80), 'never said.'], delayMs: 1 },
      { text: 'Here again.' },
    ],
  });
  await using second = await terminal({ beside: first });
  await using script = await terminal({ beside: first });
  await using service = await terminal({ beside: first });
  const pid = await startDaemon(service, 1);

  await first.shell('"$crab" --daemon; echo "status $?"');
  const greeting = await first.waitFor(IDLE);
  const session = /session (?<id>[0-9A-Z]{26})/.exec(greeting)?.groups?.['id'] ?? assert.fail(greeting);
  await second.shell(`"$crab" --daemon --resume ${session}; echo "status $?"`);
  await second.waitFor(IDLE);

  // What one asks for, the other allows.
  await first.send('make it');
  await first.waitFor(QUESTION);
  assert.match(await second.waitFor(QUESTION), /\(from elsewhere\) make it\n/);
  await second.send('y');
  await first.waitFor(/answered elsewhere: yes\n[\s\S]*It is made\.\n›$/);
  await second.waitFor(/It is made\.\n›$/);
  assert.equal(await first.workspace.read('made'), '');

  await script.shell(`"$crab" --daemon -p --resume ${session} "from a script"; echo "status $?"`);
  await script.waitFor(/\nSaid to a script\.\nstatus 0\n/);
  for (const at of [first, second])
    await at.waitFor(/\(from elsewhere\) from a script\n[\s\S]*Said to a script\.\n›$/);

  // Killed in the middle of an answer, of which some is on disk.
  first.provider.hold('word word');
  await second.send('go on and on');
  for (const at of [first, second]) await at.waitFor(/(?:word\s+){70}/);
  await eventually('words on disk', async () =>
    (await filesBelow(first.workspace.home)).some((path) => path.endsWith('.partial')),
  );
  process.kill(pid, 'SIGKILL');
  for (const at of [first, second])
    await at.waitFor(/The connection to the daemon was closed\.[\s\S]*status 8\n\$$/);

  await startDaemon(service, 2);
  await first.shell(`"$crab" --daemon --resume ${session}`);
  await first.waitFor(new RegExp(`session ${session}, \\d messages[\\s\\S]*\\n›$`));
  await first.send('are you there?');
  await first.waitFor(/The last answer was interrupted[\s\S]*Here again\.\n›$/);
  const [file] = await sessionFiles(first.workspace.home);
  const text = readFileSync(file?.path ?? assert.fail('there is no session'), 'utf8');
  for (const said of [
    'make it',
    'It is made.',
    'from a script',
    'Said to a script.',
    'go on and on',
    'word word',
  ])
    assert.ok(text.includes(said), said);
  assert.match(text, /"stopReason":"aborted"/);
  // The model was told all of it.
  const last = JSON.stringify(first.provider.requests.at(-1)?.body);
  for (const said of ['make it', 'Said to a script.', 'word word', 'are you there?'])
    assert.ok(last.includes(said), said);
});
