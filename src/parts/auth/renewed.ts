// Something that is good for a while and costs a request to get: an access token, a cloud's temporary keys. Whoever
// asks while it is being fetched waits for that same fetch.

export interface Expiring {
  /** Milliseconds since the epoch; absent for what never runs out. */
  readonly expiresAt?: number;
}

export interface Renewed<Value extends Expiring> {
  /** At once while it is good. */
  get(): Value | Promise<Value>;
  /** Fetches it anew, however good it looks. */
  renew(): Promise<Value>;
  /** What was fetched last, be it good or not. */
  readonly last: Value | undefined;
}

/** Something that is about to run out may have done so when it arrives. */
const MARGIN_MS = 5 * 60_000;

export function createRenewed<Value extends Expiring>(
  fetch: () => Promise<Value>,
  now: () => number,
): Renewed<Value> {
  let last: Value | undefined;
  let fetching: Promise<Value> | undefined;

  function renew(): Promise<Value> {
    fetching ??= fetch()
      .then((value) => {
        last = value;
        return value;
      })
      .finally(() => {
        fetching = undefined;
      });
    return fetching;
  }

  return {
    get() {
      const isGood =
        last !== undefined && (last.expiresAt === undefined || last.expiresAt - MARGIN_MS > now());
      return isGood && last !== undefined ? last : renew();
    },
    renew,
    get last() {
      return last;
    },
  };
}
