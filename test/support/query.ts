// Runs the engine's loop on a scripted model with tools made in the test, and keeps what came out of it: the events,
// what was written to the journal and when it became durable.

import assert from 'node:assert/strict';
import type { Limits } from '../../src/core/agent.ts';
import type { Event, RunEnd } from '../../src/core/event.ts';
import type { Extension } from '../../src/core/extension.ts';
import type { Clock } from '../../src/core/host.ts';
import { type Message, type ToolResultMessage, userMessage } from '../../src/core/message.ts';
import type { Model } from '../../src/core/model.ts';
import type { GateRequest, Verdict } from '../../src/core/permission.ts';
import type { Answer } from '../../src/core/question.ts';
import type { JsonObject, JsonSchema } from '../../src/core/schema.ts';
import {
  type CallPlan,
  type Tool,
  type ToolContext,
  type ToolOutput,
  textOutput,
} from '../../src/core/tool.ts';
import type { CallEnvironment } from '../../src/engine/call.ts';
import { type Query, query } from '../../src/engine/query.ts';
import { createView } from '../../src/engine/view.ts';
import { virtualClock } from './virtual-clock.ts';

export interface TestTool {
  readonly name: string;
  readonly input?: JsonSchema;
  readonly plan?: Partial<CallPlan>;
  run?(input: JsonObject, context: ToolContext): Promise<ToolOutput> | ToolOutput;
}

/** Reads, beside others, and answers with its name and input, unless told otherwise. */
export function testTool({ name, input, plan, run }: TestTool): Tool {
  return {
    name,
    source: 'builtin',
    description: `${name}.`,
    input: input ?? { type: 'object' },
    plan: async () => ({ access: { kind: 'none' }, parallel: true, repeatable: true, ...plan }),
    run: async (given, context) =>
      run ? run(given, context) : textOutput(`${name} ${JSON.stringify(given)}`),
    show: async (given) => ({ kind: 'markdown', text: `${name} ${JSON.stringify(given)}` }),
  };
}

export const ALONE: Partial<CallPlan> = {
  access: { kind: 'command', command: 'x', cwd: '/' },
  parallel: false,
  repeatable: false,
};

export interface TestRun {
  readonly model: Model;
  readonly tools?: readonly Tool[];
  readonly history?: readonly Message[];
  readonly extensions?: readonly Extension[];
  readonly limits?: Limits;
  /** By name; one that throws cannot be used. */
  readonly fallbacks?: Readonly<Record<string, () => Model>>;
  readonly accounts?: Query['accounts'];
  readonly style?: () => ReturnType<NonNullable<Query['style']>>;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly finish?: Query['finish'];
  readonly compaction?: Query['compaction'];
  gate?(request: GateRequest): Verdict;
  answer?(tool: string): Answer;
  /** Delays or breaks durability; by default everything is durable at once. */
  synced?(message: Message): Promise<void>;
  onEvent?(event: Event): void;
}

export interface Ran {
  readonly events: readonly Event[];
  readonly written: readonly Message[];
  readonly results: readonly ToolResultMessage[];
  readonly end: RunEnd;
}

export async function runQuery(run: TestRun): Promise<Ran> {
  const written: Message[] = [];
  const events: Event[] = [];
  const tools = run.tools ?? [];
  const spec: Query = {
    prompt: userMessage('Do it.', 1),
    view: createView(run.history ?? []),
    journal: {
      append: (messages) => {
        written.push(...messages);
        const synced = messages.map((message) => run.synced?.(message));
        return { synced: Promise.all(synced).then(() => {}) };
      },
      partial: () => {},
    },
    system: 'You are a test.',
    tools: () => tools.map(({ name, description, input }) => ({ name, description, input })),
    calls: () => environmentOf(run, tools),
    limits: run.limits ?? {},
    clock: run.clock ?? virtualClock(),
    model: async () => run.model,
    signal: run.signal ?? new AbortController().signal,
    fallbacks: Object.entries(run.fallbacks ?? {}).map(([name, find]) => ({
      name,
      find: async () => find(),
    })),
    ...(run.accounts && { accounts: run.accounts }),
    ...(run.style && { style: run.style }),
    ...(run.finish && { finish: run.finish }),
    ...(run.compaction && { compaction: run.compaction }),
    beforeStop: async (text) => {
      for (const extension of run.extensions ?? []) {
        const more = await extension.beforeStop?.(IDENTITY, text);
        if (more) return more.retry;
      }
      return undefined;
    },
  };
  for await (const batch of query(spec)) {
    for (const event of batch) {
      events.push(event);
      run.onEvent?.(event);
    }
  }
  const end = events.at(-1);
  assert.equal(end?.type, 'runEnd');
  const results = written.filter((message) => message.role === 'toolResult');
  return { events, written, results, end: end as RunEnd };
}

const IDENTITY = { agent: 'crab', sender: 'cli:test', session: 'S', cwd: '/w', mode: 'default' } as const;

function environmentOf(run: TestRun, tools: readonly Tool[]): CallEnvironment {
  const { answer } = run;
  return {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    gate: async (request) => run.gate?.(request) ?? { decision: 'allow', reason: 'The test allows it.' },
    extensions: run.extensions ?? [],
    identity: () => IDENTITY,
    context: (call, signal) =>
      ({
        callId: call.id,
        identity: IDENTITY,
        signal,
        clock: run.clock ?? virtualClock(),
      }) as unknown as ToolContext,
    askPermission: answer && (async (question) => answer(question.tool)),
    ruleFor: async () => undefined,
    approved: async () => {},
    denied: () => ({}),
    permitted: () => {},
    spill: async (callId) => `/spill/${callId}`,
  };
}

export function resultText(message: ToolResultMessage | undefined): string {
  return (
    message?.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('') ?? ''
  );
}
