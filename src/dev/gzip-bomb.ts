// A small body that is large when it is unpacked. A gzip file may have many members one after the other (RFC 1952), so
// one of them is made and repeated.

import { gzipSync } from 'node:zlib';

const MEMBER_BYTES = 1024 * 1024;

export function gzipBomb(bytes: number): Uint8Array {
  // Comments of an event stream, so that a reader has nothing to complain of but the size.
  const line = `: ${'x'.repeat(1021)}\n`;
  const member = gzipSync(line.repeat(MEMBER_BYTES / line.length), { level: 9 });
  return Buffer.concat(new Array<Uint8Array>(Math.ceil(bytes / MEMBER_BYTES)).fill(member));
}
