// What the tools of a browser are called, say of themselves, take and touch, as data. Names and arguments are those of
// Playwright's MCP server (github.com/microsoft/playwright-mcp), which models know. What only looks touches nothing more:
// the page was allowed when it was opened. What acts on a page may send something, and is asked about.

import type { JsonSchema } from '../../core/schema.ts';

export type BrowserToolName =
  | 'browser_navigate'
  | 'browser_navigate_back'
  | 'browser_snapshot'
  | 'browser_click'
  | 'browser_hover'
  | 'browser_type'
  | 'browser_press_key'
  | 'browser_select_option'
  | 'browser_evaluate'
  | 'browser_wait_for'
  | 'browser_take_screenshot'
  | 'browser_console_messages'
  | 'browser_tabs'
  | 'browser_close';

export interface BrowserToolText {
  readonly name: BrowserToolName;
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly touches: 'network' | 'page' | 'nothing';
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

const ELEMENT: JsonSchema = { type: 'string', description: 'What it is, for the person who allows it' };
const REF: JsonSchema = { type: 'string', description: 'From a snapshot, such as e12' };

export const BROWSER_TOOLS: readonly BrowserToolText[] = [
  {
    name: 'browser_navigate',
    aliases: ['web_browser'],
    description:
      'Open a URL in a real browser (Chromium, empty profile) and return a snapshot of the page. For pages that need scripts or clicks; web_fetch is faster for reading.',
    touches: 'network',
    properties: { url: { type: 'string' } },
    required: ['url'],
  },
  {
    name: 'browser_navigate_back',
    description: 'Go back to the previous page.',
    touches: 'page',
    properties: {},
  },
  {
    name: 'browser_snapshot',
    description: 'The page as an accessibility tree; its refs are what other browser tools take.',
    touches: 'nothing',
    properties: {},
  },
  {
    name: 'browser_click',
    description: 'Click an element.',
    touches: 'page',
    properties: {
      element: ELEMENT,
      ref: REF,
      doubleClick: { type: 'boolean' },
      button: { type: 'string', enum: ['left', 'right', 'middle'] },
    },
    required: ['ref'],
  },
  {
    name: 'browser_hover',
    description: 'Move the mouse over an element.',
    touches: 'page',
    properties: { element: ELEMENT, ref: REF },
    required: ['ref'],
  },
  {
    name: 'browser_type',
    description: 'Put text into a field, in place of what it holds.',
    touches: 'page',
    properties: {
      element: ELEMENT,
      ref: REF,
      text: { type: 'string' },
      submit: { type: 'boolean', description: 'Press Enter after it' },
    },
    required: ['ref', 'text'],
  },
  {
    name: 'browser_press_key',
    description: 'Press a key, such as ArrowLeft, a, or Control+A.',
    touches: 'page',
    properties: { key: { type: 'string' } },
    required: ['key'],
  },
  {
    name: 'browser_select_option',
    description: 'Choose in a drop-down list, by values or labels.',
    touches: 'page',
    properties: { element: ELEMENT, ref: REF, values: { type: 'array', items: { type: 'string' } } },
    required: ['ref', 'values'],
  },
  {
    name: 'browser_evaluate',
    description:
      'Run JavaScript in the page: () => { … }, or with ref (element) => { … }. Returns its result as JSON.',
    touches: 'page',
    properties: { function: { type: 'string' }, element: ELEMENT, ref: REF },
    required: ['function'],
  },
  {
    name: 'browser_wait_for',
    aliases: ['browser_wait'],
    description: 'Wait until a text is there or gone, or for some seconds.',
    touches: 'nothing',
    properties: {
      text: { type: 'string' },
      textGone: { type: 'string' },
      time: { type: 'number', description: 'Seconds; at most 30. How long to wait for the text, too' },
    },
  },
  {
    name: 'browser_take_screenshot',
    aliases: ['browser_screenshot'],
    description: 'The page as an image. To act on it, take a snapshot instead.',
    touches: 'nothing',
    properties: {
      fullPage: { type: 'boolean' },
      element: ELEMENT,
      ref: REF,
      type: { type: 'string', enum: ['png', 'jpeg'] },
    },
  },
  {
    name: 'browser_console_messages',
    aliases: ['browser_console'],
    description: 'What the page wrote to its console since it was opened, with errors.',
    touches: 'nothing',
    properties: {},
  },
  {
    name: 'browser_tabs',
    description: 'List, open, select or close tabs.',
    touches: 'nothing',
    properties: {
      action: { type: 'string', enum: ['list', 'new', 'select', 'close'] },
      index: { type: 'integer', description: 'From 0' },
    },
    required: ['action'],
  },
  {
    name: 'browser_close',
    description: 'End the browser. It ends with the session by itself.',
    touches: 'nothing',
    properties: {},
  },
];
