// What a program that confines another one is given beside the three streams: bytes that it reads to their end, and
// pipes that somebody here speaks through. Descriptors are numbered from 3 in the order of the list.

import type { ChildProcess } from 'node:child_process';
import type { Keeper } from '../../core/host.ts';

export function pipesFor(keeper: Keeper | undefined): readonly 'pipe'[] {
  return (keeper?.descriptors ?? []).map(() => 'pipe');
}

export function feed(child: ChildProcess, keeper: Keeper | undefined): void {
  for (const [index, descriptor] of (keeper?.descriptors ?? []).entries()) {
    const stream = child.stdio[3 + index];
    if (stream === null || stream === undefined) continue;
    // A program that ends early reads nothing of it.
    stream.on('error', () => {});
    if (descriptor.kind === 'channel') descriptor.connect(stream);
    else if ('end' in stream) stream.end(descriptor.bytes);
  }
}
