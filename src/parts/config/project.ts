// What a project's own files ask for: permissions and nothing else, since a file that came with somebody's code must not
// choose endpoints, keys or programs. Whether it is obeyed is for whoever reads it to decide.

import type { PermissionSettings } from '../../core/settings.ts';
import { PROJECT_PERMISSIONS, together } from './permission-values.ts';
import { readTable } from './read-table.ts';
import { table } from './values.ts';

const PROJECT = table<{ readonly permissions?: PermissionSettings }>({
  permissions: ['permissions', PROJECT_PERMISSIONS],
});

/** `files` are absolute, the last one winning. Throws `CrabError` (`settings-invalid`) that names file, line and key. */
export async function readProjectSettings(
  files: readonly string[],
  context: { readonly homeFolder: string },
): Promise<PermissionSettings | undefined> {
  const layers = await Promise.all(
    files.map(async (path) => {
      const layer = await readTable(path, { required: false });
      if (layer === undefined) return undefined;
      // A project may not read the person's environment, which may hold keys.
      return PROJECT(layer.table, { path, text: layer.text, at: [], env: {}, ...context }).permissions;
    }),
  );
  return together(layers);
}
