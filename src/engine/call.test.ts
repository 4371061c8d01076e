import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resultText, runQuery, testTool } from '../../test/support/query.ts';
import { scriptedModel } from '../../test/support/scripted-model.ts';
import { virtualClock } from '../../test/support/virtual-clock.ts';
import type { Extension } from '../core/extension.ts';
import { MAX_RESULT_BYTES } from '../core/limits.ts';
import { type ToolOutput, textOutput } from '../core/tool.ts';

const never = () => new Promise<never>(() => {});

/** What the model was told of one call of `look`. */
async function told(run: () => unknown, extensions: readonly Extension[] = []): Promise<string> {
  const model = scriptedModel([{ calls: [{ name: 'look', input: {} }] }, { text: 'ok' }]);
  const tool = testTool({ name: 'look', run: run as () => ToolOutput });
  const { results, end } = await runQuery({ model, tools: [tool], extensions });
  assert.equal(end.outcome, 'done');
  return `${results[0]?.isError ? 'error: ' : ''}${resultText(results[0])}`;
}

describe('a tool that is not as it should be', () => {
  const nothing = /^error: look failed: it returned something that is no result\.$/;
  const rows: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['throws', () => Promise.reject(new Error('broken')), /^error: look failed: broken$/],
    ['throws what is no error', () => Promise.reject('a word'), /^error: look failed: a word$/],
    ['returns nothing', async () => undefined, nothing],
    ['returns a text', async () => 'text', nothing],
    ['returns content that is no list', async () => ({ content: 'text', isError: false }), nothing],
    ['returns a block of no kind', async () => ({ content: [{ type: 'x' }] }), nothing],
    ['returns half a character', async () => textOutput('a\ud800b'), /^a\ufffdb$/],
    ['returns nothing to show', async () => ({ content: [], isError: false }), /^\(no output\)$/],
  ];
  for (const [what, run, expected] of rows)
    it(`and ${what} costs its call and not the run`, async () => assert.match(await told(run), expected));

  it('is shown what it said up to the bound, with head, tail and exact counts', async () => {
    const lines = Array.from({ length: 200_000 }, (_, at) => `line ${at} of it, as long as this`);
    const text = `${lines.join('\n')}\n`;
    const shown = await told(async () => textOutput(text));
    assert.ok(Buffer.byteLength(shown) <= MAX_RESULT_BYTES);
    const [, head = '', count, bytes, tail = ''] =
      /^(.*?)\[(\d+) lines \((\d+) bytes\) left out here; the whole output is in \/spill\/\w+\]\n(.*)$/s.exec(
        shown,
      ) ?? [];
    assert.ok(text.startsWith(head) && text.endsWith(tail) && head.endsWith('\n'));
    assert.equal(Number(bytes), Buffer.byteLength(text) - head.length - tail.length);
    assert.equal(Number(count), 200_000 - head.split('\n').length - tail.split('\n').length + 2);
  });

  it('never cuts a character in two', async () => {
    for (const padding of ['', 'a', 'ab', 'abc']) {
      const shown = await told(async () => textOutput(padding + '😀'.repeat(100_000)));
      assert.match(shown, /^\w*😀+\n\[\d+ bytes left out here; [^\]]+\]\n😀+$/u);
    }
  });

  it('has an image that no provider takes left out', async () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(8_000_000) } as const;
    const shown = await told(async () => ({ content: [image], isError: false }));
    assert.equal(shown, '[image (image/png, 6000000 bytes) left out: at most 3932160 bytes can be shown]');
  });
});

describe('a call that is cancelled', () => {
  const cancelled = async (
    tool: Parameters<typeof testTool>[0],
    extensions: readonly Extension[] = [],
    before: (clock: ReturnType<typeof virtualClock>) => Promise<void> = async () => {},
  ) => {
    const clock = virtualClock();
    const stop = new AbortController();
    const model = scriptedModel([{ calls: [{ name: tool.name, input: {} }] }, { text: 'ok' }]);
    const running = runQuery({ model, tools: [testTool(tool)], extensions, clock, signal: stop.signal });
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('cancelled'));
    await before(clock);
    const { results, end } = await running;
    assert.equal(end.outcome, 'cancelled');
    return results.map(resultText);
  };

  it('ends although the tool never does, after a time to clean up', async () => {
    const results = await cancelled({ name: 'stuck', run: never }, [], async (clock) => {
      await clock.untilSleeping();
      await clock.advance(10_000);
    });
    assert.deepEqual(results, [
      'The call was interrupted. stuck did not end when it was told to, and may still be at work.',
    ]);
  });

  it('has the result of a tool that ends in its own way', async () => {
    const run = (_input: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<ToolOutput>((resolve) =>
        signal.addEventListener('abort', () => resolve(textOutput('half of it'))),
      );
    assert.deepEqual(await cancelled({ name: 'polite', run }), ['half of it']);
  });

  it('ends although an extension never answers', async () => {
    const before = { name: 'stuck', beforeCall: never };
    assert.deepEqual(await cancelled({ name: 'look' }, [before]), ['The call was interrupted.']);
    const after = { name: 'stuck', afterCall: never };
    assert.deepEqual(await cancelled({ name: 'look' }, [after]), ['look {}']);
  });
});
