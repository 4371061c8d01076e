// The tool `computer`: the screen, the mouse and the keyboard of the person's desktop. This is its face; what moves
// anything is loaded with the first call. Whatever is typed may end in a terminal, outside of every sandbox, so no mode
// but the one that asks about nothing lets a call through unasked.

import type { JsonObject } from '../../core/schema.ts';
import type { Tool } from '../../core/tool.ts';

/** What is known of the machine without asking it. */
export interface Desktop {
  /** As in `process.platform`. */
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** As the models of several makers were taught them. */
export const ACTIONS = [
  'screenshot',
  'left_click',
  'right_click',
  'middle_click',
  'double_click',
  'triple_click',
  'left_click_drag',
  'mouse_move',
  'scroll',
  'type',
  'key',
  'wait',
  'cursor_position',
  'list_windows',
  'focus_window',
] as const;

export type Action = (typeof ACTIONS)[number];

const DESCRIPTION =
  'Sees and uses the desktop: screenshot; clicks, mouse_move, scroll and left_click_drag at coordinate; type text; key combinations such as ctrl+s; wait; cursor_position; list_windows and focus_window. ' +
  'Coordinates are [x, y] in pixels of the screenshot. An action that may change the screen answers with a new screenshot. ' +
  'Slow and visible to the person: for what no command and no file can do.';

const POINT = { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2 } as const;

export function createComputerTool(desktop: Desktop): Tool {
  return {
    name: 'computer',
    aliases: ['Computer', 'computer_use'],
    source: 'builtin',
    description: DESCRIPTION,
    isDeferred: true,
    keywords: ['mouse', 'keyboard', 'screen', 'gui', 'application'],
    input: {
      type: 'object',
      properties: {
        action: { type: 'string', enum: ACTIONS },
        coordinate: { ...POINT, description: 'Where; for a drag, where it ends' },
        start_coordinate: { ...POINT, description: 'Where a drag begins' },
        text: {
          type: 'string',
          description: 'For type the text; for key the keys; for a click or scroll the keys held down',
        },
        scroll_direction: { type: 'string', enum: ['up', 'down', 'left', 'right'] },
        scroll_amount: { type: 'integer', minimum: 1, maximum: 50, description: 'Clicks of the wheel' },
        duration: { type: 'number', minimum: 0, maximum: 60, description: 'Seconds to wait' },
        window: { type: 'string', description: 'The id, or a part of the title, for focus_window' },
      },
      required: ['action'],
      additionalProperties: false,
    },
    prepare,
    plan: async () => ({
      access: {
        kind: 'external',
        server: 'desktop',
        does: 'sees your whole screen and uses mouse and keyboard as you would',
        sessionOnly: true,
      },
      parallel: false,
      repeatable: false,
    }),
    show: async (input) => ({ kind: 'markdown', text: `\`computer\` ${summary(input)}` }),
    run: async (input, context) => {
      const { act } = await import('./actions.ts');
      return act(input, context, desktop);
    },
  };
}

const INPUT_NAMES: Readonly<Record<string, string>> = {
  coordinates: 'coordinate',
  position: 'coordinate',
  keys: 'text',
  direction: 'scroll_direction',
  amount: 'scroll_amount',
  seconds: 'duration',
  title: 'window',
};

const ACTION_NAMES: Readonly<Record<string, Action>> = {
  click: 'left_click',
  drag: 'left_click_drag',
  move: 'mouse_move',
  keypress: 'key',
  type_text: 'type',
  windows: 'list_windows',
};

function prepare(input: JsonObject): JsonObject {
  const named: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) named[INPUT_NAMES[key] ?? key] = value;
  const { action, x, y, ...rest } = named;
  const point = typeof x === 'number' && typeof y === 'number' ? { coordinate: [x, y] } : {};
  return { ...rest, ...point, action: ACTION_NAMES[String(action)] ?? action };
}

/** What the person is asked about: all of it, since all of it is done. */
function summary({ action, ...rest }: JsonObject): string {
  const details = Object.entries(rest).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return [String(action).replaceAll('_', ' '), ...details].join(', ');
}
