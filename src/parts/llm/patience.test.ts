// A process that was not run for a while: what came meanwhile is heard, and a silence behind it still ends.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createHttp } from './http.ts';
import { Patience } from './patience.ts';

const NEVER = new AbortController().signal;

/** As a process that was stopped: nothing of this thread is run. */
function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a limit that passed while nothing was run begins once more, and once alone', async () => {
  const ends: string[] = [];
  const patience = new Patience(() => ends.push('over'));
  patience.begin(20);
  const behind = new Promise((resolve) => setTimeout(resolve, 21));
  holdUp(400);
  await behind;
  assert.deepEqual(ends, []);
  const once = new Promise((resolve) => setTimeout(resolve, 21));
  holdUp(400);
  await once;
  assert.deepEqual(ends, ['over']);
  patience.end();
});

/** Answers the first half at once, the other when it is told to, and says so. */
const SERVER = `
const { parentPort } = require('node:worker_threads');
const server = require('node:http').createServer((request, response) => {
  response.write('early ');
  parentPort.once('message', () => setTimeout(() => response.end('late'), 50));
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

test('an answer that came while the process was stopped is read', async () => {
  const server = new Worker(SERVER, { eval: true });
  try {
    const [port] = await once(server, 'message');
    const http = createHttp({ stallMs: 200 }, { env: {}, settings: {} });
    const url = new URL(`http://127.0.0.1:${port}/`);
    const answer = await http.send({ method: 'POST', url, headers: {}, body: [] }, NEVER);
    let text = '';
    for (let reads = await answer.read(); reads !== undefined; reads = await answer.read()) {
      text += Buffer.concat(reads);
      if (text !== 'early ') continue;
      const rest = answer.read();
      server.postMessage('go on');
      holdUp(600);
      text += Buffer.concat((await rest) ?? []);
    }
    assert.equal(text, 'early late');
  } finally {
    await server.terminate();
  }
});
