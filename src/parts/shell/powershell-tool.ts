// The tool `powershell`, for Windows. The script travels encoded: no quoting rule of any version can then change it. It is
// judged as a program that is handed a script and not as a shell command, since the same words mean other things there.

import type { Tool } from '../../core/tool.ts';
import { quoted } from './quote.ts';
import { prepareShellInput } from './shell-input.ts';

export function createPowershellTool(): Tool {
  return {
    name: 'powershell',
    aliases: ['PowerShell', 'pwsh'],
    source: 'builtin',
    description:
      'Runs a PowerShell script in the working directory; returns its output. ' +
      'Every call is a new process: Set-Location and variables do not last. Nobody can answer prompts.',
    input: {
      type: 'object',
      properties: {
        command: { type: 'string' },
        timeout: { type: 'integer', description: 'Milliseconds, default 120000, at most 600000' },
        description: { type: 'string', description: 'What it does, in 5 to 10 words' },
      },
      required: ['command'],
      additionalProperties: false,
    },
    prepare: ({ script, ...input }) => prepareShellInput({ command: script, ...input }),
    plan: async ({ command }, cwd) => ({
      access: { kind: 'command', command: `powershell -Command ${quoted(String(command))}`, cwd },
      parallel: false,
      repeatable: false,
    }),
    show: async ({ command }) => ({ kind: 'command', command: String(command) }),
    run: async (input, context) => (await import('./powershell-run.ts')).runPowershell(input, context),
  };
}
