// JSON as bytes, in fragments that are made once. A request is put together from them without a string of
// its whole ever existing, because most of it is the same as in the request before.

export function jsonBytes(value: unknown): Buffer<ArrayBuffer> {
  const text = jsonText(value);
  // Memory of its own: one small fragment that is kept would keep all of the pool that it was cut from.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Like JSON.stringify, but a lone surrogate becomes U+FFFD: providers refuse a body with an escaped one. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(value, (_key, inner) => (typeof inner === 'string' ? inner.toWellFormed() : inner));
}

/** `[1,2]` as `1,2`, for a list that is joined with others; empty for an empty list. */
export function listBytes(values: readonly unknown[]): Buffer {
  return values.length === 0 ? Buffer.alloc(0) : jsonBytes(values).subarray(1, -1);
}

/** Remembers what was last made of a string. */
export function rememberLast(make: (text: string) => Buffer): (text: string) => Buffer {
  let last: string | undefined;
  let made: Buffer = Buffer.alloc(0);
  return (text) => {
    if (text !== last) {
      made = make(text);
      last = text;
    }
    return made;
  };
}

export interface Remembered<Key extends object, Made> {
  (key: Key): Made;
  /** It was joined with others and is not needed by itself any longer; asked for again, it is made again. */
  forget(key: Key): void;
}

/** Remembers what was made of each object for as long as that object lives. */
export function rememberEach<Key extends object, Made>(make: (key: Key) => Made): Remembered<Key, Made> {
  const known = new WeakMap<Key, Made>();
  const remembered = (key: Key): Made => {
    let made = known.get(key);
    if (made === undefined) {
      made = make(key);
      known.set(key, made);
    }
    return made;
  };
  return Object.assign(remembered, { forget: (key: Key) => void known.delete(key) });
}
