// AWS's own settings files, as far as they say which profiles there are and in which region one is
// (docs.aws.amazon.com/sdkref/latest/guide/file-format.html). The keys in them are left to AWS's library.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a profile says, by lower-case name; undefined when no file has it. */
export function awsProfile(name: string, env: Environment): Readonly<Record<string, string>> | undefined {
  const home = env['HOME'] ?? env['USERPROFILE'] ?? '';
  const config = sections(env['AWS_CONFIG_FILE'] ?? join(home, '.aws', 'config'));
  const credentials = sections(env['AWS_SHARED_CREDENTIALS_FILE'] ?? join(home, '.aws', 'credentials'));
  const prefixed = config.get(`profile ${name}`) ?? (name === 'default' ? config.get(name) : undefined);
  const found = [prefixed, credentials.get(name)].filter((one) => one !== undefined);
  return found.length === 0 ? undefined : Object.assign({}, ...found);
}

function sections(path: string): ReadonlyMap<string, Record<string, string>> {
  const found = new Map<string, Record<string, string>>();
  let section: Record<string, string> | undefined;
  for (const line of textOf(path).split(/\r?\n/)) {
    const title = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (title !== undefined) {
      const name = title.replace(/\s+/g, ' ').replace(/["']/g, '');
      section = found.get(name) ?? {};
      found.set(name, section);
      continue;
    }
    // An indented line belongs to the setting above it.
    const [, name, value] = /^([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section !== undefined && name !== undefined && value !== undefined)
      section[name.toLowerCase()] = value;
  }
  return found;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // That a file is not there says no more than that it has no profiles.
    return '';
  }
}
