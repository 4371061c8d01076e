// Binds a call to the paths that were judged for it. Between the verdict and the use somebody may put a link in place of
// a file or folder; a path is therefore taken to be where it led when it was judged, and is opened there and nowhere else.

import { sep } from 'node:path';
import type { JudgedPath } from '../../core/permission.ts';

/** Where a path must be; undefined for one that nobody judged. */
export type Binding = (path: string) => string | undefined;

export function bindPaths(paths: readonly JudgedPath[]): Binding {
  return (path) => {
    for (const { named, real } of paths) {
      const way = wayBelow(path, named) ?? wayBelow(path, real);
      if (way !== undefined) return way === '' ? real : joined(real, way);
    }
    return undefined;
  };
}

/** What follows `folder` in `path`: empty for itself, undefined for what does not lie in it. */
function wayBelow(path: string, folder: string): string | undefined {
  if (path === folder) return '';
  const start = folder.endsWith(sep) ? folder : folder + sep;
  // A way with `..` in it may lead out again, which its letters do not tell.
  if (!path.startsWith(start) || path.slice(start.length).split(sep).includes('..')) return undefined;
  return path.slice(start.length);
}

function joined(folder: string, way: string): string {
  return folder.endsWith(sep) ? folder + way : folder + sep + way;
}
