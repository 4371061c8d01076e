// The links among what a pattern of the shell stands for. A pattern such as `docs/*` names no file, so that where it
// leads is only told by looking: a link in a folder of the workspace may lead anywhere. What is no link lies where the
// pattern does.

import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { nameGlob } from './pattern.ts';

/** Beyond as many entries nothing is told. */
const MAX_ENTRIES = 5_000;

/**
 * The paths that are links, or lie behind one; `**` stands for everything below. `folder` is absolute. Undefined when there is too much to look at, or
 * the pattern cannot be read. Never throws.
 */
export function matchedLinks(folder: string, pattern: string): readonly string[] | undefined {
  const components = pattern.split('/').filter((each) => each !== '' && each !== '.');
  const looking: Looking = { components, left: MAX_ENTRIES, found: [] };
  try {
    return look(looking, { folder: pattern.startsWith('/') ? '' : folder, at: 0, linked: false })
      ? looking.found
      : undefined;
  } catch {
    return undefined;
  }
}

interface Looking {
  readonly components: readonly string[];
  readonly found: string[];
  left: number;
}

interface Step {
  readonly folder: string;
  readonly at: number;
  /** A link was passed on the way. */
  readonly linked: boolean;
}

/** False when there is too much to look at. */
function look(looking: Looking, { folder, at, linked }: Step): boolean {
  const component = looking.components[at] ?? '';
  const isLast = at >= looking.components.length - 1;
  if (component === '**') return lookBelow(looking, folder);
  if (!/[*?[]/.test(component)) {
    const path = `${folder}/${component}`;
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    if (isLast && isLink !== undefined && (linked || isLink)) looking.found.push(path);
    return isLast || look(looking, { folder: path, at: at + 1, linked: linked || isLink === true });
  }
  const matches = nameGlob(component);
  for (const entry of entriesOf(folder)) {
    looking.left -= 1;
    if (looking.left < 0) return false;
    const { name } = entry;
    if (!matches(name) || (name.startsWith('.') && !component.startsWith('.'))) continue;
    const path = `${folder}/${name}`;
    const through = linked || entry.isSymbolicLink();
    if (isLast) {
      if (through) looking.found.push(path);
    } else if (entry.isDirectory() || entry.isSymbolicLink()) {
      if (!look(looking, { folder: path, at: at + 1, linked: through })) return false;
    }
  }
  return true;
}

function lookBelow(looking: Looking, folder: string): boolean {
  for (const entry of entriesOf(folder)) {
    looking.left -= 1;
    if (looking.left < 0) return false;
    const path = `${folder}/${entry.name}`;
    if (entry.isSymbolicLink()) looking.found.push(path);
    else if (entry.isDirectory() && !lookBelow(looking, path)) return false;
  }
  return true;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // What cannot be looked into is matched by nothing.
    return [];
  }
}
