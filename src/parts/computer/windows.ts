// The windows of an X display: those that can be seen and have a title. A window manager is asked to bring one to the
// front; where there is none, the window is raised and given the keyboard directly.

import { ToolFailure } from '../../core/errors.ts';
import type { ToolContext } from '../../core/tool.ts';
import { onImage, type Screen } from './screen.ts';
import { run, xdotool } from './x11.ts';

const MAX_WINDOWS = 50;

export interface Window {
  readonly id: string;
  readonly title: string;
  /** In pixels of the display. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export async function listWindows(context: ToolContext): Promise<readonly Window[]> {
  // It ends with a failure when there are none.
  const found = await run(['xdotool', 'search', '--onlyvisible', '--name', '.'], context);
  const ids = (found?.stdout ?? '').split('\n').filter((line) => /^\d+$/.test(line));
  const windows = [];
  for (const id of ids.slice(0, MAX_WINDOWS)) {
    const ran = await run(['xdotool', 'getwindowname', id, 'getwindowgeometry', '--shell', id], context);
    const window = ran?.exitCode === 0 ? readWindow(id, ran.stdout) : undefined;
    if (window !== undefined) windows.push(window);
  }
  return windows;
}

function readWindow(id: string, text: string): Window | undefined {
  const start = text.indexOf('\nWINDOW=');
  const value = (name: string) => Number(new RegExp(`^${name}=(-?\\d+)$`, 'm').exec(text.slice(start))?.[1]);
  const title = text.slice(0, Math.max(0, start)).replace(/\s+/g, ' ').trim().slice(0, 200).toWellFormed();
  const [x, y, width, height] = ['X', 'Y', 'WIDTH', 'HEIGHT'].map(value);
  const isWhole = title !== '' && [x, y, width, height].every(Number.isInteger);
  return isWhole ? { id, title, x: x ?? 0, y: y ?? 0, width: width ?? 0, height: height ?? 0 } : undefined;
}

/** `12582924 [40, 60] 800x600 Title`, in pixels of the image. */
export function windowLine({ id, title, x, y, width, height }: Window, screen: Screen): string {
  const corner = onImage({ x, y }, screen);
  const scaled = (value: number) => Math.round((value * screen.image.width) / screen.display.width);
  return `${id} [${corner.x}, ${corner.y}] ${scaled(width)}x${scaled(height)} ${title}`;
}

/** Throws `ToolFailure` when none or several have it in their title. */
export async function focusWindow(wanted: string, context: ToolContext): Promise<Window> {
  const windows = await listWindows(context);
  const found = windows.filter(
    ({ id, title }) => id === wanted || title.toLowerCase().includes(wanted.toLowerCase()),
  );
  const exact = found.filter(({ id, title }) => id === wanted || title === wanted);
  const [window, ...others] = exact.length > 0 ? exact : found;
  if (window === undefined || wanted === '' || others.length > 0) {
    const list = (wanted === '' || window === undefined ? windows : found).map(
      ({ id, title }) => `${id} ${title}`,
    );
    const what = window === undefined || wanted === '' ? 'No window' : 'More than one window';
    throw new ToolFailure(
      `${what} has ${JSON.stringify(wanted)} in its title. There is: ${list.join('; ') || 'none'}.`,
    );
  }
  const activated = await run(['xdotool', 'windowactivate', window.id], context);
  if (activated?.exitCode !== 0 || activated.complaint.includes('_NET_ACTIVE_WINDOW'))
    await xdotool(['windowraise', window.id, 'windowfocus', window.id], context);
  return window;
}
