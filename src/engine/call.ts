// One tool call from arguments to result, through the one pipeline that every tool of every source passes:
// prepare → coerce → validate → scope → permission → before-points → run → after-points → cap. Whatever goes
// wrong on the way becomes an error result (law 2), so that a call always has exactly one answer.

import type { Display } from '../core/display.ts';
import { messageOf, ToolFailure } from '../core/errors.ts';
import type { PermissionDenied } from '../core/event.ts';
import type { CallInfo, Extension } from '../core/extension.ts';
import { MAX_RESULT_BYTES } from '../core/limits.ts';
import type { ToolCallContent } from '../core/message.ts';
import type { Gate, Verdict } from '../core/permission.ts';
import type { Answer, PermissionQuestion } from '../core/question.ts';
import { redactedValue } from '../core/redact.ts';
import type { JsonObject } from '../core/schema.ts';
import {
  type CallPlan,
  errorOutput,
  type Identity,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from '../core/tool.ts';
import { coerce } from './coerce.ts';
import { validate } from './schema.ts';

/** What every call of a run shares. */
export interface CallEnvironment {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly gate: Gate;
  readonly extensions: readonly Extension[];
  identity(): Identity;
  /** The context of one call; `signal` is the call's own. */
  context(call: ToolCallContent, signal: AbortSignal): ToolContext;
  /** Puts a question to whoever is there; undefined when nobody is. */
  askPermission:
    | ((question: Omit<PermissionQuestion, 'id'>, signal: AbortSignal) => Promise<Answer>)
    | undefined;
  /** Remembers that a person allowed this call for the rest of the session. */
  grant(request: Parameters<Gate>[0]): Promise<void>;
  /** Takes known secrets out of what a call has to say (law 10). */
  redact?(text: string): string;
  /** Keeps a text that is too long to show; returns the path of the file. */
  spill(callId: string, text: string): Promise<string>;
}

/** A call that passed validation: what it would do is known. */
export interface PlannedCall {
  readonly call: ToolCallContent;
  readonly tool: Tool;
  readonly input: JsonObject;
  readonly plan: CallPlan;
}

export type Planned = PlannedCall | { readonly call: ToolCallContent; readonly failure: string };

export async function planCall(
  call: ToolCallContent,
  environment: Pick<CallEnvironment, 'tools' | 'identity'>,
): Promise<Planned> {
  const tool = environment.tools.get(call.name);
  if (tool === undefined) {
    const known = [...new Set([...environment.tools.values()].map((each) => each.name))].join(', ');
    return { call, failure: `Tool not found: ${call.name}. The tools are: ${known}.` };
  }
  try {
    const prepared = tool.prepare?.(call.arguments) ?? call.arguments;
    const input = coerce(prepared, tool.input) as JsonObject;
    const faults = validate(input, tool.input);
    if (faults.length > 0) {
      const list = faults.map(
        (fault) => `${fault.path === '' ? 'the arguments' : fault.path} ${fault.message}`,
      );
      return { call, failure: `The arguments do not fit ${tool.name}: ${list.join('; ')}.` };
    }
    return { call, tool, input, plan: await tool.plan(input, environment.identity().cwd) };
  } catch (error) {
    return { call, failure: describe(error, tool.name) };
  }
}

export async function judge(planned: PlannedCall, environment: CallEnvironment): Promise<Verdict> {
  return environment.gate(gateRequest(planned, environment));
}

function gateRequest({ tool, input, plan }: PlannedCall, environment: CallEnvironment): Parameters<Gate>[0] {
  return { tool: tool.name, input, access: plan.access, mode: environment.identity().mode };
}

export type Permission =
  | { readonly granted: true }
  | { readonly granted: false; readonly denied: PermissionDenied };

/** The last word on a call: the verdict, or the answer of a person where the verdict is to ask. */
export async function permit(
  planned: PlannedCall,
  environment: CallEnvironment,
  signal: AbortSignal,
): Promise<Permission> {
  const verdict = await judge(planned, environment);
  if (verdict.decision === 'allow') return { granted: true };
  if (verdict.decision === 'deny') return refusal(planned, verdict.reason);
  if (environment.askPermission === undefined)
    return refusal(planned, `${verdict.reason} Nobody can be asked here, so it is refused.`);
  const { call, tool, input } = planned;
  const display = await tool.show(input);
  const question = { kind: 'permission', callId: call.id, tool: tool.name, input, display } as const;
  const answer = await environment.askPermission({ ...question, reason: verdict.reason }, signal);
  if (answer.kind !== 'permission' || !answer.allowed) {
    const feedback = answer.kind === 'permission' ? answer.feedback : undefined;
    return refusal(
      planned,
      feedback === undefined ? 'The user refused it.' : `The user refused it: ${feedback}`,
    );
  }
  if (answer.remember === true) await environment.grant(gateRequest(planned, environment));
  return { granted: true };
}

export function refusal(planned: PlannedCall, reason: string): Permission {
  const { call, tool, input } = planned;
  return {
    granted: false,
    denied: { type: 'permissionDenied', id: call.id, tool: tool.name, input, reason },
  };
}

/** Runs a permitted call. Resolves always: a failure is an error output. */
export async function runCall(
  planned: PlannedCall,
  environment: CallEnvironment,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { call, tool, input } = planned;
  const info: CallInfo = { id: call.id, tool: tool.name, input, identity: environment.identity() };
  let output: ToolOutput;
  try {
    const blocked = await firstBlock(environment.extensions, info);
    if (blocked !== undefined) return errorOutput(blocked);
    output = await tool.run(input, environment.context({ ...call, name: tool.name }, signal));
  } catch (error) {
    output = errorOutput(signal.aborted ? 'The call was interrupted.' : describe(error, tool.name));
  }
  try {
    for (const extension of environment.extensions) {
      // Most have no such point: then there is nothing to wait for.
      if (extension.afterCall !== undefined) output = (await extension.afterCall(info, output)) ?? output;
    }
  } catch (error) {
    output = errorOutput(describe(error, tool.name));
  }
  return capped(redacted(output, environment), call.id, environment);
}

/** Before anything is kept: neither the model nor the tape nor a file of long output gets to see a secret. */
function redacted(output: ToolOutput, { redact }: CallEnvironment): ToolOutput {
  if (redact === undefined) return output;
  const { content, display } = output;
  return {
    ...output,
    content: content.map((block) => (block.type === 'text' ? { ...block, text: redact(block.text) } : block)),
    ...(display !== undefined && { display: redactedValue(display, redact) }),
  };
}

async function firstBlock(extensions: readonly Extension[], info: CallInfo): Promise<string | undefined> {
  for (const extension of extensions) {
    if (extension.beforeCall === undefined) continue;
    const block = await extension.beforeCall(info);
    if (block !== undefined) return block.reason;
  }
  return undefined;
}

function describe(error: unknown, tool: string): string {
  if (error instanceof ToolFailure) return error.message;
  return `${tool} failed: ${messageOf(error)}`;
}

/** Tools keep their own bounds; this is the one that no tool can forget (law 5). */
async function capped(output: ToolOutput, callId: string, environment: CallEnvironment): Promise<ToolOutput> {
  let length = 0;
  for (const block of output.content) if (block.type === 'text') length += block.text.length;
  // No UTF-8 text is longer than three bytes for each UTF-16 unit, so a short one needs no count.
  if (length * 3 <= MAX_RESULT_BYTES) return output;
  const text = output.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_RESULT_BYTES) return output;
  const path = await environment.spill(callId, text);
  const head = new TextDecoder().decode(bytes.subarray(0, MAX_RESULT_BYTES - 200), { stream: true });
  const note = `\n[${bytes.length - MAX_RESULT_BYTES + 200} bytes more; the whole output is in ${path}]`;
  const shown = output.content.filter((block) => block.type !== 'text');
  return { ...output, content: [{ type: 'text', text: head + note }, ...shown] };
}

export async function displayOf(planned: PlannedCall): Promise<Display> {
  try {
    return await planned.tool.show(planned.input);
  } catch {
    return { kind: 'markdown', text: planned.tool.name };
  }
}
