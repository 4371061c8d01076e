// Takes known secrets out of text (law 10), however they are written: as they are, in JSON, in a URL, in base64 with
// anything around them, in hexadecimal. It knows only what it was told; the shapes that keys of the field have are in
// `secret-shapes.ts`, because a guess may be wrong and must not change what a tool reads.

/** What stands where a secret was. */
export const REDACTED = '[redacted]';

/** Text that arrives in pieces. */
export interface TextFilter {
  /** The text that is known to be clean; what may be the beginning of a secret waits for the next piece. */
  push(text: string): string;
  /** What was held back. The filter can be used again. */
  end(): string;
  /** Something was taken out so far. */
  readonly changed: boolean;
}

export interface Secrets {
  /** What is no more than a word is left out: it would be found in half of all texts. */
  add(texts: readonly string[]): void;
  redact(text: string): string;
  /** A filter that finds a secret across the pieces of a text. Secrets that are added later count too. */
  filter(): TextFilter;
}

/** Too short to guard anything, or one of the words that local servers are given for a key, such as `lm-studio`. */
const WORD = /^(?:[\s\S]{0,7}|[A-Za-z_-]{0,19})$/;

/** A long-lived process learns a token an hour; the oldest have run out by then. */
const MAX_SECRETS = 64;

interface Search {
  readonly pattern: RegExp;
  readonly needles: readonly string[];
  /** By UTF-16 unit; needles begin with ASCII, or anything else is looked at. */
  readonly begins: readonly boolean[];
  readonly longest: number;
}

export function createSecrets(): Secrets {
  const known = new Set<string>();
  let search: Search | undefined;
  const searched = () => {
    if (search === undefined && known.size > 0) search = searchFor(known);
    return search;
  };
  return {
    add(texts) {
      for (const text of texts) {
        if (WORD.test(text) || known.has(text)) continue;
        known.add(text);
        search = undefined;
        for (const oldest of known) {
          if (known.size <= MAX_SECRETS) break;
          known.delete(oldest);
        }
      }
    },
    redact(text) {
      const { pattern } = searched() ?? {};
      return pattern === undefined ? text : text.replace(pattern, REDACTED);
    },
    filter: () => createFilter(searched),
  };
}

function createFilter(searched: () => Search | undefined): TextFilter {
  let held = '';
  let changed = false;
  return {
    get changed() {
      return changed;
    },
    push(text) {
      const search = searched();
      if (search === undefined && held === '') return text;
      const all = held + text;
      if (search === undefined) {
        held = '';
        return all;
      }
      const clean = all.replace(search.pattern, REDACTED);
      changed ||= clean !== all;
      const from = clean.length - heldLength(clean, search);
      held = clean.slice(from);
      return from === clean.length ? clean : clean.slice(0, from);
    },
    end() {
      const rest = held;
      held = '';
      return rest;
    },
  };
}

/** The length of the longest end of the text that begins a needle. */
function heldLength(text: string, { needles, begins, longest }: Search): number {
  for (let at = Math.max(0, text.length - longest + 1); at < text.length; at++) {
    if (begins[text.charCodeAt(at)] === false) continue;
    const end = text.slice(at);
    if (needles.some((needle) => needle.startsWith(end))) return end.length;
  }
  return 0;
}

function searchFor(secrets: Iterable<string>): Search {
  const all = new Set<string>();
  for (const secret of secrets) for (const form of formsOf(secret)) all.add(form);
  // The longest first: an alternation takes the first that fits, and must not leave the end of a longer one.
  const needles = [...all].sort((a, b) => b.length - a.length);
  return {
    needles,
    pattern: new RegExp(
      needles.map((needle) => needle.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
      'g',
    ),
    begins: Array.from({ length: 128 }, (_, unit) => needles.some((needle) => needle.charCodeAt(0) === unit)),
    longest: needles[0]?.length ?? 0,
  };
}

/** Every way to write a secret that is looked for. */
export function formsOf(secret: string): readonly string[] {
  const bytes = new TextEncoder().encode(secret);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const encoded = [0, 1, 2].map((before) => base64Core(bytes, before));
  const url = encodeURIComponent(secret.toWellFormed());
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    url,
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    ...encoded,
    ...encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    hex,
    hex.toUpperCase(),
  ];
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * The letters of base64 (RFC 4648) that the bytes always have when `before` bytes stand in front of them, modulo
 * three: those that share bits with a neighbour are left out, so that `user:SECRET` of a Basic header is found.
 */
function base64Core(bytes: Uint8Array, before: number): string {
  let bits = 0;
  let count = 0;
  let text = '';
  // Of the letter that the neighbour in front shares, only the rest of the bits is ours.
  let skip = before === 0 ? 0 : before === 1 ? 4 : 2;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0x3fff;
    count += 8;
    if (skip > 0) {
      count -= skip;
      skip = 0;
    }
    while (count >= 6) {
      count -= 6;
      text += BASE64.charAt((bits >> count) & 63);
    }
  }
  return text;
}

/** Plain data with every text in it redacted; the same object when there was nothing to do. */
export function redactedValue<T>(value: T, redact: (text: string) => string): T {
  if (typeof value === 'string') return redact(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => redactedValue(item, redact));
    return items.some((item, at) => item !== value[at]) ? (items as T) : value;
  }
  const before = Object.entries(value);
  const after = before.map(([name, field]) => [redact(name), redactedValue(field, redact)] as const);
  const isSame = after.every(([name, field], at) => name === before[at]?.[0] && field === before[at]?.[1]);
  return isSame ? value : (Object.fromEntries(after) as T);
}
