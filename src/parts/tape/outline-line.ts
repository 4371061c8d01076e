// What a line of our own says of its entry in its first bytes. A line whose checksum is right was written by
// `encodeLine` from an entry of ours, so its fields stand in the order in which the tape puts them; reading only
// those is what lets a session of 500 MB open in a second. Anything else is read as a whole.

import type { Outline } from '../../core/tape.ts';

/** More than the longest of ids and types. */
const HEAD_BYTES = 400;

/** Types of which the tree needs no more than the outline, and what follows the time in their lines. */
const HEAD = new RegExp(
  [
    '^\\{"type":"(?<type>message|custom|custom_message|model_change|thinking_level_change)"',
    ',"id":"(?<id>[0-9A-Za-z_-]+)"',
    ',"parentId":(?:null|"(?<parent>[0-9A-Za-z_-]+)")',
    ',"timestamp":"[0-9A-Za-z:.+-]*"',
    '(?:,"message":\\{"role":"(?<role>user|assistant|toolResult)"|,"customType":"(?<custom>[ !#-\\[\\]-~]*)"|,"(?:provider|thinkingLevel)":)',
  ].join(''),
);

/** Undefined for a line that has to be read as a whole. `line` must be sealed and whole. */
export function outlineIn(line: Buffer): Outline | undefined {
  const groups = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES))?.groups;
  if (groups === undefined) return undefined;
  const { type = '', id = '', parent, role, custom } = groups;
  if ((type === 'message') !== (role !== undefined)) return undefined;
  if (type.startsWith('custom') !== (custom !== undefined)) return undefined;
  // The match is a slice that would keep its whole source in memory.
  const from = `{"type":"${type}","id":"`.length;
  return {
    id: line.toString('latin1', from, from + id.length),
    parentId: parent ?? null,
    type,
    detail: role ?? custom ?? '',
  };
}
