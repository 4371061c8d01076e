// How this program starts itself again for one of its own subcommands: the standalone binary is its own runtime. npm links
// the script from a folder on the PATH under a name without an ending, so the link is followed first; and `crabd` is no
// stand-in for `crab`, since it puts a word of its own in front.

import { realpathSync } from 'node:fs';

export function ownCommand(...words: readonly string[]): readonly string[] {
  const script = ownScript();
  return script === undefined ? [process.execPath, ...words] : [process.execPath, script, ...words];
}

function ownScript(): string | undefined {
  try {
    const script = realpathSync(process.argv[1] ?? '');
    return /\.[cm]?[jt]s$/.test(script) ? script.replace(/\bcrabd(\.\w+)$/, 'crab$1') : undefined;
  } catch {
    return undefined;
  }
}
