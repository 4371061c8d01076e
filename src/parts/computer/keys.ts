// Keys as models name them, in the names of X11 (`xdotool key`): `ctrl+s`, `Enter`, `cmd+ArrowLeft`, `ctrl+k ctrl+c`.

import { ToolFailure } from '../../core/errors.ts';

const MAX_COMBINATIONS = 100;

const KEYS: Readonly<Record<string, string>> = {
  enter: 'Return',
  return: 'Return',
  esc: 'Escape',
  escape: 'Escape',
  tab: 'Tab',
  space: 'space',
  backspace: 'BackSpace',
  delete: 'Delete',
  del: 'Delete',
  insert: 'Insert',
  home: 'Home',
  end: 'End',
  pageup: 'Prior',
  page_up: 'Prior',
  pagedown: 'Next',
  page_down: 'Next',
  up: 'Up',
  arrowup: 'Up',
  down: 'Down',
  arrowdown: 'Down',
  left: 'Left',
  arrowleft: 'Left',
  right: 'Right',
  arrowright: 'Right',
  ctrl: 'ctrl',
  control: 'ctrl',
  alt: 'alt',
  option: 'alt',
  shift: 'shift',
  super: 'super',
  cmd: 'super',
  command: 'super',
  meta: 'super',
  win: 'super',
  windows: 'super',
  '-': 'minus',
  '=': 'equal',
  ',': 'comma',
  '.': 'period',
  '/': 'slash',
  '\\': 'backslash',
  ';': 'semicolon',
  "'": 'apostrophe',
  '`': 'grave',
  '[': 'bracketleft',
  ']': 'bracketright',
};

/** Combinations that are pressed one after another. Throws `ToolFailure` for what cannot be a key. */
export function readKeys(text: string): readonly string[] {
  const combinations = text.trim().split(/\s+/);
  if (text.trim() === '') throw new ToolFailure('Give text: the keys, such as Return or ctrl+s.');
  if (combinations.length > MAX_COMBINATIONS)
    throw new ToolFailure(`At most ${MAX_COMBINATIONS} key combinations in one call; use type for text.`);
  return combinations.map(combination);
}

function combination(text: string): string {
  // The plus key itself may stand at the end: `ctrl++`.
  const parts = text === '+' ? ['plus'] : text.replace(/\+\+$/, '+plus').split('+');
  return parts.map(keyName).join('+');
}

function keyName(name: string): string {
  const known = KEYS[name.toLowerCase()];
  if (known !== undefined) return known;
  // Function keys and every other name are the system's own, and it says when it knows none.
  if (/^f\d{1,2}$/i.test(name)) return name.toUpperCase();
  if (/^\w+$/.test(name)) return name;
  throw new ToolFailure(
    `${JSON.stringify(name)} is no key; use names such as Return, Escape, Left, F5, ctrl+s.`,
  );
}
