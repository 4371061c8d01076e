// What each action of the tool `computer` does, and the picture of what came of it.

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import type { Action, Desktop } from './computer-tool.ts';
import { readKeys } from './keys.ts';
import { onDisplay, onImage, type Point, type Screen, screenOf, takePicture } from './screen.ts';
import { focusWindow, listWindows, windowLine } from './windows.ts';
import { displaySize, xdotool } from './x11.ts';

/** Milliseconds for programs to draw what came of an action. */
const SETTLE_MS = 500;

/** Milliseconds between two characters: faster than that, some programs lose keys. */
const TYPING_DELAY_MS = 8;
const MAX_TEXT_LENGTH = 10_000;

const CLICKS: Readonly<Partial<Record<Action, readonly [button: string, times: string]>>> = {
  left_click: ['1', '1'],
  middle_click: ['2', '1'],
  right_click: ['3', '1'],
  double_click: ['1', '2'],
  triple_click: ['1', '3'],
};

const WHEEL: Readonly<Record<string, string>> = { up: '4', down: '5', left: '6', right: '7' };

interface Doing {
  readonly input: JsonObject;
  readonly context: ToolContext;
  readonly screen: Screen;
}

/** Throws `ToolFailure`. */
export async function act(input: JsonObject, context: ToolContext, desktop: Desktop): Promise<ToolOutput> {
  const screen = screenOf(await displaySize(desktop, context));
  const doing = { input, context, screen };
  const action = input['action'] as Action;
  switch (action) {
    case 'screenshot':
      return pictured('', doing);
    case 'cursor_position':
      return textOutput(await cursorPosition(doing));
    case 'list_windows':
      return windowList(doing);
    case 'mouse_move':
      return textOutput(await move(doing));
    case 'wait':
      await context.clock.sleep(numberOf(input, 'duration', 1) * 1000, context.signal);
      return pictured('Waited.', doing);
    default:
      return settled(await change(action, doing), doing);
  }
}

/** Does what may change the screen, and says it in a word. */
async function change(action: Exclude<Action, 'screenshot' | 'wait'>, doing: Doing): Promise<string> {
  switch (action) {
    case 'type':
      return typeText(doing);
    case 'key':
      return pressKeys(doing);
    case 'scroll':
      return scroll(doing);
    case 'left_click_drag':
      return drag(doing);
    case 'focus_window':
      return `Focused ${(await focusWindow(textOf(doing.input, 'window'), doing.context)).title}.`;
    default:
      return click(action, doing);
  }
}

async function settled(said: string, doing: Doing): Promise<ToolOutput> {
  const { clock, signal } = doing.context;
  await clock.sleep(SETTLE_MS, signal);
  return pictured(said, doing);
}

async function pictured(said: string, { context, screen }: Doing): Promise<ToolOutput> {
  const { data, mimeType, path } = await takePicture(screen, context);
  const { width, height } = screen.image;
  const size = `The screen, ${width} by ${height} pixels.`;
  return {
    content: [
      { type: 'text', text: said === '' ? size : `${said} ${size}` },
      { type: 'image', data, mimeType },
    ],
    isError: false,
    display: { kind: 'image', mimeType, path },
  };
}

async function move({ input, context, screen }: Doing): Promise<string> {
  const place = required(input, 'coordinate', screen);
  return position(await xdotool([...pointer(place), 'getmouselocation', '--shell'], context), screen);
}

/** Where no place is given, it is done where the pointer is. */
async function click(action: Action, doing: Doing): Promise<string> {
  const { input, screen } = doing;
  const [button, times] = CLICKS[action] ?? ['1', '1'];
  const place = pointOf(input, 'coordinate', screen);
  await held(doing, [
    ...(place === undefined ? [] : pointer(place)),
    ...['click', '--repeat', times, '--delay', '60', button],
  ]);
  return 'Clicked.';
}

async function scroll(doing: Doing): Promise<string> {
  const { input, screen } = doing;
  const button = WHEEL[textOf(input, 'scroll_direction')];
  if (button === undefined) throw new ToolFailure('scroll needs scroll_direction: up, down, left or right.');
  const place = pointOf(input, 'coordinate', screen);
  const amount = String(numberOf(input, 'scroll_amount', 3));
  await held(doing, [
    ...(place === undefined ? [] : pointer(place)),
    ...['click', '--repeat', amount, '--delay', '20', button],
  ]);
  return 'Scrolled.';
}

