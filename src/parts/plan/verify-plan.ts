// The tool `verify_plan`: holds what was done against the plan. This is its face; what it does is loaded with the first call.

import type { Files } from '../../core/host.ts';
import type { Tool } from '../../core/tool.ts';
import { OUTCOMES } from './outcomes.ts';

/** `folder` is where plans are kept; absolute. `files` are Crab's own. */
export function createVerifyTool(folder: string, files: Files): Tool {
  return {
    name: 'verify_plan',
    aliases: ['VerifyPlanExecution', 'verify_plan_execution'],
    source: 'builtin',
    isDeferred: true,
    description:
      'After a plan was carried out: without arguments it lists the steps of the plan; with `findings` it checks that ' +
      'every step has an answer and that the files it names are there, and notes the outcome in the plan file.',
    input: {
      type: 'object',
      properties: {
        findings: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              step: { type: 'integer' },
              outcome: { type: 'string', enum: OUTCOMES },
              evidence: {
                type: 'string',
                description: 'What shows it: a test that passed, what changed; why not',
              },
              files: {
                type: 'array',
                items: { type: 'string' },
                description: 'That the step made or changed',
              },
            },
            required: ['step', 'outcome', 'evidence'],
          },
        },
      },
    },
    plan: async (input, cwd) => (await import('./verify-calls.ts')).planVerification(input, cwd),
    run: async (input, context) => {
      const [{ verify }, { createPlanFiles }] = await Promise.all([
        import('./verify-calls.ts'),
        import('./plan-file.ts'),
      ]);
      return verify(createPlanFiles(folder, files), input, context);
    },
    show: async () => ({ kind: 'markdown', text: 'the plan against what was done' }),
  };
}
