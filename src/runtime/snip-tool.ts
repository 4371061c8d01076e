// The tool `snip`: the model makes room by itself once it needs long results no more, in place of waiting until the context
// is so full that requests leave them out anyway.

import { type Tool, textOutput } from '../core/tool.ts';

export const snipTool: Tool = {
  name: 'snip',
  aliases: ['Snip'],
  source: 'builtin',
  isDeferred: true,
  description:
    'Makes room: from the next request on you are shown only the first and last lines of long tool results so far. ' +
    'Write down first what you still need of them.',
  keywords: ['free', 'context', 'window', 'tokens', 'space', 'shrink', 'trim', 'compact'],
  input: { type: 'object', properties: {} },
  plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
  async run(_input, { control }) {
    await control.snip();
    return textOutput('Long results before this call are snipped from here on.');
  },
  show: async () => ({ kind: 'markdown', text: 'old results' }),
};
