// A daemon in the foreground of a terminal is gone with it: nobody sees it any more, and nobody would end it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../support/remote-door.ts';
import { terminal } from './terminal.ts';

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a daemon in the foreground ends with its terminal, and reads its settings again at a SIGHUP before', async () => {
  await using first = await terminal();
  let pid = 0;
  {
    await using window = await terminal({ beside: first });
    await window.shell('"$crab" daemon run --no-tcp');
    await window.waitFor('the daemon is ready');
    pid = Number(readFileSync(join(first.workspace.home, '.crab/run/daemon.pid'), 'utf8'));
    process.kill(pid, 'SIGHUP');
    await first.shell('"$crab" daemon status; echo "status $?"');
    await first.waitFor('status 0');
    assert.ok(isAlive(pid));
  }
  await until(() => !isAlive(pid), 'the end of the daemon');
});
