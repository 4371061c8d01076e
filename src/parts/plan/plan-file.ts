// The plan of a conversation: a Markdown file of its own in Crab's home, which stays when the session is over. Plan mode
// writes no file of the project; this one is Crab's, so that a plan can grow while nothing else may change.

import { join } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { ToolContext } from '../../core/tool.ts';

const MAX_BYTES = 256 * 1024;

export interface PlanFiles {
  path(context: Pick<ToolContext, 'identity'>): string;
  /** Undefined when there is none. */
  read(context: PlanContext): Promise<string | undefined>;
  /** Returns the path. Throws `ToolFailure` for a plan that is empty or too long. */
  write(context: PlanContext, text: string): Promise<string>;
}

type PlanContext = Pick<ToolContext, 'identity'>;

/** `folder` is absolute and need not exist. `files` are Crab's own: those of a call stay out of its home. */
export function createPlanFiles(folder: string, files: Files): PlanFiles {
  const path = ({ identity }: Pick<ToolContext, 'identity'>) =>
    // Ids of sessions are letters and digits; one that is not must not lead out of the folder.
    join(folder, `${identity.session.replace(/[^A-Za-z0-9_-]/g, '_')}.md`);
  return {
    path,
    async read(context) {
      const file = path(context);
      const info = await files.info(file);
      if (info === undefined) return undefined;
      if (info.size > MAX_BYTES) throw new ToolFailure(`The plan in ${file} has ${info.size} bytes.`);
      return new TextDecoder().decode(await files.read(file));
    },
    async write(context, text) {
      if (text.trim() === '') throw new ToolFailure('The plan is empty.');
      const bytes = new TextEncoder().encode(text.endsWith('\n') ? text : `${text}\n`);
      if (bytes.length > MAX_BYTES)
        throw new ToolFailure(`The plan has ${bytes.length} bytes; at most ${MAX_BYTES} are kept.`);
      const file = path(context);
      await files.write(file, bytes);
      return file;
    },
  };
}
