import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import { type Cassette, type Exchange, parseCassette } from './cassette.ts';
import { createHttp, type HttpAnswer, type HttpRequest } from './http.ts';
import { recordHttp } from './record-http.ts';
import { replayHttp } from './replay-http.ts';
import { serve } from './testing.ts';

const NEVER = new AbortController().signal;
const HEADER = { type: 'cassette', version: 1, time: 0, seed: 1, env: {} } as const;

function request(url: string, body = 'question'): HttpRequest {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer secret', 'x-team': 'blue' };
  return { method: 'POST', url: new URL(url), headers, body: [Buffer.from(body)] };
}

/** Records what `use` does, and returns the recording as it would be read from its file. */
async function recorded(use: (http: ReturnType<typeof recordHttp>) => Promise<void>): Promise<Cassette> {
  const lines: Exchange[] = [];
  let time = 0;
  const redact = (text: string) => text.replaceAll('secret', '[key]');
  await use(recordHttp(createHttp(), { write: (line) => lines.push(line), step: () => ++time, redact }));
  return parseCassette([HEADER, ...lines].map((line) => JSON.stringify(line)).join('\n'), 'test');
}

function replay(cassette: Cassette): ReturnType<typeof replayHttp> & { readonly steps: number[] } {
  const steps: number[] = [];
  const redact = (text: string) => text;
  const player = { step: (time: number) => void steps.push(time), differs() {}, redact };
  return { ...replayHttp(cassette, player), steps };
}

async function whole(answer: HttpAnswer): Promise<Buffer> {
  const all: Buffer[] = [];
  for (let reads = await answer.read(); reads !== undefined; reads = await answer.read()) all.push(...reads);
  return Buffer.concat(all);
}

test('of an exchange the texts are kept, and of headers those that hold no secret', async () => {
  await using server = await serve((response) => {
    response.writeHead(429, { 'retry-after': '3', 'set-cookie': 'secret', 'x-ratelimit-limit-tokens': '9' });
    response.end('not with that secret');
  });
  const { exchanges } = await recorded(async (http) => {
    await whole(await http.send(request(`${server.url}/v1?key=secret`, 'my secret'), NEVER));
  });
  assert.deepEqual(exchanges, [
    {
      type: 'exchange',
      request: {
        method: 'POST',
        url: `${server.url}/v1?key=[key]`,
        headers: { 'content-type': 'application/json' },
        body: 'my [key]',
      },
      sentAt: 1,
      answer: {
        status: 429,
        headers: { 'retry-after': '3', 'x-ratelimit-limit-tokens': '9' },
        text: 'not with that [key]',
        reads: [19],
      },
      endedAt: 2,
    },
  ]);
});

test('bytes that are no text come back as they were, read by read', async () => {
  const parts = [Buffer.of(0, 255, 128), Buffer.of(1, 2)];
  await using server = await serve(async (response) => {
    for (const part of parts) await new Promise((resolve) => response.write(part, resolve));
    response.end();
  });
  const live: number[] = [];
  const cassette = await recorded(async (http) => {
    const answer = await http.send(request(server.url), NEVER);
    for (let reads = await answer.read(); reads !== undefined; reads = await answer.read())
      live.push(Buffer.concat(reads as Buffer[]).length);
  });
  const player = replay(cassette);
  const answer = await player.send(request('http://elsewhere.example/'), NEVER);
  const played: number[] = [];
  const bytes: Buffer[] = [];
  for (let reads = await answer.read(); reads !== undefined; reads = await answer.read()) {
    played.push(Buffer.concat(reads as Buffer[]).length);
    bytes.push(...reads);
  }
  assert.deepEqual(played, live);
  assert.deepEqual(Buffer.concat(bytes), Buffer.concat(parts));
  assert.deepEqual(player.steps, [1, 2]);
});

test('a connection that failed fails again, before and in the middle of an answer', async () => {
  await using server = await serve((response, { path }) => {
    if (path === '/none') response.destroy();
    else response.write('half', () => response.destroy());
  });
  const failure = async (http: { send: ReturnType<typeof replay>['send'] }, path: string) => {
    try {
      await whole(await http.send(request(`${server.url}${path}`), NEVER));
    } catch (error) {
      if (error instanceof CrabError) return { code: error.code, message: error.message };
    }
    return assert.fail('no failure');
  };
  const live: object[] = [];
  const cassette = await recorded(async (http) => {
    for (const path of ['/none', '/half']) live.push(await failure(http, path));
  });
  const player = replay(cassette);
  assert.deepEqual([await failure(player, '/none'), await failure(player, '/half')], live);
});

test('the answer to the very same request is preferred to the next one', async () => {
  let turn = 0;
  await using server = await serve((response) => response.end(String(++turn)));
  const cassette = await recorded(async (http) => {
    for (const body of ['a', 'b', 'c']) await whole(await http.send(request(server.url, body), NEVER));
  });
  const player = replay(cassette);
  const said: string[] = [];
  for (const body of ['c', 'x', 'b'])
    said.push((await whole(await player.send(request(server.url, body), NEVER))).toString());
  assert.deepEqual(said, ['3', '1', '2']);
});
