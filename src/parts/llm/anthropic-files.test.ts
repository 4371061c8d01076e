import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { Message } from '../../core/message.ts';
import {
  ANTHROPIC_HELLO,
  anthropicAt,
  assistant,
  chunks,
  helloChunks,
  modelRequest,
  serve,
  user,
} from './testing.ts';

const LARGE = 'A'.repeat(4 * 1024 * 1024 + 4);
const HELLO = helloChunks('msg_1', 'claude-test');
const NAME = `crab-${createHash('sha256').update(Buffer.from(LARGE, 'base64')).digest('hex')}.pdf`;
const BETA = 'files-api-2025-04-14';

function document(data: string): Message {
  const block = { type: 'document', data, mimeType: 'application/pdf', name: 'a.pdf' } as const;
  return { role: 'user', content: [block, { type: 'text', text: 'Read' }], timestamp: 0 };
}

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A provider whose Files API holds these files. */
function provider(files: readonly object[], onUpload: (response: ServerResponse) => void) {
  return serve((response, { method, path }) => {
    if (path === '/v1/messages') return void response.end(ANTHROPIC_HELLO);
    if (method === 'GET') return json(response, { data: files });
    if (method === 'DELETE') return json(response, { type: 'file_deleted' });
    return onUpload(response);
  });
}

type Server = Awaited<ReturnType<typeof provider>>;

function asked(server: Server): readonly string[] {
  return server.received.map(({ method, path }) => `${method} ${path}`);
}

/** Where the document of each request for an answer came from. */
function sources(server: Server): readonly unknown[] {
  return server.received
    .filter(({ path }) => path === '/v1/messages')
    .map(({ body, headers }) => {
      const { type, file_id: id } = JSON.parse(body).messages[0].content[0].source;
      return [type, id, headers['anthropic-beta']];
    });
}

test('a large document is uploaded once and named in every request that holds it', async () => {
  await using server = await provider([], (response) => json(response, { id: 'file_1', type: 'file' }));
  const model = await anthropicAt(server.url);
  const history = [document(LARGE)];
  assert.deepEqual(await chunks(model, modelRequest({ messages: history })), HELLO);
  history.push(assistant([{ type: 'text', text: 'Hello' }]), user('And?'));
  assert.deepEqual(await chunks(model, modelRequest({ messages: history })), HELLO);
  assert.deepEqual(asked(server), [
    'GET /v1/files?limit=1000',
    'POST /v1/files',
    'POST /v1/messages',
    'POST /v1/messages',
  ]);
  assert.deepEqual(sources(server), [
    ['file', 'file_1', BETA],
    ['file', 'file_1', BETA],
  ]);
  const upload = server.received[1];
  assert.equal(upload?.headers['x-api-key'], 'sk-ant-secret');
  const boundary = /^multipart\/form-data; boundary=(\S{1,70})$/.exec(
    upload?.headers['content-type'] ?? '',
  )?.[1];
  const [head, content] = upload?.body.split('\r\n\r\n') ?? [];
  assert.equal(
    head,
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${NAME}"\r\ncontent-type: application/pdf`,
  );
  assert.equal(content, `${Buffer.from(LARGE, 'base64')}\r\n--${boundary}--\r\n`);
});

test('what is there already is not uploaded again, and old files of Crab’s alone are deleted', async () => {
  const now = Date.UTC(2026, 0, 1);
  const created = (days: number) => new Date(now - days * 24 * 3_600_000).toISOString();
  const files = [
    { id: 'file_old', filename: 'crab-1.pdf', created_at: created(31) },
    { id: 'file_mine', filename: 'mine.pdf', created_at: created(99) },
    { id: 'file_kept', filename: NAME, created_at: created(29) },
  ];
  await using server = await provider(files, () => assert.fail('it was uploaded'));
  const model = await anthropicAt(server.url);
  await chunks(model, modelRequest({ messages: [document(LARGE)] }));
  assert.deepEqual(asked(server), [
    'GET /v1/files?limit=1000',
    'DELETE /v1/files/file_old',
    'POST /v1/messages',
  ]);
  assert.deepEqual(sources(server), [['file', 'file_kept', BETA]]);
});

test('a small document goes along, and nothing else is asked', async () => {
  await using server = await provider([], () => assert.fail('it was uploaded'));
  const model = await anthropicAt(server.url);
  await chunks(model, modelRequest({ messages: [document('JVBERi0=')] }));
  assert.deepEqual(sources(server), [['base64', undefined, undefined]]);
  assert.equal(server.received.length, 1);
});

test('without a Files API it is asked for once, and the document goes along', async () => {
  for (const refuse of [
    (response: ServerResponse) => json(response, { error: { message: 'No such page' } }, 404),
    (response: ServerResponse) => void response.end('<html>'),
    (response: ServerResponse) => json(response, { id: null }),
  ]) {
    await using server = await provider([], refuse);
    const model = await anthropicAt(server.url);
    const history = [document(LARGE)];
    assert.deepEqual(await chunks(model, modelRequest({ messages: history })), HELLO);
    history.push(assistant([{ type: 'text', text: 'Hello' }]), document(`${LARGE}AAAA`));
    assert.deepEqual(await chunks(model, modelRequest({ messages: history })), HELLO);
    assert.deepEqual(asked(server).slice(1), ['POST /v1/files', 'POST /v1/messages', 'POST /v1/messages']);
    assert.deepEqual(sources(server), [
      ['base64', undefined, undefined],
      ['base64', undefined, undefined],
    ]);
  }
});

test('a fault that passes costs one document its place, and no request', async () => {
  let uploads = 0;
  await using server = await provider([], (response) =>
    ++uploads === 1 ? json(response, {}, 500) : json(response, { id: 'file_2' }),
  );
  const model = await anthropicAt(server.url);
  const history = [document(LARGE)];
  assert.deepEqual(await chunks(model, modelRequest({ messages: history })), HELLO);
  const other = [document(LARGE)];
  assert.deepEqual(await chunks(model, modelRequest({ messages: other })), HELLO);
  assert.deepEqual(sources(server), [
    ['base64', undefined, undefined],
    ['file', 'file_2', BETA],
  ]);
});

test('cancelled while it uploads, a request ends at once', async () => {
  const cancel = new AbortController();
  await using server = await provider([], () => cancel.abort());
  const model = await anthropicAt(server.url);
  const got = await chunks(model, modelRequest({ messages: [document(LARGE)] }), cancel.signal);
  assert.deepEqual(
    got.map((chunk) => chunk.type === 'failure' && chunk.error.code),
    ['interrupted'],
  );
  assert.deepEqual(asked(server), ['GET /v1/files?limit=1000', 'POST /v1/files']);
});
