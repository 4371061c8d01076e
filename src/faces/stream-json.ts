// Events as the lines of `--output-format stream-json`, in the shape that Claude Code gave it and that its
// SDKs read (code.claude.com/docs/en/headless; the Python SDK's `message_parser.py` is the strictest reader).
// Those readers fail on a `type` that they do not know and pass over an unknown `subtype` of `system`: what
// the format has no line for is therefore a `system` line.

import type { AgentWorkerCompleted, CompactEnd, Event, RequestEnd, RunEnd, RunStart } from '../core/event.ts';
import type { ModelRetry } from '../core/model.ts';
import { NO_USAGE } from '../core/usage.ts';
import { apiAssistant, apiInput, apiToolResult, apiUsage } from './api-message.ts';
import { jsonLine } from './json-line.ts';
import { createResult, denial } from './json-result.ts';
import { createPartialMessage } from './partial-json.ts';

export interface StreamJsonOptions {
  /** Names each line; readers take it for granted. */
  readonly uuid: () => string;
  /** The session that the conversation opened with; a run names its own. */
  readonly session?: string;
  /** Commands that can be sent, without their slash. */
  readonly commands: readonly string[];
  /** Also say what arrives of a message, and of a tool's output, as it arrives. */
  readonly includePartial: boolean;
  /** Also repeat each prompt once it is accepted. */
  readonly replayUser: boolean;
}

export interface StreamJson {
  /** The lines of one batch, each with its line end; empty when the batch has none. */
  lines(events: readonly Event[]): string;
}

/** One face serves the runs of one conversation, one after another. */
export function createStreamJson(options: StreamJsonOptions): StreamJson {
  const { uuid, includePartial } = options;
  const collector = createResult(uuid, options.session);
  const partial = createPartialMessage();
  let messageId = '';
  let streaming = false;
  let held = '';

  const stamped = (fields: object): string =>
    jsonLine({ ...fields, session_id: collector.session(), uuid: uuid() });
  const system = (subtype: string, fields: object): string => stamped({ type: 'system', subtype, ...fields });

  function user(content: unknown, more: object = {}): string {
    const message = { role: 'user', content };
    return stamped({ type: 'user', message, parent_tool_use_id: null, ...more });
  }

  function streamed(events: readonly object[]): string {
    let lines = '';
    for (const event of events) lines += stamped({ type: 'stream_event', event, parent_tool_use_id: null });
    return lines;
  }

  /** A call may run before its message has ended, yet a reader expects the call ahead of its result. */
  function afterMessage(line: string): string {
    if (!streaming) return line;
    held += line;
    return '';
  }

  function release(): string {
    const lines = held;
    held = '';
    streaming = false;
    return lines;
  }

  function messageEnd(event: Extract<Event, { type: 'messageEnd' }>): string {
    const message = apiAssistant(event.message, messageId);
    let lines = includePartial ? streamed(partial.endBlocks()) : '';
    lines += stamped({ type: 'assistant', message, parent_tool_use_id: null });
    if (includePartial) lines += streamed(partial.end(event.message.stopReason, event.message.usage));
    return lines + release();
  }

  function runEnd(end: RunEnd): string {
    const cut = includePartial ? streamed([...partial.endBlocks(), ...partial.end('error', NO_USAGE)]) : '';
    return cut + release() + jsonLine(collector.result(end));
  }

  function lineOf(event: Event): string {
    switch (event.type) {
      case 'contentDelta':
      case 'thinkingDelta':
      case 'toolUseStart':
      case 'toolUseDelta':
      case 'contentBlockStop':
        return includePartial ? streamed(partial.see(event)) : '';
      case 'runStart':
        return system('init', init(event, options.commands));
      case 'promptAccepted': {
        if (!options.replayUser) return '';
        const { content } = event.message;
        return user(typeof content === 'string' ? content : content.map(apiInput), { isReplay: true });
      }
      case 'turnStart':
        return '';
      case 'messageStart':
        messageId = event.id;
        streaming = true;
        return includePartial ? streamed(partial.see(event)) : '';
      case 'messageEnd':
        return messageEnd(event);
      case 'toolStart':
        if (!includePartial) return '';
        return afterMessage(system('tool_start', { tool_use_id: event.id, tool_name: event.name }));
      case 'toolOutputDelta':
        if (!includePartial) return '';
        return afterMessage(system('tool_output', { tool_use_id: event.id, delta: event.delta }));
      case 'toolProgress':
        if (!includePartial) return '';
        return afterMessage(system('tool_progress', { tool_use_id: event.id, display: event.display }));
      case 'toolResult':
        return afterMessage(user([apiToolResult(event.message)]));
      case 'question':
        return afterMessage(system('question', { question: event.question }));
      case 'questionAnswered': {
        const allowed = event.allowed === undefined ? {} : { allowed: event.allowed };
        return afterMessage(system('question_answered', { question_id: event.id, ...allowed }));
      }
      case 'permissionDenied':
        return afterMessage(system('permission_denied', { ...denial(event), reason: event.reason }));
      case 'retry':
        return system('api_retry', apiRetry(event));
      case 'requestEnd':
        return afterMessage(system('request_end', requestEnd(event)));
      case 'recovery': {
        const { cause, attempt, detail } = event;
        return system('recovery', { cause, attempt, max_attempts: event.maxAttempts, detail });
      }
      case 'contextUsage':
        return system('context_usage', {
          tokens: event.tokens,
          window: event.window ?? null,
          ...(event.waiting === true && { waiting: true }),
        });
      case 'compactStart': {
        const { strategy, tokensBefore, messages } = event;
        return system('compact_start', { strategy, before_tokens: tokensBefore, messages });
      }
      case 'compactEnd':
        if (event.outcome !== 'done') return system('compact_failed', { outcome: event.outcome });
        return system('compact_boundary', compactBoundary(event));
      case 'scopeViolation':
        return afterMessage(
          system('scope_violation', { tool_use_id: event.id, tool_name: event.tool, agent: event.agent }),
        );
      case 'agentWorkerStarted': {
        const { id, callId, agent, task } = event;
        return afterMessage(
          system('task_started', { task_id: id, tool_use_id: callId, agent, description: task }),
        );
      }
      case 'agentWorkerCompleted':
        return afterMessage(system('task_notification', taskEnd(event)));
      case 'jobFired': {
        const { by, source } = event;
        return system('job_fired', { by, ...(source !== undefined && { source }) });
      }
      case 'memoryLoaded':
        return afterMessage(system('memory_loaded', { count: event.count }));
      case 'memorySaved':
        return afterMessage(system('memory_saved', { name: event.name }));
      case 'sessionResumed':
        return system('session_resumed', { messages: event.messages });
      case 'sessionSaved':
        return '';
      case 'sessionNamed':
        return afterMessage(system('session_named', { name: event.name }));
      case 'contextUpgraded': {
        const { from, to, oldWindow, newWindow } = event;
        return system('context_upgraded', { from, to, old_window: oldWindow, new_window: newWindow });
      }
      case 'notification': {
        const { id, text, files, urgent } = event;
        return afterMessage(system('notification', { tool_use_id: id, text, files, urgent }));
      }
      case 'sandboxViolation': {
        const { id, tool, what, target, detail } = event;
        return system('sandbox_violation', { tool_use_id: id, tool_name: tool, what, target, detail });
      }
      case 'notice':
        return system('notice', { level: event.level, text: event.text });
      case 'commandResult': {
        return system('local_command_output', { content: collector.commandText(), command: event.name });
      }
      case 'shellStart':
        return '';
      case 'shellOutput':
        return includePartial ? system('shell_output', { delta: event.delta }) : '';
      case 'shellEnd': {
        const { command, exitCode, timedOut } = event;
        const ending = { command, exit_code: exitCode, timed_out: timedOut };
        return system('local_command_output', { content: collector.commandText(), ...ending });
      }
      case 'runEnd':
        return runEnd(event);
    }
  }

  return {
    lines(events) {
      let lines = '';
      for (const event of events) {
        collector.see(event);
        lines += lineOf(event);
      }
      return lines;
    },
  };
}

