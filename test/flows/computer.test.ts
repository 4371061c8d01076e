// The desktop through the whole program: asked about always, seen as an image, and used as a person would.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { openDisplay } from '../support/display.ts';
import { type FlowWire, journey, onEachWire, resultOf } from '../support/journey.ts';
import { eventually } from '../support/processes.ts';

const computer = (input: Readonly<Record<string, unknown>>) => ({ calls: [{ name: 'computer', input }] });

const script = [
  computer({ action: 'left_click', coordinate: [200, 200] }),
  computer({ action: 'type', text: 'hello from the model\n' }),
  computer({ action: 'screenshot' }),
  { text: 'Typed.' },
];

const ALLOWED = ['--allowedTools', 'computer'];

onEachWire('the model sees the screen and types into a program on it', async (wire: FlowWire) => {
  await using display = await openDisplay(800, 600);
  await using at = await journey(wire, { script });
  const file = at.work.file('typed');
  await display.openTerminal(file);
  const exit = await at.run(['-p', 'type', '--output-format', 'json', ...ALLOWED], { env: display.env });
  assert.equal(exit.code, 0, exit.stderr);
  assert.equal(resultOf(exit)['result'], 'Typed.');
  const isTyped = async () => (await readFile(file, 'utf8')) === 'ready\nhello from the model\n';
  await eventually('it is typed', isTyped);
  const sent = JSON.stringify(at.provider.requests.at(-1));
  assert.ok(sent.includes('The screen, 800 by 600 pixels.'));
  // The first bytes of every PNG, in base64.
  assert.ok(sent.includes('iVBORw0KGgo'));
});

onEachWire('where nobody can be asked it is refused, and nothing is typed', async (wire: FlowWire) => {
  await using display = await openDisplay(800, 600);
  await using at = await journey(wire, { script });
  const file = at.work.file('typed');
  await display.openTerminal(file);
  const exit = await at.run(['-p', 'type', '--permission-mode', 'acceptEdits'], { env: display.env });
  assert.equal(exit.code, 7);
  assert.match(
    exit.stderr,
    /computer was refused: Computer sees your whole screen and uses mouse and keyboard as you would; /,
  );
  assert.equal(await readFile(file, 'utf8'), 'ready\n');
});

onEachWire('without a screen the model is told what is missing', async (wire: FlowWire) => {
  await using at = await journey(wire, {
    script: [computer({ action: 'screenshot' }), { text: 'No screen.' }],
  });
  const env = { DISPLAY: undefined, WAYLAND_DISPLAY: undefined };
  const exit = await at.run(['-p', 'look', ...ALLOWED], { env });
  assert.equal(exit.stdout, 'No screen.\n');
  assert.match(JSON.stringify(at.asked().at(-1)?.messages), /DISPLAY is not set/);
});
