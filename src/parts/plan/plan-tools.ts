// Plan mode as the model sees it: the tools to go into it, to write the plan, to leave it, and to hold the plan against what
// was done. This is their face; what they do is loaded with the first call.

import type { Files } from '../../core/host.ts';
import type { Tool } from '../../core/tool.ts';
import type { PlanCalls } from './plan-calls.ts';
import { createVerifyTool } from './verify-plan.ts';

/** What the tools do, loaded with the first call. */
type Calls = () => Promise<PlanCalls>;

/** `folder` is where plans are kept; absolute. `files` are Crab's own. */
export function createPlanTools(folder: string, files: Files): readonly Tool[] {
  let made: PlanCalls | undefined;
  const calls: Calls = async () => {
    const { createPlanCalls } = await import('./plan-calls.ts');
    made ??= createPlanCalls(folder, files);
    return made;
  };
  return [exitTool(calls), enterTool(calls), writeTool(calls), createVerifyTool(folder, files)];
}

function enterTool(calls: Calls): Tool {
  return {
    name: 'enter_plan_mode',
    aliases: ['EnterPlanMode'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Goes into plan mode, in which nothing can be changed: for a large or unclear task, to explore it and agree ' +
      'on a plan with the user first.',
    input: { type: 'object', properties: {} },
    plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
    run: async (_input, context) => (await calls()).enter(context),
    show: async () => ({ kind: 'markdown', text: 'plan mode' }),
  };
}

function writeTool(calls: Calls): Tool {
  return {
    name: 'write_plan',
    aliases: ['update_plan_file'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Writes the plan file of this conversation, also in plan mode: the whole text as `plan`, or a change of ' +
      '`old_string` into `new_string`. Without arguments it returns the plan.',
    input: {
      type: 'object',
      properties: {
        plan: { type: 'string', description: 'Markdown, with the steps as a numbered list' },
        old_string: { type: 'string' },
        new_string: { type: 'string' },
      },
    },
    plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: false }),
    run: async (input, context) => (await calls()).write(input, context),
    show: async ({ plan, new_string }) => ({
      kind: 'markdown',
      text: String(plan ?? new_string ?? 'the plan'),
    }),
  };
}

function exitTool(calls: Calls): Tool {
  return {
    name: 'exit_plan_mode',
    aliases: ['ExitPlanMode', 'exit_plan'],
    source: 'builtin',
    description: 'Only in plan mode: shows the user the plan and asks whether to carry it out.',
    input: {
      type: 'object',
      properties: {
        plan: { type: 'string', description: 'Markdown, steps as a numbered list; default: the plan file' },
      },
    },
    plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: false }),
    run: async (input, context) => (await calls()).submit(input, context),
    show: async ({ plan }) => ({ kind: 'markdown', text: String(plan ?? 'the plan') }),
  };
}
