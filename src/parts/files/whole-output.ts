// Output that does not fit into a result is kept in a file of the run's own folder, up to a cap: the model is told where,
// and can read on there.

import { join } from 'node:path';
import type { ToolContext } from '../../core/tool.ts';
import { byteCount } from './read-record.ts';

const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** Returns the sentence that says where it is. */
export async function keepWhole(lines: readonly string[], context: ToolContext): Promise<string> {
  let bytes = 0;
  const end = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line) + 1;
    return bytes > MAX_KEPT_BYTES;
  });
  const kept = end === -1 ? lines : lines.slice(0, end);
  const path = join(await context.scratch(), `${context.callId.replaceAll(/[^\w.-]/g, '_')}.txt`);
  const content = Buffer.from(`${kept.join('\n')}\n`);
  await context.files.write(path, content);
  const what = end === -1 ? `All ${lines.length} lines` : `The first ${kept.length} of ${lines.length} lines`;
  return `${what} (${byteCount(content.length)}) are in ${path}.`;
}
