// The tools `brief` and `send_user_file`: what the person should have beside the answer, a word or a file. The channel
// delivers it; on a terminal a file stays where it is and is pointed at, since the person is on the same machine.

import { ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { JsonObject, JsonSchema } from '../../core/schema.ts';
import { type CallPlan, type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { absolute } from './absolute.ts';

const MAX_TEXT = 4000;
const MAX_FILES = 10;
/** What the smallest of the channels takes: a bot of Telegram sends 50 MB. */
const MAX_BYTES = 50_000_000;

const PATHS: JsonSchema = { type: 'array', items: { type: 'string' }, maxItems: MAX_FILES };

export const briefTool: Tool = {
  name: 'brief',
  aliases: ['Brief', 'SendUserMessage', 'notify', 'push_notification'],
  source: 'builtin',
  isDeferred: true,
  description:
    'Sends the user a short message while you go on working: a milestone, a blocker, something they should see now. ' +
    'Not for the final answer.',
  keywords: ['notify', 'notification', 'alert', 'person', 'tell'],
  input: {
    type: 'object',
    properties: {
      message: { type: 'string' },
      urgent: { type: 'boolean', description: 'Ring: they may be looking elsewhere' },
      attachments: { ...PATHS, description: 'Files to point at' },
    },
    required: ['message'],
  },
  plan: (input, cwd) => planned(pathsIn(input, 'attachments', cwd)),
  async run(input, context) {
    const message = String(input['message']).trim();
    const files = pathsIn(input, 'attachments', context.identity.cwd);
    return deliver(message, files, input['urgent'] === true, context);
  },
  show: async (input) => ({ kind: 'markdown', text: String(input['message']) }),
};

export const sendUserFileTool: Tool = {
  name: 'send_user_file',
  aliases: ['SendUserFile'],
  source: 'builtin',
  isDeferred: true,
  description: 'Gives the user files that you made for them, such as a report or a chart, with a caption.',
  keywords: ['download', 'attach', 'deliver', 'document'],
  input: {
    type: 'object',
    properties: { files: { ...PATHS, minItems: 1 }, caption: { type: 'string' } },
    required: ['files'],
  },
  prepare: ({ path, file, file_path, ...input }) => {
    const one = path ?? file ?? file_path;
    return one === undefined || input['files'] !== undefined ? input : { ...input, files: [one] };
  },
  plan: (input, cwd) => planned(pathsIn(input, 'files', cwd)),
  async run(input, context) {
    const caption = typeof input['caption'] === 'string' ? input['caption'].trim() : '';
    return deliver(caption, pathsIn(input, 'files', context.identity.cwd), false, context);
  },
  show: async (input) => ({ kind: 'markdown', text: (input['files'] as readonly string[]).join(', ') }),
};

async function planned(paths: readonly string[]): Promise<CallPlan> {
  const access = paths.length === 0 ? ({ kind: 'none' } as const) : ({ kind: 'read', paths } as const);
  return { access, parallel: false, repeatable: false };
}

/** All of it or nothing: a message that points at a file that is not there helps nobody. */
async function deliver(
  text: string,
  files: readonly string[],
  urgent: boolean,
  { files: disk, notify }: ToolContext,
): Promise<ToolOutput> {
  if (text === '' && files.length === 0) throw new ToolFailure('The message is empty.');
  if (text.length > MAX_TEXT)
    throw new ToolFailure(`The message has ${text.length} characters; at most ${MAX_TEXT} are sent.`);
  for (const path of files) await requireFile(path, disk);
  notify({ text, files, urgent });
  const what = files.length === 0 ? 'The message' : files.join(', ');
  return textOutput(`${what} went to the user.`, { kind: 'markdown', text: text === '' ? what : text });
}

async function requireFile(path: string, disk: Files): Promise<void> {
  const info = await disk.info(path);
  if (info === undefined) throw new ToolFailure(`There is no file ${path}.`);
  if (info.kind !== 'file')
    throw new ToolFailure(`${path} is no regular file but a ${info.what ?? info.kind}.`);
  if (info.size === 0) throw new ToolFailure(`${path} is empty.`);
  if (info.size > MAX_BYTES)
    throw new ToolFailure(`${path} has ${info.size} bytes; files of at most ${MAX_BYTES} are sent.`);
}

function pathsIn(input: JsonObject, key: string, cwd: string): readonly string[] {
  const paths = Array.isArray(input[key]) ? input[key].map(String) : [];
  return [...new Set(paths.map((path) => absolute(path, cwd)))];
}
