// A model in the same process, for tests of what stands above the wires. It takes the scenarios of the fake
// provider and checks the same laws on every request; a breach is recorded and fails the request.

import { setTimeout as realSleep } from 'node:timers/promises';
import type { Clock } from '../../src/core/host.ts';
import type { Model, ModelChunk, ModelInfo, ModelRequest } from '../../src/core/model.ts';
import { composeAnswer } from '../../src/dev/answer.ts';
import { checkHistory, describeFindings, type Finding } from '../../src/dev/history-check.ts';
import { createStrikes, situationOf } from '../../src/dev/respond.ts';
import { pickReply, type Reply, type Scenario } from '../../src/dev/scenario.ts';
import { readModelHistory } from './model-history.ts';
import { failing, type Performance, perform } from './performance.ts';

export interface ScriptedModel extends Model {
  /** As they were when they arrived. */
  readonly requests: readonly ModelRequest[];
  readonly violations: readonly (Finding & { readonly request: number })[];
}

export interface ScriptedModelOptions {
  readonly info?: Partial<ModelInfo>;
  readonly vars?: Readonly<Record<string, string>>;
  /** Chunks in a batch. Default: 1. */
  readonly batch?: number;
  /** Sleeps for `delayMs`. Default: real time. */
  readonly clock?: Pick<Clock, 'sleep'>;
}

const INFO: ModelInfo = {
  provider: 'scripted',
  id: 'scripted-model',
  api: 'scripted',
  contextWindow: 200_000,
  maxOutput: 64_000,
};

/** Bytes in faults count the deltas. A reply without a fault ends with `end`, every other with `failure`. */
export function scriptedModel(
  scenario: Scenario | readonly Reply[],
  options: ScriptedModelOptions = {},
): ScriptedModel {
  const script: Scenario = 'length' in scenario ? { replies: scenario } : scenario;
  const requests: ModelRequest[] = [];
  const violations: (Finding & { readonly request: number })[] = [];
  const strike = createStrikes();

  const performanceOf = (request: ModelRequest): Performance => {
    const history = readModelHistory(request);
    const findings = checkHistory(history);
    violations.push(...findings.map((found) => ({ ...found, request: requests.length })));
    requests.push({ ...request, messages: [...request.messages] });
    if (findings.length > 0) return failing('provider-request', describeFindings(findings));
    const { prompt, answered, result } = situationOf(history);
    const reply = pickReply(script, prompt, answered);
    const fault = strike(reply);
    const situation = { turn: answered + 1, result, vars: options.vars ?? {} };
    const performance = perform(composeAnswer({ ...reply, fault }, situation), request.model, fault);
    return { ...performance, delayMs: reply.delayMs };
  };

  return {
    info: { ...INFO, ...options.info },
    requests,
    violations,
    stream: (request, signal) => play(performanceOf(request), options, signal),
  };
}

async function* play(
  { chunks, stalls = false, delayMs = 0 }: Performance,
  { batch = 1, clock }: ScriptedModelOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelChunk[]> {
  const sleep = clock?.sleep ?? ((ms: number) => realSleep(ms, undefined, { signal }));
  try {
    for (let at = 0; at < chunks.length; at += batch) {
      if (delayMs > 0) await sleep(delayMs, signal);
      signal.throwIfAborted();
      yield chunks.slice(at, at + batch);
    }
    if (stalls) await aborted(signal);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    yield failing('interrupted', 'the request was cancelled', { cause }).chunks;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
