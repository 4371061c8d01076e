// Laws 1 and 5, checked on every request. Each wire reads its body into the same steps and reports what is
// wrong with the shape by itself; what holds on every wire (who answers whom, and the caps) is judged here.

import { MAX_RESULT_BYTES } from '../core/limits.ts';

/** Where a request breaks a law, such as `messages[3].content[0]`, and how. */
export interface Finding {
  readonly law: 1 | 5;
  readonly at: string;
  readonly message: string;
}

/** A history as every wire means it: one step a message, and one for each result. */
export type Step =
  | { readonly kind: 'user'; readonly at: string; readonly text: string }
  | { readonly kind: 'assistant'; readonly at: string; readonly calls: readonly CallStep[] }
  | { readonly kind: 'result'; readonly at: string; readonly callId: string; readonly text: string };

export interface CallStep {
  readonly at: string;
  readonly id: string;
  readonly name: string;
}

export interface History {
  readonly steps: readonly Step[];
  /** The whole system prompt. */
  readonly system: string;
  readonly tools: readonly { readonly at: string; readonly name: string }[];
  /** What the wire found wrong with the shape of the body. */
  readonly findings: readonly Finding[];
}

/** A result may say that it was cut, and where the rest is, beyond the cap. */
export const RESULT_SLACK_BYTES = 1024;

/** Far above any honest prompt with its instruction files, far below a prompt that took in a data file. */
export const MAX_SYSTEM_BYTES = 256 * 1024;

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function checkHistory(history: History): readonly Finding[] {
  return [
    ...history.findings,
    ...checkFirst(history.steps),
    ...checkPairs(history.steps),
    ...checkNames(history),
    ...checkCaps(history),
  ];
}

function checkFirst(steps: readonly Step[]): readonly Finding[] {
  const [first] = steps;
  if (first === undefined) return [finding('messages', 'there is no message')];
  return first.kind === 'user' ? [] : [finding(first.at, 'the first message is not from the user')];
}

/** Every call is answered by exactly one result, right after its message and in call order. */
function checkPairs(steps: readonly Step[]): readonly Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  let open: readonly CallStep[] = [];
  const closeAll = () => {
    for (const call of open) findings.push(finding(call.at, `call ${call.id} has no result right after it`));
    open = [];
  };
  for (const step of steps) {
    if (step.kind !== 'result') closeAll();
    if (step.kind === 'assistant') {
      findings.push(...duplicates(step.calls, seen));
      open = step.calls;
    } else if (step.kind === 'result') {
      const answered = open.findIndex((call) => call.id === step.callId);
      if (answered < 0) findings.push(finding(step.at, `result for ${step.callId} answers no open call`));
      if (answered > 0) findings.push(finding(step.at, `result for ${step.callId} is not in call order`));
      open = open.filter((call) => call.id !== step.callId);
    }
  }
  closeAll();
  return findings;
}

function duplicates(calls: readonly CallStep[], seen: Set<string>): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { at, id } of calls) {
    if (seen.has(id)) findings.push(finding(at, `call id ${id} is used twice`));
    seen.add(id);
  }
  return findings;
}

function checkNames(history: History): readonly Finding[] {
  const calls = history.steps.flatMap((step) => (step.kind === 'assistant' ? step.calls : []));
  const bad = [...calls, ...history.tools].filter(({ name }) => !TOOL_NAME.test(name));
  const findings = bad.map(({ at, name }) => finding(at, `tool name ${JSON.stringify(name)} is not allowed`));
  const offered = new Set<string>();
  for (const { at, name } of history.tools) {
    if (offered.has(name)) findings.push(finding(at, `tool ${name} is offered twice`));
    offered.add(name);
  }
  return findings;
}

function checkCaps({ steps, system }: History): readonly Finding[] {
  const findings: Finding[] = [];
  const most = MAX_RESULT_BYTES + RESULT_SLACK_BYTES;
  for (const step of steps) {
    if (step.kind !== 'result') continue;
    const bytes = Buffer.byteLength(step.text);
    if (bytes > most) findings.push({ law: 5, at: step.at, message: tooLong('result', bytes, most) });
  }
  const bytes = Buffer.byteLength(system);
  if (bytes > MAX_SYSTEM_BYTES) {
    findings.push({ law: 5, at: 'system', message: tooLong('system prompt', bytes, MAX_SYSTEM_BYTES) });
  }
  return findings;
}

function tooLong(what: string, bytes: number, most: number): string {
  return `the ${what} has ${bytes} bytes, more than ${most}`;
}

/** A breach of law 1. */
export function finding(at: string, message: string): Finding {
  return { law: 1, at, message };
}

/** The findings as one sentence for an error answer. */
export function describeFindings(findings: readonly Finding[]): string {
  const shown = findings
    .slice(0, 3)
    .map(({ law, at, message }) => `law ${law} violated at ${at}: ${message}`);
  const rest = findings.length - shown.length;
  return rest > 0 ? `${shown.join('; ')}; and ${rest} more` : shown.join('; ');
}
