// The tool `set_title`: the model names the conversation, for lists of sessions. It is the same name that a person gives
// with `/name`, and the last one counts, so that a person can always rename.

import { ToolFailure } from '../../core/errors.ts';
import { type Tool, textOutput } from '../../core/tool.ts';

const MAX_TITLE = 60;

export const setTitleTool: Tool = {
  name: 'set_title',
  aliases: ['SetTitle'],
  source: 'builtin',
  isDeferred: true,
  description: `Gives the conversation a title of at most ${MAX_TITLE} characters, by which the user finds it again.`,
  keywords: ['name', 'rename', 'session'],
  input: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
  prepare: ({ name, ...input }) => ({ ...input, ...(input['title'] === undefined && { title: name }) }),
  plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
  async run(input, { control }) {
    const title = titleIn(input['title']);
    if (title === '') throw new ToolFailure('The title is empty.');
    const { length } = [...title];
    if (length > MAX_TITLE)
      throw new ToolFailure(`The title has ${length} characters; at most ${MAX_TITLE} are kept.`);
    await control.setName(title);
    return textOutput(`The conversation is called ${JSON.stringify(title)}.`, {
      kind: 'markdown',
      text: title,
    });
  },
  show: async (input) => ({ kind: 'markdown', text: titleIn(input['title']) }),
};

/** One line: lists show it as it is. */
function titleIn(value: unknown): string {
  return String(value ?? '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
