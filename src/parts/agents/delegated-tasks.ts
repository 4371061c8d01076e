// The tasks of a call of `delegate`, as its input has them.

import type { JsonObject } from '../../core/schema.ts';

const TITLE_LENGTH = 80;

export interface Task {
  readonly prompt: string;
  readonly title: string;
  readonly cwd?: string;
}

export function agentOf({ agent }: JsonObject): string {
  return typeof agent === 'string' && agent !== '' ? agent : 'worker';
}

export function tasksOf({ tasks }: JsonObject): readonly Task[] {
  return (tasks as readonly JsonObject[]).map(({ prompt, description, cwd }) => {
    const text = String(prompt);
    const [line = ''] = (typeof description === 'string' ? description : text).trim().split('\n', 1);
    const title = line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH).toWellFormed()}…` : line;
    return { prompt: text, title, ...(typeof cwd === 'string' && { cwd }) };
  });
}
