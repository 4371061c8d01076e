// Two ways to wait: `sleep` for a time, `monitor` for something to happen. Both are bounded, both end with the call's
// signal, and neither keeps from the model that a job is over. This is their face; what they do is loaded with the first call.

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { ShellSettings } from '../../core/settings.ts';
import type { CallPlan, Tool } from '../../core/tool.ts';
import { absolute, subject } from './awaited.ts';
import type { Readings } from './readings.ts';

const calls = () => import('./waiting-calls.ts');

const MAX_SLEEP_SECONDS = 600;

const FREE = { access: { kind: 'none' }, parallel: true, repeatable: true } as const;

export interface MonitorOptions {
  readonly readings: Readings;
  readonly shell: ShellSettings;
}

export function createSleepTool(): Tool {
  return {
    name: 'sleep',
    aliases: ['Sleep'],
    source: 'builtin',
    isDeferred: true,
    description: 'Waits, at most 600 seconds; ends early when a background job ends.',
    keywords: ['pause', 'delay', 'minute', 'minutes', 'timer'],
    input: {
      type: 'object',
      properties: { seconds: { type: 'number', minimum: 0, maximum: MAX_SLEEP_SECONDS } },
      required: ['seconds'],
      additionalProperties: false,
    },
    prepare: ({ duration_ms, ms = duration_ms, duration, ...rest }) => {
      const given = typeof ms === 'number' ? ms / 1000 : duration;
      const { seconds = given, ...others } = rest;
      return { ...others, ...(seconds !== undefined && { seconds }) };
    },
    plan: async () => FREE,
    show: async ({ seconds }) => ({ kind: 'progress', label: `Waiting ${seconds} s` }),
    run: async ({ seconds }, context) => (await calls()).sleepFor(Number(seconds), context),
  };
}

export function createMonitorTool(options: MonitorOptions): Tool {
  return {
    name: 'monitor',
    aliases: ['Monitor'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Waits until a background job prints a line that matches (task_id and pattern) or ends (task_id), until a file ' +
      'changes (path), or until a command succeeds (command).',
    keywords: ['watch', 'log', 'poll', 'server', 'ready', 'port'],
    input: {
      type: 'object',
      properties: {
        task_id: { type: 'string' },
        pattern: { type: 'string', description: 'Regular expression, tried on what was not yet read' },
        path: { type: 'string' },
        command: { type: 'string', description: 'Run every second until its exit code is 0' },
        timeout: { type: 'integer', description: 'Milliseconds, default 60000, at most 600000', minimum: 1 },
      },
      additionalProperties: false,
    },
    plan: async (input, cwd) => monitorPlan(input, cwd),
    show: async (input) => ({ kind: 'progress', label: `Waiting for ${subject(input)}` }),
    run: async (input, context) => (await calls()).monitorUntil(input, { ...options, context }),
  };
}

function monitorPlan(input: JsonObject, cwd: string): CallPlan {
  const { task_id, path, command } = input;
  const given = [task_id, path, command].filter((each) => each !== undefined);
  if (given.length !== 1) throw new ToolFailure('Give one of task_id, path and command.');
  if (path !== undefined) return { ...FREE, access: { kind: 'read', paths: [absolute(String(path), cwd)] } };
  if (command === undefined) return FREE;
  return {
    access: { kind: 'command', command: String(command), cwd },
    parallel: false,
    repeatable: false,
  };
}
