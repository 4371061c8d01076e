// Images and documents that a command line attaches: on the wire, on the tape, and refused when they are neither.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journey, onEachWire, onlySession } from '../support/journey.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n');
const FILES = { 'dot.png': PNG, 'paper.pdf': PDF, 'notes.txt': 'hello\n', program: Buffer.from('\x7fELF\0') };

onEachWire('an image and a document go with the prompt, and stay in the session', async (wire) => {
  await using at = await journey(wire, {
    script: [{ text: 'A dot.' }, { text: 'Still a dot.' }],
    files: FILES,
  });
  const exit = await at.run(['-p', 'what is it?', '--attach', 'dot.png', '-i', 'paper.pdf']);
  assert.deepEqual(exit, { code: 0, signal: null, stdout: 'A dot.\n', stderr: '' });
  await at.run(['-c', '-p', 'really?']);
  const [png, pdf] = [PNG.toString('base64'), PDF.toString('base64')];
  const content =
    wire === 'anthropic'
      ? [
          { type: 'text', text: 'what is it?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: pdf },
            title: 'paper.pdf',
          },
        ]
      : [
          { type: 'text', text: 'what is it?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
          // A server of one's own is not known to understand documents.
          {
            type: 'text',
            text: '[paper.pdf (application/pdf) is left out: this model cannot be shown it.]',
          },
        ];
  for (const { body } of at.provider.requests) {
    const { messages } = body as { messages: { role: string; content: object[] }[] };
    const first = messages.find(({ role }) => role === 'user');
    // The last turns carry a mark for the cache.
    const plain = first?.content.map(({ cache_control, ...block }: { cache_control?: unknown }) => block);
    assert.deepEqual(plain, content);
  }
  assert.equal(at.provider.requests.length, 2);
  const session = await onlySession(at);
  const [entry] = session.entries.filter((one) => one.type === 'message');
  assert.deepEqual(entry?.type === 'message' && entry.message.content, [
    { type: 'text', text: 'what is it?' },
    { type: 'image', data: png, mimeType: 'image/png' },
    { type: 'document', data: pdf, mimeType: 'application/pdf', name: 'paper.pdf' },
  ]);
});

test('what no model can look at is refused before anything is sent', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'x' }], files: FILES });
  for (const [path, message] of [
    ['notes.txt', /--attach: .*notes\.txt is no image and no PDF\. \[usage\]\nName the file in the prompt/],
    ['program', /--attach: .*program is an ELF program\. \[usage\]\nAttach a PNG/],
    ['nothing.png', /--attach: .*nothing\.png/],
    ['.', /--attach: .* is no regular file\./],
  ] as const) {
    const exit = await at.run(['-p', 'look', '--attach', path]);
    assert.equal(exit.code, 2, exit.stderr);
    assert.match(exit.stderr, message);
  }
  assert.equal(at.provider.requests.length, 0);
});
