// The result of a run as one object: all of `--output-format json`, and the last line of `stream-json`.
// `is_error` is derived from the exit status, so a run that failed cannot call itself a success.

import type { Event, Outcome, PermissionDenied, RunEnd } from '../core/event.ts';
import { MAX_RESULT_BYTES } from '../core/limits.ts';
import { countModels } from '../core/model-usage.ts';
import type { Usage } from '../core/usage.ts';
import { apiStopReason, apiUsage } from './api-message.ts';
import { errorOf, exitCodeOf } from './exit-code.ts';

export interface ResultCollector {
  /** Takes note of what the result will say. Costs next to nothing for deltas. */
  see(event: Event): void;
  /** The object for the end of a run. Forgets the run. */
  result(end: RunEnd): object;
  /** The session that the events are of. */
  session(): string;
  /** What a command or shell line printed in this run, capped. */
  commandText(): string;
}

const SUBTYPES: Readonly<Record<Outcome, string>> = {
  done: 'success',
  command: 'success',
  turnLimit: 'error_max_turns',
  budget: 'error_max_budget_usd',
  refused: 'error_during_execution',
  cancelled: 'error_during_execution',
  failed: 'error_during_execution',
};

/**
 * `uuid` names each result; one collector serves the runs of one conversation, one after another. `openedWith` is the
 * session of lines that no run starts for: commands and those for the shell.
 */
export function createResult(uuid: () => string, openedWith = ''): ResultCollector {
  let session = openedWith;
  let stopReason: string | null = null;
  let printed = '';
  let cut = false;
  let window: number | undefined;
  let models = new Map<string, Usage>();

  function keep(text: string): void {
    if (cut) return;
    printed += text;
    if (printed.length <= MAX_RESULT_BYTES) return;
    cut = true;
    printed = `${printed.slice(0, MAX_RESULT_BYTES)}\n… cut after ${MAX_RESULT_BYTES} characters`;
  }

  function see(event: Event): void {
    countModels(models, event);
    switch (event.type) {
      case 'runStart':
        session = event.session;
        break;
      case 'messageEnd':
        stopReason = apiStopReason(event.message.stopReason);
        break;
      case 'contextUsage':
        window = event.window;
        break;
      case 'commandResult':
        if (event.effect.kind === 'session') session = event.effect.session;
        if (event.effect.kind === 'error') keep(event.effect.message);
        else if (event.effect.kind !== 'channel') keep(event.effect.text);
        break;
      case 'shellOutput':
        keep(event.delta);
        break;
    }
  }

  function result(end: RunEnd): object {
    const exitCode = exitCodeOf(end);
    const error = errorOf(end);
    const object = {
      type: 'result',
      subtype: error?.code === 'structured-output' ? STRUCTURED_FAILURE : SUBTYPES[end.outcome],
      is_error: exitCode !== 0,
      duration_ms: Math.round(end.durationMs),
      duration_api_ms: Math.round(end.apiMs),
      num_turns: end.turns,
      result: end.text === '' ? printed : end.text,
      stop_reason: stopReason,
      session_id: session,
      total_cost_usd: end.usage.cost.total,
      usage: apiUsage(end.usage),
      modelUsage: modelUsage(models, window),
      permission_denials: end.denials.map(denial),
      ...(end.structured !== undefined && { structured_output: end.structured }),
      exit_code: exitCode,
      ...(error && { error, errors: [error.message] }),
      uuid: uuid(),
    };
    stopReason = null;
    printed = '';
    cut = false;
    models = new Map();
    return object;
  }

  return { see, result, session: () => session, commandText: () => printed };
}

const STRUCTURED_FAILURE = 'error_max_structured_output_retries';

export function denial(denied: PermissionDenied): object {
  return { tool_name: denied.tool, tool_use_id: denied.id, tool_input: denied.input };
}

function modelUsage(models: ReadonlyMap<string, Usage>, window: number | undefined): object {
  const entries = [...models].map(([model, usage]) => [
    model,
    {
      inputTokens: usage.input,
      outputTokens: usage.output,
      cacheReadInputTokens: usage.cacheRead,
      cacheCreationInputTokens: usage.cacheWrite,
      webSearchRequests: 0,
      costUSD: usage.cost.total,
      contextWindow: window ?? 0,
    },
  ]);
  return Object.fromEntries(entries);
}
