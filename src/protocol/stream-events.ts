// What a run says, as clients hear it that know only this protocol: each event of core becomes none, one or a few stream
// events, and for those who watch all conversations a flat one. Both mappings are total.

import { CrabError, type ErrorData, errorData } from '../core/errors.ts';
import type { Event, RunEnd } from '../core/event.ts';
import { messageText, toolCalls } from '../core/message.ts';
import type { Question } from '../core/question.ts';
import type { Usage } from '../core/usage.ts';
import { statusOf } from './failure.ts';
import {
  AgentEventKind,
  type AgentEventMsg,
  type StreamEnd,
  type StreamEventCase,
  type TokenUsage,
} from './messages.ts';

/** Follows one run: a client is told of a call's beginning before its result, and when all of a step have theirs. */
export class StreamMapping {
  readonly #started = new Set<string>();
  #expected = 0;
  #ended = 0;
  #spoke = false;

  of(event: Event): readonly StreamEventCase[] {
    switch (event.type) {
      case 'runStart':
        return [{ case: 'start', value: { agent: event.guest ?? event.agent } }];
      case 'contentDelta':
        this.#spoke = true;
        return [{ case: 'chunk', value: { content: event.delta } }];
      case 'shellOutput':
        this.#spoke = true;
        return [{ case: 'chunk', value: { content: event.delta } }];
      case 'thinkingDelta':
        return [{ case: 'thinking', value: { content: event.delta } }];
      case 'messageEnd':
        this.#expected = toolCalls(event.message).length;
        return this.#completed();
      case 'turnStart':
        this.#expected = 0;
        this.#ended = 0;
        return [];
      case 'toolStart':
        return [this.#start(event.id, event.name, event.input)];
      case 'permissionDenied':
        return this.#started.has(event.id) ? [] : [this.#start(event.id, event.tool, event.input)];
      case 'toolResult':
        return this.#result(event);
      case 'question':
        return [asked(event.question)];
      case 'requestEnd':
        return event.usage.totalTokens === 0
          ? []
          : [{ case: 'contextUsage', value: { usage: tokens(event.usage) } }];
      case 'runEnd':
        return this.#end(event);
      case 'jobFired':
      case 'promptAccepted':
      case 'messageStart':
      case 'toolUseStart':
      case 'toolUseDelta':
      case 'contentBlockStop':
      case 'toolOutputDelta':
      case 'toolProgress':
      case 'questionAnswered':
      case 'retry':
      case 'recovery':
      case 'contextUsage':
      case 'compactStart':
      case 'compactEnd':
      case 'scopeViolation':
      case 'agentWorkerStarted':
      case 'agentWorkerCompleted':
      case 'memoryLoaded':
      case 'memorySaved':
      case 'sessionResumed':
      case 'sessionSaved':
      case 'sessionNamed':
      case 'contextUpgraded':
      case 'notice':
      case 'notification':
      case 'sandboxViolation':
      case 'commandResult':
      case 'shellStart':
      case 'shellEnd':
        return [];
    }
  }

  #start(id: string, name: string, input: Readonly<Record<string, unknown>>): StreamEventCase {
    this.#started.add(id);
    return { case: 'toolStart', value: { calls: [{ id, name, arguments: JSON.stringify(input) }] } };
  }

  #result({ message, durationMs }: Event & { readonly type: 'toolResult' }): readonly StreamEventCase[] {
    const { toolCallId: callId, toolName, isError } = message;
    const begun = this.#started.has(callId) ? [] : [this.#start(callId, toolName, {})];
    this.#ended++;
    const value = { callId, output: messageText(message), durationMs: Math.round(durationMs), isError };
    return [...begun, { case: 'toolResult', value }, ...this.#completed()];
  }

  /** Calls may end before the message that they stand in. */
  #completed(): readonly StreamEventCase[] {
    if (this.#expected === 0 || this.#ended < this.#expected) return [];
    this.#expected = 0;
    this.#ended = 0;
    return [{ case: 'toolsComplete', value: {} }];
  }

  #end(event: RunEnd): readonly StreamEventCase[] {
    // What a command has to say stands only here.
    const text: readonly StreamEventCase[] =
      this.#spoke || event.text === '' ? [] : [{ case: 'chunk', value: { content: event.text } }];
    return [...text, { case: 'end', value: { agent: '', ...endFields(event) } }];
  }
}

/** What the end of a run says of its failure, in each of the messages that tell an end. */
export function endFields(end: RunEnd): Pick<StreamEnd, 'error' | 'code' | 'name' | 'hint'> {
  const error = endError(end);
  if (error === undefined) return { error: '', code: 0 };
  return { error: error.message, code: statusOf(error), name: error.code, hint: error.hint };
}

/** Undefined exactly when the run succeeded. */
export function endError({ outcome, error }: RunEnd): ErrorData | undefined {
  if (outcome === 'done' || outcome === 'command') return undefined;
  return error ?? errorData(new CrabError('interrupted', 'The run was stopped.'));
}

function asked(question: Question): StreamEventCase {
  if (question.kind === 'permission') {
    const { id, tool, input, reason } = question;
    const toolInput = JSON.stringify(input);
    const inputSummary = `${tool} ${toolInput.length > 200 ? `${toolInput.slice(0, 199)}…` : toolInput}`;
    return { case: 'permissionRequest', value: { id, toolName: tool, inputSummary, toolInput, reason } };
  }
  const questions = question.questions.map(({ text, options, multiple }) => ({
    question: text,
    options: options.map(({ label, description = '' }) => ({ label, description })),
    multiSelect: multiple === true,
  }));
  return { case: 'askUser', value: { questions } };
}

export function tokens(usage: Usage): TokenUsage {
  const { input, output, cacheRead, cacheWrite, reasoning, totalTokens } = usage;
  return {
    promptTokens: input + cacheRead + cacheWrite,
    completionTokens: output,
    totalTokens,
    ...(cacheRead + cacheWrite > 0 && { cacheHitTokens: cacheRead, cacheMissTokens: input + cacheWrite }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

/**
 * Undefined for what those who watch all conversations are not told. `at` is in milliseconds since the epoch; a result
 * does not say which tool it is of, so that whoever knows adds it.
 */
export function agentEvent(
  event: StreamEventCase,
  who: Who,
  at: number,
  toolName = '',
): AgentEventMsg | undefined {
  const flat = (kind: number, content: string, rest: Partial<AgentEventMsg> = {}): AgentEventMsg => ({
    kind,
    agent: who.agent,
    sender: who.sender,
    content,
    timestamp: at,
    toolIsError: false,
    toolName: '',
    ...rest,
  });
  switch (event.case) {
    case 'chunk':
      return flat(AgentEventKind.TEXT_DELTA, event.value.content);
    case 'thinking':
      return flat(AgentEventKind.THINKING_DELTA, event.value.content);
    case 'toolStart': {
      const [call] = event.value.calls;
      return flat(AgentEventKind.TOOL_START, call?.arguments ?? '', { toolName: call?.name ?? '' });
    }
    case 'toolResult':
      return flat(AgentEventKind.TOOL_RESULT, event.value.output, {
        toolIsError: event.value.isError,
        toolName,
      });
    case 'toolsComplete':
      return flat(AgentEventKind.TOOLS_COMPLETE, '');
    case 'end':
      return flat(AgentEventKind.DONE, event.value.error);
    case 'start':
    case 'askUser':
    case 'contextUsage':
    case 'permissionRequest':
      return undefined;
  }
}

export interface Who {
  readonly agent: string;
  readonly sender: string;
}
