// How long and how much an exchange may be, by where its other end is.

import type { HttpLimits } from './http.ts';

/** A local server may load a model before it answers, and says 200 before it evaluates the prompt. */
export function limitsFor(url: URL): HttpLimits {
  const patient = isLoopback(url.hostname);
  return {
    connectMs: 30_000,
    headersMs: patient ? 600_000 : 120_000,
    firstByteMs: patient ? 600_000 : 60_000,
    stallMs: 60_000,
    firstContentMs: patient ? 600_000 : 120_000,
    contentMs: 120_000,
    maxBytes: 64 * 1024 * 1024,
  };
}

/** Whether a host, as `URL` writes it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/.test(
    hostname,
  );
}
