// Quirks as settings have them: names and values that the dialect of a wire knows, and no others. A quirk that does
// nothing would be looked for in the wrong place.

import { CrabError } from '../../core/errors.ts';
import type { ProviderRow } from './provider-row.ts';

type Dialect = ProviderRow['dialect'];

/** What a quirk may be: yes or no, any text, or one of these words. */
type Kind = 'boolean' | 'text' | readonly string[];

const QUIRKS: Readonly<Record<Dialect['wire'], Readonly<Record<string, Kind>>>> = {
  'anthropic-messages': {},
  'openai-completions': {},
};

/** Throws `settings-invalid`. `key` is where the settings have them; there, words are joined by underscores. */
export function withQuirks(
  dialect: Dialect,
  quirks: Readonly<Record<string, string | boolean>>,
  key: string,
): Dialect {
  const known = QUIRKS[dialect.wire];
  const meant: Record<string, string | boolean> = {};
  for (const [written, value] of Object.entries(quirks)) {
    const name = written.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) {
      const names = Object.keys(known).map(inSettings);
      const list = names.length === 0 ? 'none' : names.join(', ');
      throw invalid(`${key}.${written}`, `is not known: ${dialect.wire} has ${list}.`);
    }
    if (!fits(value, kind)) throw invalid(`${key}.${written}`, `must be ${wordsFor(kind)}.`);
    meant[name] = value;
  }
  const { quirks: before } = dialect as { readonly quirks?: object };
  return Object.assign({}, dialect, { quirks: { ...before, ...meant } });
}

/** `maxTokensField` as settings have it: `max_tokens_field`. */
function inSettings(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function fits(value: string | boolean, kind: Kind): boolean {
  if (kind === 'boolean') return typeof value === 'boolean';
  if (typeof value !== 'string') return false;
  return kind === 'text' || kind.includes(value);
}

function wordsFor(kind: Kind): string {
  if (kind === 'boolean') return 'true or false';
  return kind === 'text' ? 'a text' : kind.map((word) => JSON.stringify(word)).join(' or ');
}

function invalid(key: string, what: string): CrabError {
  return new CrabError('settings-invalid', `${key} ${what}`);
}
