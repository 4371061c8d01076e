// Lines that match a pattern of the model's. `grep` does it and not this process: a pattern can be such that its matching
// never ends, and only another process can be stopped then.

import { ToolFailure } from '../../core/errors.ts';
import type { ToolContext } from '../../core/tool.ts';

const TIMEOUT_MS = 5000;
const KEPT_BYTES = 64 * 1024;

/** The lines of `text` that match, each with its line end. Throws `ToolFailure` for what is no pattern. */
export async function matchingLines(
  pattern: string,
  text: string,
  { exec, identity, signal }: ToolContext,
): Promise<string> {
  if (text === '') return '';
  const { flags, expression } = extended(pattern);
  const argv = ['grep', '-a', '-E', ...flags, '-e', expression];
  const keep = { head: KEPT_BYTES, tail: 0 };
  const request = { argv, cwd: identity.cwd, stdin: text, timeoutMs: TIMEOUT_MS, keep, separate: true };
  const { exitCode, timedOut, stdout, stderr } = await exec(request, signal);
  if (timedOut) throw new ToolFailure(`Matching ${pattern} took longer than ${TIMEOUT_MS / 1000} s.`);
  if (exitCode === 0) return stdout.text;
  if (exitCode === 1) return '';
  throw new ToolFailure(`The pattern ${pattern} was not understood: ${stderr.text.trim()}`);
}

/** From the notation that models write to that of POSIX, as far as the two differ in what is common. */
function extended(pattern: string): { readonly flags: readonly string[]; readonly expression: string } {
  const isInsensitive = pattern.startsWith('(?i)');
  const body = isInsensitive ? pattern.slice(4) : pattern;
  let expression = '';
  let inClass = false;
  for (let at = 0; at < body.length; at++) {
    const two = body.slice(at, at + 2);
    if (two === '\\d') expression += inClass ? '0-9' : '[0-9]';
    else if (two === '\\D' && !inClass) expression += '[^0-9]';
    else if (two.startsWith('\\') && !inClass) expression += two;
    else if (two === '(?' && body[at + 2] === ':' && !inClass) {
      expression += '(';
      at++;
    } else {
      if (two.startsWith('[') && !inClass) inClass = true;
      else if (two.startsWith(']') && inClass && !/\[\^?$/.test(expression)) inClass = false;
      expression += two.charAt(0);
      continue;
    }
    at++;
  }
  return { flags: isInsensitive ? ['-i'] : [], expression };
}
