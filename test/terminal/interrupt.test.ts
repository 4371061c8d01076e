// Ctrl-C, Ctrl-D and signals: what runs is stopped, what was said is kept, and the terminal is left as it was.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Terminal, terminal } from './terminal.ts';

const HANGING = [{ text: 'I think about it for ever.', fault: { stallAfter: 600 } }];
const IDLE = /\n›$/;

async function started(at: Terminal): Promise<void> {
  await at.shell('stty -g > before; sh -c \'echo $$ > pid; exec "$crab"\'; echo "status $?"');
  await at.waitFor(IDLE);
}

/** The shell works, the terminal's settings are those of before, and a paste comes without marks. */
async function assertSane(at: Terminal): Promise<void> {
  await at.shell('stty -g > after; cmp before after && echo "the same"');
  await at.waitFor(/\nthe same\n\$$/);
  await at.paste('echo pas""ted');
  await at.key('Enter');
  const screen = await at.waitFor(/\npasted\n\$$/);
  assert.doesNotMatch(screen, /20[01]~/);
  assert.equal(await at.fact('cursor_flag'), '1');
  assert.equal(await at.fact('alternate_on'), '0');
}

/** Where nobody collects it, a dead process stays in the table as a zombie. */
function lives(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return state !== '' && !state.startsWith('Z');
}

const requested = async (at: Terminal) => {
  while (at.provider.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
};

test('Ctrl-C ends the turn, the prompt comes back, and the conversation goes on', async () => {
  await using at = await terminal({ replies: HANGING });
  await started(at);
  await at.send('think');
  await requested(at);
  await at.key('C-c');
  await at.waitFor(/Interrupted; what came so far is kept\.\n›$/);
  await at.send(',status');
  await at.waitFor(/messages +\d\n›$/);
  await at.key('C-d');
  await at.waitFor(/status 0\n\$$/);
  await assertSane(at);
});

test('Ctrl-C ends the wait for another try', async () => {
  const fault = { status: 429, message: 'Slow down.', headers: { 'retry-after': '3600' } };
  await using at = await terminal({ replies: [{ fault }] });
  await at.shell('CRAB_MAX_RETRIES=4 "$crab"');
  await at.waitFor(IDLE);
  await at.send('think');
  await at.waitFor(/Slow down, trying again in 60 min, 2 of 5/);
  await at.key('C-c');
  await at.waitFor(/Interrupted[\s\S]*\n›$/);
  assert.equal(at.provider.requests.length, 1, 'one request and no more');
});

test('Ctrl-C ends a command that runs, and all of its children', async () => {
  const command = 'sh -c "echo \\$\\$ > child; exec sleep 600" & sleep 600';
  await using at = await terminal({ replies: [{ calls: [{ name: 'bash', input: { command } }] }] });
  // In the sandbox processes have numbers of their own, which say nothing here.
  await at.shell('"$crab" --dangerously-skip-permissions --sandbox off');
  await at.waitFor(IDLE);
  await at.send('run');
  const child = at.workspace.file('child');
  while (!existsSync(child) || readFileSync(child, 'utf8') === '')
    await new Promise((resolve) => setTimeout(resolve, 10));
  await at.key('C-c');
  await at.waitFor(/Interrupted[\s\S]*\n›$/);
  // The bound of the test ends this, should the child live on.
  while (lives(Number(readFileSync(child, 'utf8')))) await new Promise((resolve) => setTimeout(resolve, 10));
});

test('Ctrl-C twice leaves from the middle of a turn', async () => {
  await using at = await terminal({ replies: HANGING });
  await started(at);
  await at.send('think');
  await requested(at);
  await at.key('C-c', 'C-c');
  assert.match(await at.waitFor(/status \d+\n\$$/), /Go on with: crab --resume \S+\nstatus 0\n\$$/);
  await assertSane(at);
});

test('Ctrl-C gives up a typed line first, then says how to leave, then leaves', async () => {
  await using at = await terminal();
  await started(at);
  await at.type('never mind');
  await at.waitFor(/› never mind$/);
  await at.key('C-c');
  await at.waitFor(/› never mind\^C\n›$/);
  await at.key('C-c');
  await at.waitFor(/Ctrl-C again leaves\.\n›$/);
  await at.key('C-c');
  assert.match(await at.waitFor(/status \d+\n\$$/), /leaves\.\nstatus 0\n\$$/);
  assert.deepEqual(at.provider.requests, []);
  await assertSane(at);
});

test('Ctrl-D in the middle of a turn cancels it and leaves', async () => {
  await using at = await terminal({ replies: HANGING });
  await started(at);
  await at.send('think');
  await requested(at);
  await at.key('C-d');
  assert.match(
    await at.waitFor(/status \d+\n\$$/),
    /Interrupted[\s\S]*Go on with: crab --resume \S+\nstatus 0\n\$$/,
  );
  await assertSane(at);
});

test('SIGTERM leaves with its status, idle or not, and what was typed stays to be seen', async (t) => {
  for (const busy of [false, true])
    await t.test(busy ? 'in a turn' : 'idle', async () => {
      await using at = await terminal({ replies: HANGING });
      await started(at);
      if (busy) {
        await at.send('think');
        await requested(at);
      }
      await at.type('half a l');
      await at.waitFor('half a l');
      process.kill(Number(readFileSync(at.workspace.file('pid'), 'utf8')), 'SIGTERM');
      assert.match(await at.waitFor(/status \d+\n\$$/), /half a l\n[\s\S]*status 143\n\$$/);
      await assertSane(at);
    });
});

test('what is typed while a turn runs waits for it, and comes back when it is cancelled', async () => {
  const slow = { text: ['A slow answer ', 'to the first.'], delayMs: 1 };
  await using at = await terminal({ replies: [slow, { text: 'The second answer.' }, ...HANGING] });
  await started(at);
  const goOn = at.provider.hold('A slow');
  await at.send('first');
  await at.waitFor('A slow');
  await at.send('second');
  await at.waitFor('queued (1): second');
  goOn();
  const screen = await at.waitFor(/The second answer\.\n›$/);
  assert.match(screen, /queued \(1\): second\n/);
  await at.send('third');
  while (at.provider.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  await at.send('fourth');
  await at.waitFor('queued (1): fourth');
  await at.key('C-c');
  await at.waitFor(/Interrupted[\s\S]*\n› fourth$/);
});
