// The tools of a run, each call of which starts programs and writes files through the sandbox. What it was kept from is
// told as an event, noted on the tape, and added to the result: a model that does not know why a command failed tries
// the same again in other words.

import type { Event } from '../core/event.ts';
import type { SandboxViolation } from '../core/sandbox.ts';
import type { Tool, ToolOutput } from '../core/tool.ts';
import type { Denial } from '../parts/permissions/denials.ts';
import type { Conversation } from './conversation.ts';

export interface ConfinedToolsOptions {
  readonly conversation: Conversation;
  emit(event: Event): void;
  /** The sandbox kept a call from something; returns what the model should know of it, as when it was refused. */
  blocked(call: Denial): string | undefined;
}

export function confinedTools(
  tools: ReadonlyMap<string, Tool>,
  options: ConfinedToolsOptions,
): ReadonlyMap<string, Tool> {
  return new Map([...tools].map(([name, tool]) => [name, confinedTool(tool, options)]));
}

function confinedTool(tool: Tool, { conversation, emit, blocked }: ConfinedToolsOptions): Tool {
  return {
    ...tool,
    run: async (input, context) => {
      const found: SandboxViolation[] = [];
      const { exec, open, files } = conversation.sandbox.confined((violation) => {
        found.push(violation);
        const event = {
          ...violation,
          type: 'sandboxViolation',
          id: context.callId,
          tool: tool.name,
        } as const;
        conversation.noteViolation(event);
        emit(event);
      }, context.files);
      const isOff = conversation.sandbox.policy.mode === 'off';
      const output = await tool.run(input, { ...context, exec, open, ...(!isOff && { files }) });
      if (found.length === 0) return output;
      return explained(output, found, { conversation, advice: blocked({ tool: tool.name, input }) });
    },
  };
}

function explained(
  output: ToolOutput,
  violations: readonly SandboxViolation[],
  { conversation, advice }: { readonly conversation: Conversation; readonly advice: string | undefined },
): ToolOutput {
  const { policy } = conversation.sandbox;
  const { canAsk } = conversation.declaration;
  const lines = violations.map(({ detail }) => `[sandbox] ${detail}`);
  const isOfProgram = violations.some(({ what }) => what !== 'planted' && what !== 'limit');
  const text = [
    ...lines,
    ...(isOfProgram ? [wayOut(policy.mayAskToLeave && policy.mode === 'preferred', canAsk)] : []),
    ...(advice === undefined ? [] : [`[sandbox] ${advice}`]),
  ];
  return { ...output, content: [...output.content, { type: 'text', text: `\n${text.join('\n')}` }] };
}

function wayOut(mayLeave: boolean, canAsk: boolean): string {
  if (mayLeave && canAsk)
    return '[sandbox] If the task needs it, run the same command with dangerously_disable_sandbox: true; the user is asked.';
  return '[sandbox] Do it another way, or tell the user what was blocked: it can be allowed in the settings ([sandbox]).';
}
