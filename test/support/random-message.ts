// Messages of the wire drawn at random, in the shape of the generated interfaces.

import { TYPES } from '../../src/protocol/types.ts';

const TEXTS = [
  '',
  'a',
  'crab',
  'naïve',
  '🦀 and more',
  '\u{feff}bom',
  'x'.repeat(47),
  'y'.repeat(48),
  'z'.repeat(300),
  '\0',
];
const NUMBERS = [0, 1, 127, 128, 300, 16_384, 2 ** 31, 2 ** 32 - 1];
const LARGE = [...NUMBERS, 2 ** 32, 2 ** 40 + 3, Number.MAX_SAFE_INTEGER];

export function randomMessage<Message>(type: string, random: () => number): Message {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const known = TYPES[type];
  if (known?.kind !== 'message') throw new Error(`no message ${type}`);
  const value = (inner: string): unknown => {
    const shape = TYPES[inner];
    if (shape?.kind === 'enum') return pick(Object.values(shape.values));
    if (shape !== undefined) return randomMessage(inner, random);
    if (inner === 'string') return pick(TEXTS);
    if (inner === 'bool') return random() < 0.5;
    return pick(inner === 'uint64' ? LARGE : NUMBERS);
  };
  const message: Record<string, unknown> = {};
  const { oneof, cases = {}, fields } = known;
  if (oneof !== undefined && random() < 0.98) {
    const name = pick(Object.keys(cases));
    message[oneof] = { case: name, value: value(cases[name]?.[0] ?? '') };
  }
  for (const [name, [inner, label]] of Object.entries(fields)) {
    const isNested = TYPES[inner]?.kind === 'message';
    if (label === 'repeated')
      message[name] = Array.from({ length: Math.floor(random() * 4) }, () => value(inner));
    else if (label === 'plain' && !isNested) message[name] = value(inner);
    else if (random() < 0.6) message[name] = value(inner);
  }
  return message as Message;
}
