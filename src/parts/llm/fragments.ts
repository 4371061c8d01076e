// JSON as bytes, in fragments that are made once. A request is put together from them without a string of
// its whole ever existing, because most of it is the same as in the request before.

export function jsonBytes(value: unknown): Buffer<ArrayBuffer> {
  return Buffer.from(jsonText(value));
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

/** Remembers what was made of each object for as long as that object lives. */
export function rememberEach<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, Made>();
  return (key) => {
    let made = known.get(key);
    if (made === undefined) {
      made = make(key);
      known.set(key, made);
    }
    return made;
  };
}
