import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CrabError } from '../core/errors.ts';
import { parsePrompt, readPrompts } from './input-json.ts';

const line = (content: unknown): string =>
  JSON.stringify({ type: 'user', message: { role: 'user', content } });

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  ['not JSON', '{"type":', /^Line 7 of the input is not JSON: /],
  ['not an object', '[]', /^Line 7 of the input: the line must be a JSON object\.$/],
  ['another type', '{"type":"control_request"}', /^Line 7 of the input: `type` must be "user"\.$/],
  ['no message', '{"type":"user"}', /`message` must be an object\.$/],
  ['another role', '{"type":"user","message":{"role":"system"}}', /`message.role` must be "user"\.$/],
  [
    'no content',
    '{"type":"user","message":{"role":"user"}}',
    /`message.content` must be a string or a list of blocks\.$/,
  ],
  ['a block that is no object', line(['text']), /`message.content\[0\]` must be an object\.$/],
  [
    'an unknown block',
    line([{ type: 'text', text: 'a' }, { type: 'video' }]),
    /`message.content\[1\].type` must be "text", "image" or "document"\.$/,
  ],
  [
    'a text that is no string',
    line([{ type: 'text', text: 1 }]),
    /`message.content\[0\].text` must be a string\.$/,
  ],
  [
    'an image by address',
    line([{ type: 'image', source: { type: 'url' } }]),
    /`message.content\[0\].source.type` must be "base64"\.$/,
  ],
  [
    'an image without a type',
    line([{ type: 'image', source: { type: 'base64', data: '' } }]),
    /source.media_type` must be a string\.$/,
  ],
];

async function collect(pieces: readonly (string | Uint8Array)[]): Promise<unknown[]> {
  async function* source(): AsyncIterable<string | Uint8Array> {
    yield* pieces;
  }
  const prompts: unknown[] = [];
  for await (const prompt of readPrompts(source())) prompts.push(prompt);
  return prompts;
}

function isError(code: string, message: RegExp) {
  return (error: unknown): boolean =>
    error instanceof CrabError && error.code === code && message.test(error.message);
}

suite('stream-json input', () => {
  test('text and blocks become a prompt', () => {
    assert.deepEqual(parsePrompt(line('hello'), 1), { text: 'hello' });
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const blocks = [{ type: 'text', text: 'look' }, image, { type: 'text', text: 'here' }];
    assert.deepEqual(parsePrompt(line(blocks), 1), {
      text: 'look\nhere',
      attachments: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    });
  });

  test('fields that other writers add are passed over', () => {
    const extra = {
      type: 'user',
      session_id: 's',
      parent_tool_use_id: null,
      uuid: 'u',
      message: { role: 'user', content: 'hi' },
    };
    assert.deepEqual(parsePrompt(JSON.stringify(extra), 1), { text: 'hi' });
  });

  for (const [name, input, message] of REFUSED) {
    test(`${name} is refused by line and field`, () => {
      assert.throws(() => parsePrompt(input, 7), isError('input-malformed', message));
    });
  }

  test('an empty prompt is refused', () => {
    assert.throws(() => parsePrompt(line('  '), 2), isError('input-empty', /^Line 2/));
    assert.throws(() => parsePrompt(line([]), 2), isError('input-empty', /^Line 2/));
  });

  test('lines are found wherever the pieces are cut, inside a letter as well', async () => {
    const bytes = new TextEncoder().encode(`${line('zwölf')}\r\n\n${line('€')}`);
    const pieces = Array.from(bytes, (_, at) => bytes.slice(at, at + 1));
    assert.deepEqual(await collect(pieces), [{ text: 'zwölf' }, { text: '€' }]);
  });

  test('what is not UTF-8 is refused by its line', async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode(`${line('a')}\n`), 0xff, 0xfe]);
    await assert.rejects(collect([bytes]), isError('input-not-text', /^Line 1 of the input is not UTF-8\.$/));
  });

  test('a line without end is refused instead of kept', async () => {
    const piece = 'x'.repeat(1024 * 1024);
    await assert.rejects(
      collect(Array(40).fill(piece)),
      isError('input-too-large', /^Line 1 of the input is longer than 32 MiB\.$/),
    );
  });
});
