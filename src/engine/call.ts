// One tool call from arguments to result, through the one pipeline that every tool of every source passes:
// prepare → coerce → validate → scope → permission → before-points → run → after-points → cap. Whatever goes
// wrong on the way becomes an error result (law 2), so that a call always has exactly one answer.

import type { Display } from '../core/display.ts';
import { messageOf, ToolFailure } from '../core/errors.ts';
import type { PermissionDenied } from '../core/event.ts';
import type { CallInfo, Extension } from '../core/extension.ts';
import type { ToolCallContent } from '../core/message.ts';
import { type Gate, isSessionOnly, type JudgedPath, type Risk, type Verdict } from '../core/permission.ts';
import type { Answer, PermissionQuestion, Remember } from '../core/question.ts';
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
import { fitResult, type ResultOptions } from './result.ts';
import { suggestions } from './route.ts';
import { type Fault, UNKNOWN_PROPERTY, validate } from './schema.ts';
import { findTool } from './tool-name.ts';
import { whileWanted } from './while-wanted.ts';

/** Milliseconds that a tool may take to end what it began when its call is interrupted. */
const PATIENCE_MS = 10_000;

/** What every call of a run shares. */
export interface CallEnvironment extends Omit<ResultOptions, 'callId'> {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly gate: Gate;
  readonly extensions: readonly Extension[];
  identity(): Identity;
  /** There is such a tool, and the agent has no grant for it. */
  isOutOfScope?(tool: string): boolean;
  /** The context of one call; `signal` is the call's own, `paths` are those that its verdict is about. */
  context(call: ToolCallContent, signal: AbortSignal, paths?: readonly JudgedPath[]): ToolContext;
  /** Puts a question to whoever is there; undefined when nobody is. */
  askPermission:
    | ((question: Omit<PermissionQuestion, 'id'>, signal: AbortSignal) => Promise<Answer>)
    | undefined;
  /** The rule that would allow this call from now on; undefined where none can. */
  ruleFor(request: Parameters<Gate>[0]): Promise<string | undefined>;
  /** What the person who is asked should see of the call at a glance. */
  riskOf?(request: Parameters<Gate>[0]): Promise<Risk>;
  /** A person allowed this call, before it runs: once, or for as long as `remember` says. */
  approved(request: Parameters<Gate>[0], remember: Remember | undefined): Promise<void>;
  /** What comes of a refusal beside the refusal itself; told of every one of them. */
  denied(denied: PermissionDenied): { readonly advice?: string; readonly stop?: Error };
  /** A call was permitted. */
  permitted(): void;
  /** The model did not know how to call this tool: sends it from the next request on. False where it was sent already. */
  introduce?(tool: string): boolean;
}

/** A call that passed validation: what it would do is known. */
export interface PlannedCall {
  readonly call: ToolCallContent;
  readonly tool: Tool;
  readonly input: JsonObject;
  readonly plan: CallPlan;
}

export type Planned = PlannedCall | UnplannedCall;

export interface UnplannedCall {
  readonly call: ToolCallContent;
  readonly failure: string;
  /** The tool is outside of the agent's scope. */
  readonly isViolation?: true;
  /** There is such a tool, and the call does not fit it. */
  readonly tool?: Tool;
}

export async function planCall(
  call: ToolCallContent,
  environment: Pick<CallEnvironment, 'tools' | 'identity' | 'isOutOfScope'>,
): Promise<Planned> {
  const tool = findTool(environment.tools, call.name);
  if (tool === undefined) return withoutTool(call, environment);
  try {
    const prepared = tool.prepare?.(call.arguments, call.name) ?? call.arguments;
    const input = coerce(prepared, tool.input) as JsonObject;
    const faults = validate(input, tool.input);
    if (faults.length > 0) return { call, tool, failure: misfit(tool, faults) };
    return { call, tool, input, plan: await tool.plan(input, environment.identity().cwd) };
  } catch (error) {
    return { call, tool, failure: describe(error, tool.name) };
  }
}

function misfit({ name, input }: Tool, faults: readonly Fault[]): string {
  const list = faults.map(({ path, message }) => `${path === '' ? 'the arguments' : path} ${message}`);
  const isUnknown = faults.some(({ message }) => message === UNKNOWN_PROPERTY);
  const known = isUnknown ? ` It takes: ${Object.keys(input.properties ?? {}).join(', ') || 'nothing'}.` : '';
  return `The arguments do not fit ${name}: ${list.join('; ')}.${known}`;
}

function withoutTool(
  call: ToolCallContent,
  { tools, identity, isOutOfScope }: Pick<CallEnvironment, 'tools' | 'identity' | 'isOutOfScope'>,
): UnplannedCall {
  const known = [...new Set([...tools.values()].map((each) => each.name))];
  const others =
    known.length === 0 ? 'There are no tools here: answer in words.' : `The tools are: ${known.join(', ')}.`;
  if (isOutOfScope?.(call.name) !== true) {
    const [near] = suggestions(call.name, tools.keys());
    const meant = near === undefined ? '' : `Did you mean ${tools.get(near)?.name}? `;
    return { call, failure: `Tool not found: ${call.name}. ${meant}${others}` };
  }
  const failure = `${call.name} is outside of the scope of ${identity().agent}. ${others}`;
  return { call, failure, isViolation: true };
}

