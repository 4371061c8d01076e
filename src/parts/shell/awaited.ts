// What `monitor` waits for, in words, and where it is.

import type { JsonObject } from '../../core/schema.ts';

export function absolute(path: string, cwd: string): string {
  return path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) ? path : `${cwd}/${path}`;
}

export function subject({ task_id, pattern, path, command }: JsonObject): string {
  if (path !== undefined) return `a change of ${path}`;
  if (command !== undefined) return `success of ${command}`;
  return pattern === undefined ? `the end of ${task_id}` : `${pattern} in the output of ${task_id}`;
}
