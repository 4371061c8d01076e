// Where a path lies: inside the workspace, outside it, or in a place of the workspace that changes what later
// runs by itself. Judged by path components of resolved paths: a string prefix would take `/code-old` for
// `/code`, and an unresolved link would be a door out.

import { isAbsolute, relative, resolve as resolvePath, sep } from 'node:path';
import {
  CONFIGURING_FILES,
  INSTRUCTING_FILES,
  INSTRUCTING_FOLDERS,
  STARTING_FILES,
  STARTING_FOLDERS,
} from '../../core/protected.ts';
import { foldedName } from './folded-name.ts';

export interface Place {
  /** With every link followed. */
  readonly path: string;
  readonly where: 'inside' | 'outside' | 'protected' | 'unknown';
  /** The protected folder or file, and what it does, for the reason: `.git/ decides what runs by itself`. */
  readonly protectedBy?: string;
}

export interface PathScope {
  /** `path` is absolute. `unknown` when it cannot be resolved, such as a loop of links. Never throws. */
  locate(path: string): Promise<Place>;
}

/** Devices that hold nothing and keep nothing. */
const HARMLESS_DEVICES = new Set(['/dev/null', '/dev/stdin', '/dev/stdout', '/dev/stderr', '/dev/zero']);

export function isHarmlessDevice(path: string): boolean {
  return HARMLESS_DEVICES.has(path);
}

export function isWithin(path: string, root: string): boolean {
  if (path.startsWith(root) && path[root.length] === sep && !path.includes('..')) return true;
  const way = relative(root, path);
  return way === '' || (!isAbsolute(way) && way.split(sep)[0] !== '..');
}

/** The component that makes a path protected, and how. */
export function protectedComponent(way: string): string | undefined {
  const components = way.split(/[\\/]/);
  for (const [index, component] of components.entries()) {
    const name = foldedName(component);
    const isLast = index === components.length - 1;
    if (name === '.bin' && components[index - 1] === 'node_modules')
      return `node_modules/.bin decides what runs by itself`;
    if (name === '.git' || name === '.hg' || STARTING_FOLDERS.has(name))
      return `${component}/ decides what runs by itself`;
    if (isLast && (STARTING_FILES.has(name) || CONFIGURING_FILES.has(name)))
      return `${component} decides what runs by itself`;
    if (INSTRUCTING_FOLDERS.has(name)) return `${component}/ tells agents what to do`;
    if (isLast && INSTRUCTING_FILES.has(name)) return `${component} tells agents what to do`;
  }
  return undefined;
}

export function createPathScope(options: {
  readonly roots: readonly string[];
  readonly resolve: (path: string) => Promise<string>;
  /** Its dot-files are protected even where it is the workspace. */
  readonly home?: string;
}): PathScope {
  const { resolve, home } = options;
  // Each when it is first asked about: most paths lie in the first.
  const resolved = options.roots.map((root) => {
    let resolving: Promise<string> | undefined;
    return (): Promise<string> => {
      // A root that cannot be resolved stands as it is written: nothing resolved lies in it by accident.
      resolving ??= resolve(root).catch(() => resolvePath(root));
      return resolving;
    };
  });
  const rootOf = async (real: string): Promise<string | undefined> => {
    for (const root of resolved) {
      const candidate = await root();
      if (isWithin(real, candidate)) return candidate;
    }
    return undefined;
  };
  return {
    async locate(path) {
      if (HARMLESS_DEVICES.has(path)) return { path, where: 'inside' };
      try {
        const real = await resolve(path);
        const root = await rootOf(real);
        if (root === undefined) return { path: real, where: 'outside' };
        // The name that was asked for counts as well: a link may stand where a protected folder is expected.
        const guarded =
          protectedComponent(relative(root, real)) ??
          (path === real ? undefined : lexicallyProtected(path, [root, ...options.roots])) ??
          dotFileOfHome(real, root, home);
        if (guarded !== undefined) return { path: real, where: 'protected', protectedBy: guarded };
        return { path: real, where: 'inside' };
      } catch {
        return { path, where: 'unknown' };
      }
    },
  };
}

/** `~/.bashrc` while the workspace is the home folder, but not the files of a project below `~/.local`. */
function dotFileOfHome(path: string, root: string, home: string | undefined): string | undefined {
  if (home === undefined || !isWithin(path, home) || !isWithin(home, root)) return undefined;
  const first = relative(home, path).split(sep)[0] ?? '';
  return first.startsWith('.') ? `~/${first} decides what runs by itself` : undefined;
}

/** What can be said of a path without asking the file system. */
export function lexicallyProtected(path: string, roots: readonly string[]): string | undefined {
  const root = roots.find((candidate) => isWithin(path, candidate));
  return root === undefined ? undefined : protectedComponent(relative(root, path));
}
