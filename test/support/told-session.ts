// A session with everything in it that an export has to show, written by the tape itself.

import { join } from 'node:path';
import type { EntryBody } from '../../src/core/tape.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { moveTo } from '../../src/parts/tape/branching.ts';
import { createTapes } from '../../src/parts/tape/tapes.ts';

/** One pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const HOSTILE = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"' onload='x' \u001b[31m\u202e`;

const clock = { now: () => Date.UTC(2030, 0, 1), monotonic: () => 0, sleep: () => Promise.resolve() };

function user(content: string | readonly object[]): EntryBody {
  return { type: 'message', message: { role: 'user', content, timestamp: 1 } } as EntryBody;
}

function answer(...content: readonly object[]): EntryBody {
  const about = {
    api: 'anthropic-messages',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    usage: NO_USAGE,
  };
  const stopReason = content.some((block) => 'arguments' in block) ? 'toolUse' : 'stop';
  return {
    type: 'message',
    message: { role: 'assistant', content, ...about, stopReason, timestamp: 2 },
  } as EntryBody;
}

function result(
  id: string,
  toolName: string,
  text: string,
  isError = false,
  more: readonly object[] = [],
): EntryBody {
  const content = [{ type: 'text', text }, ...more];
  return {
    type: 'message',
    message: { role: 'toolResult', toolCallId: id, toolName, content, isError, timestamp: 3 },
  } as EntryBody;
}

const call = (id: string, name: string, input: object) => ({ type: 'toolCall', id, name, arguments: input });

export interface Told {
  readonly id: string;
  readonly path: string;
}

/** `home` is `$HOME`. */
export async function toldSession(home: string, cwd: string): Promise<Told> {
  const tapes = createTapes({ home: join(home, '.crab'), clock, random: Math.random });
  const tape = await tapes.create({
    agent: 'crab',
    sender: (id) => `cli:${id}`,
    cwd,
    name: `Told ${HOSTILE}`,
  });
  tape.append([
    user([
      { type: 'text', text: `Look at this: ${HOSTILE}` },
      { type: 'image', data: PNG, mimeType: 'image/png' },
    ]),
    answer(
      { type: 'thinking', thinking: `Let me think. ${HOSTILE}`, thinkingSignature: 'signature' },
      {
        type: 'text',
        text: `# Plan\n\nI will **edit** \`a.ts\`, see [the guide](https://example.com/x).\n\n- one\n- two\n\n${HOSTILE}`,
      },
      call('t1', 'edit', {
        path: 'a.ts',
        old_string: 'const a = 1;\n',
        new_string: 'const a = 2;\nconst b = 3;\n',
      }),
      call('t2', 'bash', { command: `git diff # ${HOSTILE}` }),
      call('t3', 'bash', { command: 'sleep 100' }),
    ),
    result('t2', 'bash', `@@ -1 +1,2 @@\n-const a = 1;\n+const a = 2;\n+${HOSTILE}`),
    result('t1', 'edit', 'Edited a.ts.'),
    answer({ type: 'text', text: '```ts\nconst x = "<b>";\n```\nDone.' }),
  ]);
  const back = tape.leafId;
  tape.append([user('A way that leads nowhere')]);
  moveTo(tape, back, 'It led nowhere.');
  tape.append([
    {
      type: 'custom',
      customType: 'crab.shell',
      data: { command: 'make', cwd, exitCode: 2, output: `no rule ${HOSTILE}` },
    },
    { type: 'custom_message', customType: 'linter', content: 'Two warnings.', display: true },
    user('And now?'),
    answer(call('t4', 'read', { path: 'nowhere' })),
    result('t4', 'read', 'There is no such file.', true),
    answer({ type: 'text', text: 'It is not there.' }),
  ]);
  await tape.close();
  return { id: tape.header.id, path: tape.path ?? '' };
}