export async function judge(planned: PlannedCall, environment: CallEnvironment): Promise<Verdict> {
  return environment.gate(gateRequest(planned, environment));
}

function gateRequest({ tool, input, plan }: PlannedCall, environment: CallEnvironment): Parameters<Gate>[0] {
  return { tool: tool.name, input, access: plan.access, mode: environment.identity().mode };
}

export type Permission =
  /** For the paths as they were judged. */
  | { readonly granted: true; readonly paths?: readonly JudgedPath[] }
  | { readonly granted: false; readonly denied: PermissionDenied };

/** The last word on a call: the verdict, or the answer of a person where the verdict is to ask. */
export async function permit(
  planned: PlannedCall,
  environment: CallEnvironment,
  signal: AbortSignal,
): Promise<Permission> {
  const verdict = await judge(planned, environment);
  if (verdict.decision === 'allow') return grantedBy(verdict);
  if (verdict.decision === 'deny') return refusal(planned, verdict.reason);
  if (environment.askPermission === undefined)
    return refusal(planned, `${verdict.reason} Nobody can be asked here, so it is refused.`);
  const { call, tool, input } = planned;
  const display = await whileWanted(tool.show(input), signal);
  const request = gateRequest(planned, environment);
  const rule = await environment.ruleFor(request);
  const risk = await environment.riskOf?.(request);
  const question = { kind: 'permission', callId: call.id, tool: tool.name, input, display } as const;
  const answer = await environment.askPermission(
    {
      ...question,
      reason: verdict.reason,
      ...(risk !== undefined && { risk }),
      ...(rule !== undefined && { rule }),
      ...(isSessionOnly(request.access) && { sessionOnly: true }),
    },
    signal,
  );
  if (answer.kind !== 'permission' || !answer.allowed) {
    const feedback = answer.kind === 'permission' ? answer.feedback : undefined;
    return refusal(
      planned,
      feedback === undefined ? 'The user refused it.' : `The user refused it: ${feedback}`,
    );
  }
  await environment.approved(request, answer.remember);
  return grantedBy(verdict);
}

export function grantedBy({ paths }: Verdict): Permission {
  return { granted: true, ...(paths !== undefined && { paths }) };
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
  paths: readonly JudgedPath[] | undefined,
  environment: CallEnvironment,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { call, tool, input, plan } = planned;
  const info: CallInfo = {
    id: call.id,
    tool: tool.name,
    input,
    access: plan.access,
    identity: environment.identity(),
  };
  const context = environment.context({ ...call, name: tool.name }, signal, paths);
  try {
    const blocked = await whileWanted(firstBlock(environment.extensions, info), signal);
    if (blocked !== undefined) return await fitted(errorOutput(blocked), planned, environment);
    const output = await ran(planned, context);
    return await fitted(await after(output, { info, context, environment }), planned, environment);
  } catch (error) {
    const said = signal.aborted ? INTERRUPTED : describe(error, tool.name);
    return fitted(errorOutput(said), planned, environment);
  }
}

const INTERRUPTED = 'The call was interrupted.';

interface Running {
  readonly info: CallInfo;
  readonly context: ToolContext;
  readonly environment: CallEnvironment;
}

async function ran({ tool, input }: PlannedCall, context: ToolContext): Promise<ToolOutput> {
  const { signal, clock } = context;
  let isAtWork = false;
  try {
    // A tool that waits for the abort would wait for ever when it came before.
    signal.throwIfAborted();
    isAtWork = true;
    const running = tool.run(input, context).finally(() => {
      isAtWork = false;
    });
    return await whileWanted(running, signal, { ms: PATIENCE_MS, clock });
  } catch (error) {
    if (!signal.aborted) return errorOutput(describe(error, tool.name));
    const left = isAtWork ? ` ${tool.name} did not end when it was told to, and may still be at work.` : '';
    return errorOutput(`${INTERRUPTED}${left}`);
  }
}

async function after(given: ToolOutput, { info, context, environment }: Running): Promise<ToolOutput> {
  const { signal } = context;
  let output = given;
  for (const extension of environment.extensions) {
    // Most have no such point: then there is nothing to wait for.
    if (extension.afterCall === undefined) continue;
    try {
      output = (await whileWanted(extension.afterCall(info, output, context), signal)) ?? output;
    } catch (error) {
      // What the tool has done by then is told all the same.
      if (!signal.aborted) throw error;
    }
  }
  return output;
}

/** Before anything is kept: neither the model nor the tape nor a file of long output gets to see a secret. */
function fitted(
  output: ToolOutput,
  { call, tool }: PlannedCall,
  { redact, plain, spill }: CallEnvironment,
): Promise<ToolOutput> {
  return fitResult(output, {
    callId: call.id,
    spill,
    ...(redact !== undefined && { redact }),
    ...(plain !== undefined && tool.source !== 'builtin' && { plain }),
  });
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

export async function displayOf({ tool, input }: PlannedCall, signal: AbortSignal): Promise<Display> {
  try {
    return await whileWanted(tool.show(input), signal);
  } catch {
    return { kind: 'markdown', text: tool.name };
  }
}
