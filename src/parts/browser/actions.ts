// What a person would do with a mouse and a keyboard, as input events of the browser and not as calls of a script: a page
// cannot tell the difference, and what is hidden or disabled stays out of reach.

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { Browser } from './browser.ts';
import { objectIn } from './dev-tools.ts';

/** `e12`, as snapshots write it. Throws `ToolFailure`. */
export function nodeOf(reference: unknown): number {
  const found = /^(?:ref=)?e(\d{1,12})$/.exec(String(reference).trim());
  if (found === null)
    throw new ToolFailure(
      `${JSON.stringify(reference)} is no reference; take one from browser_snapshot, as in e12.`,
    );
  return Number(found[1]);
}

async function onNode(
  browser: Browser,
  method: string,
  node: number,
  more: JsonObject = {},
): Promise<JsonObject> {
  try {
    return await browser.send(method, { backendNodeId: node, ...more });
  } catch (cause) {
    if (
      cause instanceof ToolFailure &&
      /No node|not find|not belong|does not have a layout|Node is detached/i.test(cause.message)
    )
      throw new ToolFailure(`e${node} is not on the page, or not visible. Take a new browser_snapshot.`, {
        cause,
      });
    throw cause;
  }
}

interface Point {
  readonly x: number;
  readonly y: number;
}

async function centreOf(browser: Browser, node: number): Promise<Point> {
  await onNode(browser, 'DOM.scrollIntoViewIfNeeded', node);
  const { quads } = await onNode(browser, 'DOM.getContentQuads', node);
  const [quad] = Array.isArray(quads) ? (quads as readonly (readonly number[])[]) : [];
  if (quad === undefined) throw new ToolFailure(`e${node} is not visible.`);
  const [x1 = 0, y1 = 0, , , x3 = 0, y3 = 0] = quad;
  return { x: (x1 + x3) / 2, y: (y1 + y3) / 2 };
}

export async function hover(browser: Browser, node: number): Promise<Point> {
  const point = await centreOf(browser, node);
  await browser.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point });
  return point;
}

export interface ClickOptions {
  readonly button: 'left' | 'middle' | 'right';
  readonly count: 1 | 2;
}

export async function click(browser: Browser, node: number, { button, count }: ClickOptions): Promise<void> {
  const point = await hover(browser, node);
  for (let clickCount = 1; clickCount <= count; clickCount++)
    for (const type of ['mousePressed', 'mouseReleased'])
      await browser.send('Input.dispatchMouseEvent', { type, ...point, button, clickCount });
}

/** Takes the place of what was in the field. */
export async function type(browser: Browser, node: number, text: string, submit: boolean): Promise<void> {
  await onNode(browser, 'DOM.focus', node);
  await callOn(browser, node, SELECT_ALL, []);
  if (text === '') await press(browser, 'Delete');
  else await browser.send('Input.insertText', { text });
  if (submit) await press(browser, 'Enter');
}

const SELECT_ALL = `function () {
  if (typeof this.select === 'function') this.select();
  else getSelection().selectAllChildren(this);
}`;

const KEYS: Readonly<Record<string, readonly [code: string, number: number, text?: string]>> = {
  Enter: ['Enter', 13, '\r'],
  Tab: ['Tab', 9],
  Escape: ['Escape', 27],
  Backspace: ['Backspace', 8],
  Delete: ['Delete', 46],
  Space: ['Space', 32, ' '],
  ArrowLeft: ['ArrowLeft', 37],
  ArrowUp: ['ArrowUp', 38],
  ArrowRight: ['ArrowRight', 39],
  ArrowDown: ['ArrowDown', 40],
  Home: ['Home', 36],
  End: ['End', 35],
  PageUp: ['PageUp', 33],
  PageDown: ['PageDown', 34],
};

const MODIFIERS: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

/** A key by its name in the DOM, or one letter; `Control+A` for one with modifiers. Throws `ToolFailure`. */
export async function press(browser: Browser, name: string): Promise<void> {
  const parts = name.length > 1 ? name.split(/\+(?=.)/) : [name];
  const key = parts.pop() ?? '';
  const modifiers = parts.reduce((sum, part) => sum | (MODIFIERS[part] ?? Number.NaN), 0);
  const known = KEYS[key];
  if ((known === undefined && [...key].length !== 1) || parts.some((part) => MODIFIERS[part] === undefined))
    throw new ToolFailure(
      `There is no key ${JSON.stringify(name)}: give a letter, or one of ${Object.keys(KEYS).join(', ')}, with ${Object.keys(MODIFIERS).join('+, ')}+ before it.`,
    );
  const [code, number, text = known === undefined ? key : undefined] = known ?? [
    '',
    key.toUpperCase().charCodeAt(0),
  ];
  const isTyped = text !== undefined && (modifiers & ~8) === 0;
  const event = { key: key === 'Space' ? ' ' : key, code, windowsVirtualKeyCode: number, modifiers };
  await browser.send('Input.dispatchKeyEvent', {
    type: isTyped ? 'keyDown' : 'rawKeyDown',
    ...event,
    ...(isTyped && { text }),
  });
  await browser.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
}

/** By value or by label. */
export async function select(browser: Browser, node: number, values: readonly string[]): Promise<void> {
  const { value } = await callOn(browser, node, SELECT, [values]);
  if (value !== true)
    throw new ToolFailure(
      `e${node} is no list that has ${values.map((one) => JSON.stringify(one)).join(' and ')}.`,
    );
}

const SELECT = `function (values) {
  if (!(this instanceof HTMLSelectElement)) return false;
  const wanted = [...this.options].filter((one) => values.includes(one.value) || values.includes(one.label.trim()));
  if (wanted.length === 0) return false;
  for (const option of this.options) option.selected = wanted.includes(option);
  this.dispatchEvent(new Event('input', { bubbles: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  return true;
}`;

/** Runs a function of JavaScript with a node as `this` and returns what it returned. Throws `ToolFailure` for its errors. */
export async function callOn(
  browser: Browser,
  node: number,
  functionDeclaration: string,
  args: readonly unknown[],
): Promise<JsonObject> {
  const { object } = await onNode(browser, 'DOM.resolveNode', node);
  const { objectId } = objectIn(object);
  return resultOf(
    await browser.send('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration,
      arguments: args.map((value) => ({ value })),
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    }),
  );
}

export async function evaluate(
  browser: Browser,
  script: string,
  node: number | undefined,
): Promise<JsonObject> {
  const isFunction = /^\s*(?:async\b\s*)?(?:function\b|\([^)]*\)\s*=>|[\w$]+\s*=>)/.test(script);
  if (node !== undefined) {
    if (!isFunction)
      throw new ToolFailure(
        'With ref, give a function that takes the element: (element) => element.textContent',
      );
    return callOn(browser, node, `function () { return (${script})(this); }`, []);
  }
  const expression = isFunction ? `(${script})()` : script;
  return resultOf(
    await browser.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    }),
  );
}

function resultOf({ result, exceptionDetails }: JsonObject): JsonObject {
  if (exceptionDetails === undefined) return objectIn(result);
  const { text, exception } = objectIn(exceptionDetails);
  throw new ToolFailure(
    `The script failed: ${String(objectIn(exception)['description'] ?? text).slice(0, 2000)}`,
  );
}
