import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { Answer } from './answer.ts';

const LIMITS = {
  connectMs: 10_000,
  headersMs: 10_000,
  firstByteMs: 10_000,
  stallMs: 10_000,
  firstContentMs: 10_000,
  contentMs: 10_000,
  maxBytes: 1000,
};

test('whoever waits for an answer that is thrown away is told, also when all of it has come over the line', async () => {
  const message = Object.assign(new PassThrough(), { statusCode: 200, headers: {}, complete: true });
  const answer = new Answer(message as unknown as IncomingMessage, LIMITS, 'host', () => {});
  const reading = answer.read();
  answer.destroy();
  await assert.rejects(reading, { code: 'stream-cut' });
});
