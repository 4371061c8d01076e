// What the tools for plan mode do: look first, write down what is to be done, and let the person agree before anything
// changes. The mode that held before is remembered by the process and not by the tape: a session file must not be able to
// raise what is allowed.

import { ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { PermissionMode } from '../../core/permission.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { createPlanFiles, type PlanFiles } from './plan-file.ts';

interface Plans {
  readonly files: PlanFiles;
  /** By session: the mode from which the model went into plan mode. */
  readonly before: Map<string, PermissionMode>;
}

export interface PlanCalls {
  enter(context: ToolContext): Promise<ToolOutput>;
  write(input: JsonObject, context: ToolContext): Promise<ToolOutput>;
  submit(input: JsonObject, context: ToolContext): Promise<ToolOutput>;
}

/** `folder` is where plans are kept; absolute. `files` are Crab's own. */
export function createPlanCalls(folder: string, files: Files): PlanCalls {
  const plans: Plans = { files: createPlanFiles(folder, files), before: new Map() };
  return {
    enter: (context) => enterPlanMode(plans, context),
    write: (input, context) => writePlan(plans, input, context),
    submit: (input, context) => submitPlan(plans, input, context),
  };
}

async function enterPlanMode({ files, before }: Plans, context: ToolContext): Promise<ToolOutput> {
  const { identity, control, tools } = context;
  if (identity.mode === 'plan') throw new ToolFailure('Plan mode holds already.');
  before.set(identity.session, identity.mode);
  await control.setMode('plan');
  tools.offer(['exit_plan_mode', 'write_plan']);
  return textOutput(
    `Plan mode holds. Explore with tools that read; anything else is refused. Write the plan with write_plan ` +
      `(to ${files.path(context)}), step by step, and end with exit_plan_mode.`,
  );
}

async function writePlan({ files }: Plans, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const { plan, old_string: old, new_string: replacement } = input;
  if (typeof plan === 'string') return textOutput(`The plan is in ${await files.write(context, plan)}.`);
  const text = await files.read(context);
  if (text === undefined) throw new ToolFailure('There is no plan yet: give it as `plan`.');
  if (typeof old !== 'string') return textOutput(text, { kind: 'markdown', text });
  const count = old === '' ? 0 : text.split(old).length - 1;
  if (count !== 1)
    throw new ToolFailure(`old_string is in the plan ${count} times; it must be there exactly once.`);
  const path = await files.write(
    context,
    text.replace(old, () => String(replacement ?? '')),
  );
  return textOutput(`The plan in ${path} is changed.`);
}

const APPROVE = 'Approve';
const APPROVE_EDITS = 'Approve and accept edits';
const KEEP_PLANNING = 'Keep planning';

const OPTIONS = [
  { label: APPROVE, description: 'Carry it out; ask about changes as before' },
  { label: APPROVE_EDITS, description: 'Carry it out; edit files in this folder without asking' },
  { label: KEEP_PLANNING, description: 'Or type what should be different' },
];

async function submitPlan(plans: Plans, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const { identity, control } = context;
  if (identity.mode !== 'plan')
    throw new ToolFailure('Plan mode does not hold, so there is nothing to leave: go on with the work.');
  const { plan, path } = await submitted(plans.files, input, context);
  const answer = await decision(plan, path, context);
  if (answer === undefined)
    return textOutput(
      `The plan is in ${path}. Nobody is here to approve it, so plan mode holds and nothing may be changed: ` +
        'give the plan as your answer and end.',
    );
  const shown = { kind: 'markdown', text: plan } as const;
  if (answer !== APPROVE && answer !== APPROVE_EDITS) {
    const why = answer === KEEP_PLANNING ? '' : ` They say: ${answer}`;
    return textOutput(`The user wants the plan to be different; plan mode holds.${why}`, shown);
  }
  const mode = answer === APPROVE_EDITS ? 'acceptEdits' : (plans.before.get(identity.session) ?? 'default');
  plans.before.delete(identity.session);
  await control.setMode(mode);
  return textOutput(
    `The user approved the plan in ${path}. Plan mode is over (permission mode ${mode}): carry it out step by step.`,
    shown,
  );
}

async function submitted(files: PlanFiles, input: JsonObject, context: ToolContext) {
  const { plan } = input;
  if (typeof plan === 'string' && plan.trim() !== '') return { plan, path: await files.write(context, plan) };
  const kept = await files.read(context);
  if (kept === undefined) throw new ToolFailure('There is no plan yet: give it as `plan`.');
  return { plan: kept, path: files.path(context) };
}

/** A label, or words of the person's own; undefined when nobody is there. */
async function decision(plan: string, path: string, context: ToolContext): Promise<string | undefined> {
  const text = `${plan.trim()}\n\n(in ${path})\nCarry this plan out?`;
  try {
    const answer = await context.ask({
      kind: 'choice',
      questions: [{ header: 'Plan', text, options: OPTIONS }],
    });
    return answer.kind === 'choice' ? answer.answers[0] : undefined;
  } catch {
    context.signal.throwIfAborted();
    return undefined;
  }
}
