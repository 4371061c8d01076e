// On an X server of its own: what is clicked and typed arrives in a real program, and what the model sees is the screen.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDisplay } from '../../../test/support/display.ts';
import { eventually } from '../../../test/support/processes.ts';
import { realClock, toolContext } from '../../../test/support/tool-context.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { ToolContext, ToolOutput } from '../../core/tool.ts';
import { createLocalFiles } from '../files/local-files.ts';
import { createExec } from '../process/exec.ts';
import { createComputerTool, type Desktop } from './computer-tool.ts';
import { readKeys } from './keys.ts';
import { onDisplay, onImage, screenOf } from './screen.ts';

interface Opened extends AsyncDisposable {
  readonly file: string;
  readonly context: ToolContext;
  do(input: JsonObject, changes?: Partial<ToolContext>): Promise<ToolOutput>;
  text(input: JsonObject): Promise<string>;
  openTerminal(): Promise<void>;
  typed(expected: string): Promise<void>;
}

async function open(width: number, height: number): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'crab-computer-'));
  const display = await openDisplay(width, height);
  const exec = createExec({ env: display.env, clock: realClock });
  const context = toolContext(folder, { exec, files: createLocalFiles(), scratch: async () => folder });
  const tool = createComputerTool({ platform: 'linux', env: display.env });
  const run = (input: JsonObject, changes: Partial<ToolContext> = {}) =>
    tool.run(tool.prepare?.(input) ?? input, { ...context, ...changes });
  const file = join(folder, 'typed');
  return {
    file,
    context,
    do: run,
    text: async (input) => {
      const { content } = await run(input);
      return content.map((block) => (block.type === 'text' ? block.text : `<${block.mimeType}>`)).join('\n');
    },
    openTerminal: () => display.openTerminal(file),
    typed: (expected) =>
      eventually(
        `${JSON.stringify(expected)} is typed`,
        async () => (await readFile(file, 'utf8')) === expected,
      ),
    async [Symbol.asyncDispose]() {
      await display[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Width and height of a PNG (its IHDR chunk). */
function pngSize(output: ToolOutput): readonly number[] {
  const image = output.content.find((block) => block.type === 'image');
  const bytes = Buffer.from(image?.data ?? '', 'base64');
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

async function failureOf(doing: Promise<unknown>): Promise<string> {
  const error: unknown = await doing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ToolFailure, String(error));
  return error.message;
}

test('text, keys and clicks reach a program, and each is answered with the screen', async () => {
  await using at = await open(1024, 768);
  await at.openTerminal();
  const focused = await at.do({ action: 'left_click', coordinate: [300, 300] });
  assert.deepEqual(pngSize(focused), [1024, 768]);
  assert.equal(
    await at.text({ action: 'type', text: 'Grüße & $(echo no) -- "x"\n' }),
    'Typed 26 characters. The screen, 1024 by 768 pixels.\n<image/png>',
  );
  await at.typed('ready\nGrüße & $(echo no) -- "x"\n');
  await at.do({ action: 'type', text: 'wrong' });
  assert.match(await at.text({ action: 'key', text: 'ctrl+u' }), /^Pressed ctrl\+u\./);
  await at.do({ action: 'type', text: 'right' });
  await at.do({ action: 'keypress', keys: 'Enter' });
  await at.typed('ready\nGrüße & $(echo no) -- "x"\nright\n');
});

test('a display that is larger than models look at is made smaller, and coordinates follow', async () => {
  await using at = await open(2732, 1536);
  assert.deepEqual(pngSize(await at.do({ action: 'screenshot' })), [1366, 768]);
  assert.equal(
    await at.text({ action: 'mouse_move', coordinate: [1365, 767] }),
    'The pointer is at [1365, 767].',
  );
  assert.equal(await at.text({ action: 'mouse_move', x: 100, y: 50 }), 'The pointer is at [100, 50].');
  assert.equal(await at.text({ action: 'cursor_position' }), 'The pointer is at [100, 50].');
  assert.equal(
    await failureOf(at.do({ action: 'left_click', coordinate: [1366, 10] })),
    '[1366, 10] is outside of the screen, which is 1366 by 768 pixels here.',
  );
});

test('windows are listed with their place, and focused by title', async () => {
  await using at = await open(1024, 768);
  assert.equal(await at.text({ action: 'list_windows' }), '[There is no window.]');
  await at.openTerminal();
  assert.match(await at.text({ action: 'list_windows' }), /^\d+ \[0, 0\] \d+x\d+ notes$/);
  assert.match(
    await failureOf(at.do({ action: 'focus_window', window: 'nope' })),
    /^No window has "nope" in its title\. There is: \d+ notes\.$/,
  );
  await at.do({ action: 'mouse_move', coordinate: [1023, 767] });
  assert.match(await at.text({ action: 'focus_window', window: 'Note' }), /^Focused notes\./);
  await at.do({ action: 'type', text: 'here\n' });
  await at.typed('ready\nhere\n');
});

test('a drag selects, and the middle button pastes what was selected', async () => {
  await using at = await open(1024, 768);
  await at.openTerminal();
  await at.do({ action: 'left_click', coordinate: [300, 300] });
  await at.do({ action: 'type', text: 'abc\n' });
  await at.typed('ready\nabc\n');
  await at.do({ action: 'left_click_drag', start_coordinate: [1, 6], coordinate: [900, 6] });
  await at.do({ action: 'middle_click', coordinate: [300, 300] });
  await at.typed('ready\nabc\nabc\n');
});

test('scrolling, multiple clicks and held keys are done without complaint', async () => {
  await using at = await open(800, 600);
  const place = { coordinate: [10, 10] };
  assert.match(
    await at.text({ action: 'scroll', scroll_direction: 'down', scroll_amount: 3, ...place }),
    /^Scrolled\./,
  );
  assert.match(await at.text({ action: 'triple_click', text: 'ctrl shift', ...place }), /^Clicked\./);
  assert.match(
    await at.text({ action: 'wait', duration: 0.01 }),
    /^Waited\. The screen, 800 by 600 pixels\./,
  );
  assert.equal(
    await failureOf(at.do({ action: 'scroll' })),
    'scroll needs scroll_direction: up, down, left or right.',
  );
  assert.match(
    await failureOf(at.do({ action: 'key', text: 'ctrl+nosuchkey' })),
    /No such key name 'nosuchkey'/,
  );
  assert.match(
    await failureOf(at.do({ action: 'type', text: 'x'.repeat(10_001) })),
    /at most 10000 are typed/,
  );
  assert.equal(
    await failureOf(at.do({ action: 'left_click_drag' })),
    'left_click_drag needs coordinate: [x, y].',
  );
});

test('an interrupted call ends at once', async () => {
  await using at = await open(800, 600);
  const stop = new AbortController();
  const waiting = at.do({ action: 'wait', duration: 60 }, { signal: stop.signal });
  stop.abort(new Error('The person pressed a key.'));
  await assert.rejects(waiting, /pressed a key/);
});

test('where there is no X display, it says what is missing and runs nothing', async () => {
  const refused = (desktop: Desktop) =>
    failureOf(createComputerTool(desktop).run({ action: 'screenshot' }, toolContext('/')));
  assert.match(await refused({ platform: 'linux', env: {} }), /DISPLAY is not set/);
  assert.match(
    await refused({ platform: 'linux', env: { DISPLAY: ':0', WAYLAND_DISPLAY: 'wayland-0' } }),
    /^This session runs Wayland/,
  );
  assert.match(
    await refused({ platform: 'darwin', env: { DISPLAY: ':0' } }),
    /desktop of macOS cannot be used/,
  );
  assert.match(await refused({ platform: 'win32', env: {} }), /desktop of Windows cannot be used/);
});

test('where programs are missing, or the display does not answer, it says which', async () => {
  const env = { DISPLAY: ':99999', PATH: process.env['PATH'] };
  const with_ = (given: Readonly<Record<string, string | undefined>>) => {
    const context = toolContext('/', { exec: createExec({ env: given, clock: realClock }) });
    return failureOf(
      createComputerTool({ platform: 'linux', env: given }).run({ action: 'screenshot' }, context),
    );
  };
  assert.match(await with_({ ...env, PATH: '/nowhere' }), /^xdotool is not installed here/);
  assert.match(await with_(env), /^xdotool getdisplaygeometry failed: .*display/i);
});

test('every call is for the gate to ask about, and none is started early', async () => {
  const tool = createComputerTool({ platform: 'linux', env: {} });
  for (const action of ['screenshot', 'type', 'list_windows'])
    assert.deepEqual(await tool.plan({ action }, '/'), {
      access: {
        kind: 'external',
        server: 'desktop',
        does: 'sees your whole screen and uses mouse and keyboard as you would',
        sessionOnly: true,
      },
      parallel: false,
      repeatable: false,
    });
  assert.deepEqual(await tool.show({ action: 'type', text: 'rm -rf /' }), {
    kind: 'markdown',
    text: '`computer` type, text: "rm -rf /"',
  });
});

test('keys are understood as models write them', () => {
  assert.deepEqual(readKeys('Enter'), ['Return']);
  assert.deepEqual(readKeys('cmd+ArrowLeft ctrl++ F5 a'), ['super+Left', 'ctrl+plus', 'F5', 'a']);
  assert.deepEqual(readKeys('ctrl+/ +'), ['ctrl+slash', 'plus']);
  assert.throws(() => readKeys('--window'), ToolFailure);
  assert.throws(() => readKeys('  '), ToolFailure);
});

test('every pixel of the image leads to one of the display and back', () => {
  for (const [width, height] of [
    [800, 600],
    [1920, 1080],
    [3840, 2160],
    [1080, 1921],
  ] as const) {
    const screen = screenOf({ width, height });
    const size = screen.image;
    assert.ok(Math.max(size.width, size.height) <= 1366);
    for (let x = 0; x < size.width; x += 7)
      for (let y = 0; y < size.height; y += 11) {
        const there = onDisplay({ x, y }, screen);
        assert.ok(there.x < width && there.y < height);
        assert.deepEqual(onImage(there, screen), { x, y });
      }
  }
});