/** Readers index most of these without asking, so that each is there even where Crab has nothing to say. */
function init(event: RunStart, commands: readonly string[]): object {
  return {
    cwd: event.cwd,
    tools: event.tools,
    mcp_servers: [],
    model: event.model?.id ?? '',
    provider: event.model?.provider ?? '',
    permissionMode: event.mode,
    slash_commands: commands,
    apiKeySource: event.credential ?? 'none',
    output_style: 'default',
    agents: [event.agent],
    skills: [],
    plugins: [],
  };
}

/** The boundary is Claude Code's, with its metadata; what it has no name for stands beside it. */
function compactBoundary(end: CompactEnd): object {
  return {
    compact_metadata: { pre_tokens: end.tokensBefore },
    after_tokens: end.tokensAfter,
    removed_messages: end.removedMessages,
    written_by: end.writtenBy ?? null,
    title: end.title ?? null,
    archive_name: end.archiveName ?? null,
  };
}

function taskEnd({ id, agent, outcome, result, usage, durationMs }: AgentWorkerCompleted): object {
  return {
    task_id: id,
    agent,
    status: outcome === 'done' ? 'completed' : outcome === 'cancelled' ? 'stopped' : 'failed',
    summary: result,
    usage: apiUsage(usage),
    cost_usd: usage.cost.total,
    duration_ms: Math.round(durationMs),
  };
}

function requestEnd(request: RequestEnd): object {
  const { ttftMs, tokensPerSecond } = request;
  return {
    provider: request.provider,
    model: request.model,
    cause: request.cause,
    outcome: request.outcome,
    error_status: request.status ?? null,
    usage: apiUsage(request.usage),
    cost_usd: request.usage.cost.total,
    priced: request.priced,
    ...(request.unreportedUsd !== undefined && { unreported_cost_usd: request.unreportedUsd }),
    ttft_ms: ttftMs === undefined ? null : Math.round(ttftMs),
    duration_ms: Math.round(request.durationMs),
    tokens_per_second: tokensPerSecond === undefined ? null : Math.round(tokensPerSecond),
  };
}

function apiRetry(retry: ModelRetry): object {
  return {
    attempt: retry.attempt,
    max_retries: retry.maxAttempts - 1,
    retry_delay_ms: retry.delayMs,
    error_status: retry.status ?? null,
    error: retryCause(retry.status),
    reason: retry.reason,
  };
}

/** The format's words for why a request is sent again. */
function retryCause(status: number | undefined): string {
  if (status === undefined) return 'unknown';
  if (status === 429) return 'rate_limit';
  if (status === 529) return 'overloaded';
  if (status === 401 || status === 403) return 'authentication_failed';
  if (status === 402) return 'billing_error';
  return status >= 500 ? 'server_error' : 'invalid_request';
}