/** With the keys of `text` held down meanwhile. */
async function held({ input, context }: Doing, args: readonly string[]): Promise<void> {
  const text = textOf(input, 'text');
  if (text === '') return void (await xdotool(args, context));
  const keys = readKeys(text);
  try {
    await xdotool(['keydown', ...keys, ...args], context);
  } finally {
    // A key that stays down would spoil whatever the person types next, so this is done even when it is interrupted.
    await xdotool(['keyup', ...keys], { ...context, signal: new AbortController().signal });
  }
}

async function drag({ input, context, screen }: Doing): Promise<string> {
  const end = required(input, 'coordinate', screen);
  const start = pointOf(input, 'start_coordinate', screen);
  try {
    // Programs begin a drag with the first movement, and want to see where it goes.
    await xdotool(
      [
        ...(start === undefined ? [] : pointer(start)),
        ...['mousedown', '1', 'sleep', '0.05', 'mousemove_relative', '--', '3', '3', 'sleep', '0.05'],
        ...[...pointer(end), 'sleep', '0.05', 'mouseup', '1'],
      ],
      context,
    );
  } catch (error) {
    await xdotool(['mouseup', '1'], { ...context, signal: new AbortController().signal });
    throw error;
  }
  return 'Dragged.';
}

/** A character that no key has is given to one for the moment: the program must have heard of it before the key comes. */
const REMAPPED_DELAY_MS = 100;

async function typeText({ input, context }: Doing): Promise<string> {
  const text = textOf(input, 'text');
  if (text === '') throw new ToolFailure('type needs text.');
  if (text.length > MAX_TEXT_LENGTH)
    throw new ToolFailure(
      `The text has ${text.length} characters; at most ${MAX_TEXT_LENGTH} are typed at once.`,
    );
  // By standard input: arguments can be read by every user of the machine.
  const delay = /[^\n -~]/.test(text) ? REMAPPED_DELAY_MS : TYPING_DELAY_MS;
  const args = ['type', '--clearmodifiers', '--delay', String(delay), '--file', '-'];
  await xdotool(args, context, text, 30_000 + text.length * delay * 4);
  return `Typed ${text.length} characters.`;
}

async function pressKeys({ input, context }: Doing): Promise<string> {
  const keys = readKeys(textOf(input, 'text'));
  await xdotool(['key', '--clearmodifiers', '--delay', '20', ...keys], context);
  return `Pressed ${keys.join(' ')}.`;
}

async function cursorPosition({ context, screen }: Doing): Promise<string> {
  return position(await xdotool(['getmouselocation', '--shell'], context), screen);
}

function position(location: string, screen: Screen): string {
  const value = (name: string) => Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(location)?.[1] ?? 0);
  const { x, y } = onImage({ x: value('X'), y: value('Y') }, screen);
  return `The pointer is at [${x}, ${y}].`;
}

async function windowList({ context, screen }: Doing): Promise<ToolOutput> {
  const lines = (await listWindows(context)).map((window) => windowLine(window, screen));
  const display = {
    kind: 'matches',
    title: 'windows',
    count: lines.length,
    truncated: false,
    lines,
  } as const;
  return textOutput(lines.join('\n') || '[There is no window.]', display);
}

function pointer({ x, y }: Point): readonly string[] {
  return ['mousemove', String(x), String(y)];
}

function required(input: JsonObject, key: string, screen: Screen): Point {
  const point = pointOf(input, key, screen);
  if (point === undefined) throw new ToolFailure(`${String(input['action'])} needs ${key}: [x, y].`);
  return point;
}

/** On the display. */
function pointOf(input: JsonObject, key: string, screen: Screen): Point | undefined {
  const value = input[key];
  if (!Array.isArray(value)) return undefined;
  const [x, y] = value;
  if (typeof x !== 'number' || typeof y !== 'number') throw new ToolFailure(`${key} must be [x, y].`);
  return onDisplay({ x, y }, screen);
}

function textOf(input: JsonObject, key: string): string {
  const value = input[key];
  return typeof value === 'string' ? value : '';
}

function numberOf(input: JsonObject, key: string, otherwise: number): number {
  const value = input[key];
  return typeof value === 'number' ? value : otherwise;
}
