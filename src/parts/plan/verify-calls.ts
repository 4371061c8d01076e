// What was done, held against the plan: every step needs an answer, and a step that is said to be done names evidence; files
// among it must be there. The outcome is written under the plan, for whoever reads it later.

import { resolve } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type CallPlan, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { OUTCOMES, type Outcome } from './outcomes.ts';
import type { PlanFiles } from './plan-file.ts';
import { type PlanStep, planSteps } from './plan-steps.ts';

interface Finding {
  readonly step: number;
  readonly outcome: Outcome;
  readonly evidence: string;
  readonly files: readonly string[];
}

const HEADING = '## Verification';

export function planVerification({ findings }: JsonObject, cwd: string): CallPlan {
  const paths = findingsIn(findings).flatMap(({ files }) => files.map((path) => resolve(cwd, path)));
  const access = paths.length === 0 ? ({ kind: 'none' } as const) : ({ kind: 'read', paths } as const);
  return { access, parallel: false, repeatable: true };
}

export async function verify(files: PlanFiles, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const text = await files.read(context);
  if (text === undefined) throw new ToolFailure('There is no plan in this conversation.');
  const [plan = ''] = text.split(`\n${HEADING}\n`);
  const steps = planSteps(plan);
  if (steps.length === 0)
    throw new ToolFailure(`The plan in ${files.path(context)} has no list of steps to be verified.`);
  if (input['findings'] === undefined)
    return textOutput(steps.map(({ number, text: step }) => `${number}. ${step}`).join('\n'));
  const findings = findingsIn(input['findings']);
  const byStep = new Map(findings.map((finding) => [finding.step, finding]));
  const faults = [...gaps(steps, findings), ...(await missingFiles(findings, context))];
  if (faults.length > 0) throw new ToolFailure(`The findings do not hold:\n${faults.join('\n')}`);
  const rows = steps.map((step) => ({ step, finding: byStep.get(step.number) }));
  const report = rows.map(
    ({ step, finding }) => `${step.number}. ${finding?.outcome}: ${step.text} (${finding?.evidence})`,
  );
  await files.write(context, `${plan.trimEnd()}\n\n${HEADING}\n\n${report.join('\n')}\n`);
  const open = rows.filter(({ finding }) => finding?.outcome === 'partly' || finding?.outcome === 'missing');
  const verdict =
    open.length === 0
      ? `All ${steps.length} steps are done or dropped.`
      : `Open: ${open.map(({ step }) => step.number).join(', ')} of ${steps.length} steps. Finish them, or tell the user why not.`;
  return textOutput(verdict, {
    kind: 'table',
    columns: ['step', 'outcome', 'evidence'],
    rows: rows.map(({ step, finding }) => [step.text, finding?.outcome ?? '', finding?.evidence ?? '']),
  });
}

function gaps(steps: readonly PlanStep[], findings: readonly Finding[]): readonly string[] {
  const counts = new Map<number, number>();
  for (const { step } of findings) counts.set(step, (counts.get(step) ?? 0) + 1);
  const known = new Set(steps.map(({ number }) => number));
  return [
    ...steps
      .filter(({ number }) => !counts.has(number))
      .map(({ number, text }) => `Step ${number} has no finding: ${text}`),
    ...[...counts].filter(([, count]) => count > 1).map(([step]) => `Step ${step} has several findings.`),
    ...[...counts.keys()].filter((step) => !known.has(step)).map((step) => `The plan has no step ${step}.`),
    ...findings
      .filter(({ evidence }) => evidence === '')
      .map(({ step }) => `Step ${step} names no evidence.`),
  ];
}

async function missingFiles(findings: readonly Finding[], context: ToolContext): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { step, outcome, files } of findings) {
    if (outcome !== 'done') continue;
    for (const file of files)
      if ((await context.files.info(resolve(context.identity.cwd, file))) === undefined)
        missing.push(`Step ${step} names ${file}, which is not there.`);
  }
  return missing;
}

function findingsIn(value: unknown): readonly Finding[] {
  if (!Array.isArray(value)) return [];
  return value.map((each: JsonObject) => ({
    step: Number(each['step']),
    outcome: OUTCOMES.find((name) => name === each['outcome']) ?? 'missing',
    evidence: String(each['evidence'] ?? '').trim(),
    files: Array.isArray(each['files']) ? each['files'].map(String) : [],
  }));
}
