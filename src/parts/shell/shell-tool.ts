// The tool `bash`: a command in a shell of its own, in the folder of the conversation. This is its face; what runs anything
// is loaded with the first command.

import type { ShellSettings } from '../../core/settings.ts';
import type { Tool } from '../../core/tool.ts';
import type { CommandLine } from './command-line.ts';
import { prepareShellInput } from './shell-input.ts';

const DESCRIPTION =
  'Runs a bash command in the working directory; returns stdout and stderr together. ' +
  'Every call is a new shell: cd and variables do not last. ' +
  'There is no input and no terminal, so use flags that avoid prompts, editors and pagers. ' +
  'What it starts ends with it: run servers and long jobs in the background. ' +
  'Long output loses its middle and is saved whole to a file.';

export function createShellTool(options: ShellSettings = {}): Tool {
  let commandLine: CommandLine | undefined;
  return {
    name: 'bash',
    aliases: ['Bash', 'shell.exec', 'shell'],
    source: 'builtin',
    description: DESCRIPTION,
    input: {
      type: 'object',
      properties: {
        command: { type: 'string' },
        timeout: { type: 'integer', description: 'Milliseconds, default 120000, at most 600000' },
        description: { type: 'string', description: 'What it does, in 5 to 10 words' },
        run_in_background: {
          type: 'boolean',
          description: 'You are told when it ends',
        },
        pty: { type: 'boolean', description: 'Give it a terminal' },
        // What it is for is said when the sandbox has blocked something.
        dangerously_disable_sandbox: { type: 'boolean' },
      },
      required: ['command'],
      additionalProperties: false,
    },
    prepare: prepareShellInput,
    plan: async ({ command, dangerously_disable_sandbox: leaves }, cwd) => ({
      access: {
        kind: 'command',
        command: String(command),
        cwd,
        ...(leaves === true && { unconfined: true }),
      },
      parallel: false,
      repeatable: false,
    }),
    show: async ({ command }) => ({ kind: 'command', command: String(command) }),
    run: async (input, context) => {
      const [{ runCommand }, { createCommandLine }] = await Promise.all([
        import('./shell-run.ts'),
        import('./command-line.ts'),
      ]);
      commandLine ??= createCommandLine(options);
      return runCommand(input, commandLine, context);
    },
  };
}
